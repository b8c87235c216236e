/// The exact likelihood of a built-in task: the reason why its reference posterior is exact.
///
/// A likelihood is bound to its series when it is made (in the task's room), so that whatever does not depend on θ is
/// computed once. It is exact, computed by deterministic quadrature, or an unbiased estimate that is a function of
/// (θ, u) with u standard normal, as pseudo-marginal chains need it; evaluate/reference/reference.h samples all three.
#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/random.h"
#include "catena/simulate/paths.h"
#include "catena/tasks/task.h"

namespace catena::tasks {

/// A parameter that the series determines exactly: a noise-free transition leaves one value possible.
struct PinnedParameter {
  std::size_t index;
  double value;
};

/// A posterior in closed form: θ ~ N(mean, covariance).
struct NormalPosterior {
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;
};

/// log p(x^1, …, x^T | x^0, θ) = Σ_t log p(x^(t+1) | x^t, θ) of one series. Thread-safe.
class SeriesLikelihood {
 public:
  virtual ~SeriesLikelihood() = default;

  virtual std::size_t parameters() const = 0;   ///< d
  virtual std::size_t transitions() const = 0;  ///< T

  /// How many standard normals u_t the estimate of one transition's density uses; 0: the density is exact.
  virtual std::size_t normals_per_transition() const { return 0; }

  /// out[t] = log p̂(x^(t+1) | x^t, θ; u_t), where E[p̂] over u_t ~ N(0, I) is the density. u: T × normals_per_transition
  /// values, transition by transition; out: T values, −∞ where θ makes the transition impossible, never NaN.
  virtual void log_transitions(std::span<const double> theta, std::span<const double> u,
                               std::span<double> out) const = 0;

  /// How many residuals r_t the density of one transition is made of, log p_t = −½ ‖r_t(θ)‖² + a constant, where it is
  /// normal around what a simulator computes; 0: it is none of these. Such a likelihood can be fitted by least squares.
  virtual std::size_t residuals_per_transition() const { return 0; }
  /// r_t(θ); not finite where θ makes the transition impossible.
  virtual void residuals(std::span<const double> /*theta*/, std::size_t /*t*/, std::span<double> /*out*/) const {}

  /// The parameters that the series determines exactly; the posterior is a density over the others.
  virtual std::vector<PinnedParameter> pinned() const { return {}; }

  /// The posterior under the prior θ ~ N(0, I), where it is known in closed form; tasks of another prior have none.
  virtual std::optional<NormalPosterior> closed_form_posterior() const { return std::nullopt; }

  /// Moves θ to a random point of the same likelihood, by a map that keeps volume and is as likely as its inverse.
  /// False (and θ untouched) if the task has no such symmetry.
  virtual bool move_to_equivalent(std::span<double> /*theta*/, Stream& /*stream*/) const { return false; }

  /// The sum over transitions of an exact likelihood; overridden where it costs less than its terms do.
  virtual double log_likelihood(std::span<const double> theta) const {
    std::vector<double> terms(transitions());
    log_transitions(theta, {}, terms);
    return std::accumulate(terms.begin(), terms.end(), 0.0);
  }
};

/// The version of the likelihoods, for caches: raised whenever one of them changes by more than rounding.
inline constexpr int likelihood_version = 1;

/// Whether the likelihood of the task of that name is known.
bool has_likelihood(std::string_view task);

/// Which steps between observed states it is known for.
simulate::KnownSteps likelihood_steps(std::string_view task);

/// The likelihood of `series` under `task`, with the task's options. Throws InputError for a task whose likelihood is
/// not known and for a series that cannot come from the task. Covariates have a row for each state.
std::unique_ptr<SeriesLikelihood> series_likelihood(const Task& task, ConstMatrixView series,
                                                    ConstMatrixView covariates = {});

/// That of several paths with the same θ; steps of more than 1 only where the likelihood over them is known.
std::unique_ptr<SeriesLikelihood> series_likelihood(const Task& task, std::span<const simulate::Path> paths);

/// The same as a function of z, whose prior is N(0, I): pinned parameters and draws are then z's. The likelihood must
/// outlive it.
std::unique_ptr<SeriesLikelihood> likelihood_in_z(const SeriesLikelihood& likelihood, const prior::Prior& prior);

}  // namespace catena::tasks
