/// Step sizes by dual averaging (Nesterov 2009; Hoffman and Gelman 2014 section 3.2, docs/refs.bib: hoffman2014).
#pragma once

#include <algorithm>
#include <cmath>

namespace catena::sample {

/// Steers a statistic a_t ∈ [0, 1] that falls with the step size ε towards `wanted`:
///
///   log ε_(t+1) = μ − √t/γ · h_t,   h_t = (1 − 1/(t + t₀)) h_(t−1) + (wanted − a_t)/(t + t₀)
///   log ε̄_t = t^(−κ) log ε_t + (1 − t^(−κ)) log ε̄_(t−1)
///
/// with the constants of that paper, but μ = log ε_0: in a learned metric the best step is known to a factor of two.
class DualAveraging {
 public:
  DualAveraging(double wanted, double step) : wanted_(wanted), centre_(std::log(step)), step_(step), average_(step) {}

  void update(double statistic) {
    constexpr double gamma = 0.05, t0 = 10, kappa = 0.75;
    // A factor of e^10 either way is beyond any use, and keeps ε finite where the statistic cannot be steered.
    constexpr double farthest = 10;
    ++t_;
    const double weight = 1 / (t_ + t0);
    error_ = (1 - weight) * error_ + weight * (wanted_ - statistic);
    const double log_step = centre_ + std::clamp(-std::sqrt(t_) / gamma * error_, -farthest, farthest);
    const double forget = std::pow(t_, -kappa);
    average_ = std::exp(forget * log_step + (1 - forget) * std::log(average_));
    step_ = std::exp(log_step);
  }

  double step() const { return step_; }        ///< ε, while adapting
  double average() const { return average_; }  ///< ε̄, to stay with

 private:
  double wanted_, centre_, step_, average_;
  double t_ = 0, error_ = 0;
};

}  // namespace catena::sample
