#include "catena/report/information.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "catena/core/errors.h"
#include "catena/evaluate/local_gradient.h"
#include "catena/sample/draws.h"

namespace catena::report {
namespace {

// A report shall not take longer than a glance at it: some two million evaluations of a network are seconds.
constexpr std::size_t most_evaluations = 2'000'000, least_draws = 100, most_draws = 1000;

/// Evenly spread draws in the true prior's z-space, in the order of the model's parameters; those at the very border of
/// a prior, whose z is not finite, are left out.
Matrix draws_in_z(const DrawSet& posterior, const prior::Prior& prior, std::size_t count) {
  const sample::Draws draws = sample::in_order_of(prior.names(), {posterior.parameters, posterior.values});
  Matrix z(count, prior.size());
  std::size_t kept = 0;
  for (std::size_t k = 0; k < count; ++k) {
    prior.to_z(draws.values.row(k * draws.values.rows() / count), z.row(kept));
    if (std::ranges::all_of(z.row(kept), [](double v) { return std::isfinite(v); })) ++kept;
  }
  Matrix result(kept, z.cols());
  for (std::size_t k = 0; k < kept; ++k) std::ranges::copy(z.row(k), result.row(k).begin());
  return result;
}

}  // namespace

void add_information(Results& results, const model::TrainedModel& model, const Parallel& parallel) {
  if (!results.posterior || !results.observed) return;
  InformationResult& result = results.information.emplace();
  std::vector<simulate::SeriesView> series = simulate::views_of(results.more_series);
  series.insert(series.begin(), simulate::view_of(*results.observed));
  std::size_t transitions = 0;
  for (const simulate::SeriesView& one : series) transitions += std::max<std::size_t>(one.states.rows, 1) - 1;
  const std::size_t draws = std::min(
      {results.posterior->values.rows(), most_draws, most_evaluations / std::max<std::size_t>(1, transitions)});
  try {
    if (draws < least_draws) {
      throw InputError(fmt::format("{} transitions and {} draws are too many or too few for a quick look", transitions,
                                   results.posterior->values.rows()));
    }
    const compose::ObservedSeries observed = compose::observed_series("report", model, {}, series, results.paths);
    const Matrix z = draws_in_z(*results.posterior, model.true_prior().prior(), draws);
    result.parameters = model.prior.names();
    result.information = evaluate::information(model, observed, z, parallel);
  } catch (const InputError& error) {
    result.trouble = error.what();
  }
}

void add_information(Results& results, const Parallel& parallel) {
  if (results.model.empty() || !results.posterior || !results.observed) return;
  try {
    add_information(results, model::read_model(results.model), parallel);
  } catch (const InputError& error) {
    results.information.emplace().trouble = error.what();
  }
}

}  // namespace catena::report
