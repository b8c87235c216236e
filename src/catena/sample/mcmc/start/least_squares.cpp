// With J = ∂r/∂z, A = JᵀJ + I and g = Jᵀr + z:
//
//   p = −(A + μ diag A)⁻¹ g,   z' = z + p if the density has grown (then μ/10), else again with 10 μ
//
// (Nocedal and Wright 2006, section 10.3, docs/refs.bib: nocedal2006). Column i of J is (r(z + δ_i e_i) − r(z − δ_i
// e_i)) / 2δ_i with δ_i ten deviations 1/√A_ii of the step before: r of a simulator in single precision is rounded to
// some 10⁻⁴ of a deviation of its noise, and over ten deviations of z that share of JᵀJ is lost, while r bends little.
// A start has converged when gᵀA⁻¹g < 1e-2, within a tenth of a deviation: whoever starts from there reweights. The
// rounding of residuals is a noise in that number that grows with how many they are, of which −2 f is an estimate: some
// 0.02 for the 800,000 of kolmogorov_flow at T = 100, hence 2e-7 f if that is more.

#include "catena/sample/mcmc/start/least_squares.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

namespace catena::sample {
namespace {

constexpr double first_difference = 0.01, least_difference = 1e-6;  // of z, whose prior is 1 wide
constexpr double deviations_of_difference = 10;
constexpr double close_enough = 1e-2, rounding_share = 2e-7;
constexpr double first_damping = 1e-2, least_damping = 1e-6, most_damping = 1e8;
constexpr double longest_damped_step = 1;  // in any coordinate: a deviation of the prior

struct NormalEquations {
  double squares = 0;  // ‖r‖²
  Eigen::MatrixXd a;   // JᵀJ
  Eigen::VectorXd g;   // Jᵀr
};

double squares_of(const std::vector<double>& r) {
  double sum = 0;
  for (const double value : r) sum += value * value;
  return sum;
}

/// Sums over the terms, in their order whatever the threads.
class LeastSquares {
 public:
  LeastSquares(const Residuals& residuals, const Parallel& parallel, const LeastSquaresSettings& settings)
      : residuals_(residuals), parallel_(parallel), settings_(settings) {}

  Maximum climb(std::span<const double> start) const {
    const auto d = static_cast<Eigen::Index>(start.size());
    Eigen::VectorXd z = Eigen::Map<const Eigen::VectorXd>(start.data(), d);
    z = z.cwiseMax(-settings_.bound).cwiseMin(settings_.bound);
    Eigen::VectorXd width = Eigen::VectorXd::Constant(d, first_difference);
    Maximum found;
    double damping = first_damping;
    for (;; ++found.steps) {
      NormalEquations here = equations(z, width);
      here.a.diagonal().array() += 1;
      here.g += z;
      found.value = -0.5 * (here.squares + z.squaredNorm());
      found.curvature = here.a;
      if (!here.a.allFinite() || !here.g.allFinite()) break;
      const double decrement = here.g.dot(here.a.llt().solve(here.g));
      // The widths of the first step are a guess: what is found with them is not believed.
      const bool close = decrement < std::max(close_enough, rounding_share * std::abs(found.value));
      found.converged = close && found.steps > 0;
      if (found.converged || found.steps == settings_.most_steps) break;
      width = (deviations_of_difference * here.a.diagonal().cwiseSqrt().cwiseInverse())
                  .cwiseMin(first_difference)
                  .cwiseMax(least_difference);
      if (close) continue;
      if (!step(here, damping, z, found.value)) break;
    }
    found.z.assign(z.begin(), z.end());
    for (const double value : z) found.at_bound.push_back(std::abs(value) >= settings_.bound);
    return found;
  }

  double squares(std::span<const double> z) const {
    std::vector<double> terms(residuals_.terms);
    parallel_.for_each(residuals_.terms, [&](std::size_t t) {
      std::vector<double> r(residuals_.per_term);
      residuals_.of_term(z, t, r);
      terms[t] = squares_of(r);
    });
    double sum = 0;
    for (const double term : terms) sum += term;
    return sum;
  }

 private:
  /// Moves z uphill; false if no step does, however short.
  bool step(const NormalEquations& here, double& damping, Eigen::VectorXd& z, double value) const {
    for (; damping <= most_damping; damping *= 10) {
      Eigen::MatrixXd damped = here.a;
      damped.diagonal() *= 1 + damping;
      Eigen::VectorXd p = -damped.llt().solve(here.g);
      p *= std::min(1.0, longest_damped_step / std::max(p.cwiseAbs().maxCoeff(), std::numeric_limits<double>::min()));
      const Eigen::VectorXd next = (z + p).cwiseMax(-settings_.bound).cwiseMin(settings_.bound);
      const double there = -0.5 * (squares({next.data(), static_cast<std::size_t>(next.size())}) + next.squaredNorm());
      if (!(there > value)) continue;
      z = next;
      damping = std::max(damping / 10, least_damping);
      return true;
    }
    return false;
  }

  NormalEquations equations(const Eigen::VectorXd& z, const Eigen::VectorXd& width) const {
    const auto d = z.size();
    std::vector<NormalEquations> terms(residuals_.terms);
    parallel_.for_each(residuals_.terms, [&](std::size_t t) {
      const auto m = static_cast<Eigen::Index>(residuals_.per_term);
      const auto at = [&](const Eigen::VectorXd& point) {
        Eigen::VectorXd r(m);
        residuals_.of_term({point.data(), static_cast<std::size_t>(d)}, t, {r.data(), residuals_.per_term});
        return r;
      };
      const Eigen::VectorXd r = at(z);
      Eigen::MatrixXd jacobian(m, d);
      for (Eigen::Index i = 0; i < d; ++i) {
        const Eigen::VectorXd shift = width[i] * Eigen::VectorXd::Unit(d, i);
        jacobian.col(i) = (at(z + shift) - at(z - shift)) / (2 * width[i]);
      }
      terms[t] = {r.squaredNorm(), jacobian.transpose() * jacobian, jacobian.transpose() * r};
    });
    NormalEquations sum{0, Eigen::MatrixXd::Zero(d, d), Eigen::VectorXd::Zero(d)};
    for (const NormalEquations& term : terms) {
      sum.squares += term.squares;
      sum.a += term.a;
      sum.g += term.g;
    }
    return sum;
  }

  const Residuals& residuals_;
  const Parallel& parallel_;
  LeastSquaresSettings settings_;
};

}  // namespace

std::vector<double> log_densities(const Residuals& residuals, ConstMatrixView z, const Parallel& parallel) {
  std::vector<double> result(z.rows);
  const Parallel alone(1);
  const LeastSquares problem(residuals, alone, {});
  parallel.for_each(z.rows, [&](std::size_t i) { result[i] = log_prior(z.row(i)) - 0.5 * problem.squares(z.row(i)); });
  return result;
}

std::vector<Maximum> least_squares(const Residuals& residuals, ConstMatrixView starts, const Parallel& parallel,
                                   const LeastSquaresSettings& settings) {
  const LeastSquares problem(residuals, parallel, settings);
  std::vector<Maximum> result;
  for (std::size_t i = 0; i < starts.rows; ++i) result.push_back(problem.climb(starts.row(i)));
  return result;
}

}  // namespace catena::sample
