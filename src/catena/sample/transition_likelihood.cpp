// log q(x^(t+1) | x^t, θ_k) of each transition at each draw: `catena sample` and Python put it into files for ArviZ.

#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/core/check.h"
#include "catena/sample/posterior.h"

namespace catena::sample {

Matrix transition_log_likelihood(const PosteriorRequest& request, ConstMatrixView theta, const Parallel& parallel) {
  constexpr std::string_view likelihood_function = "log_likelihood";
  const model::TrainedModel& model = request.model;
  check::that(model.method == "fnle", likelihood_function, "the method", model.method,
              "fnle, which learns the density of a transition");
  check::that(request.companions.empty(), likelihood_function, "the number of models", 1 + request.companions.size(),
              "1: transitions of one kind");
  const PosteriorSampler& sampler = posterior_samplers().at(likelihood_function, model.method);
  const compose::ObservedSeries observed = observed_series(likelihood_function, request);
  check::equal(likelihood_function, "the number of parameters", theta.cols, model.prior.size());
  Matrix z(theta.rows, theta.cols);
  std::vector<bool> inside(theta.rows);
  for (std::size_t k = 0; k < theta.rows; ++k) {
    check::all_finite(likelihood_function, "theta", theta.row(k));
    model.prior.to_z(theta.row(k), z.row(k));
    inside[k] = std::ranges::all_of(z.row(k), [](double value) { return std::isfinite(value); });
    if (!inside[k]) std::ranges::fill(z.row(k), 0.0);
  }
  Matrix result(theta.rows, observed.transitions());
  // The density of a series of one transition is the prior times its likelihood.
  parallel.for_each(observed.transitions(), [&](std::size_t t) {
    compose::ObservedSeries one{Matrix(1, observed.c.cols())};
    std::ranges::copy(observed.c.row(t), one.c.row(0).begin());
    const auto target = sampler.target(request, one, Parallel(1));
    std::vector<double> values(z.rows());
    target->log_density(z, values);
    for (std::size_t k = 0; k < z.rows(); ++k) {
      result(k, t) = inside[k] ? values[k] - log_prior(z.row(k)) : -std::numeric_limits<double>::infinity();
    }
  });
  return result;
}

}  // namespace catena::sample
