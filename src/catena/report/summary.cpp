#include "catena/report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "catena/core/quantile.h"
#include "catena/evaluate/c2st/c2st.h"
#include "catena/evaluate/moments.h"
#include "catena/evaluate/wasserstein.h"

namespace catena::report {

namespace {

/// n rows spread evenly over all of them.
Matrix thinned(const Matrix& values, std::size_t n) {
  Matrix result(n, values.cols());
  for (std::size_t k = 0; k < n; ++k) {
    std::ranges::copy(values.row(k * values.rows() / n), result.row(k).begin());
  }
  return result;
}

Comparison compare(const DrawSet& posterior, const DrawSet& reference, const Streams& streams,
                   const Parallel& parallel) {
  // With sets of unequal size C2ST is biased (c2st.h); beyond a few thousand draws the forest takes minutes.
  constexpr std::size_t most = 2000;
  Comparison result;
  result.draws = std::min({posterior.values.rows(), reference.values.rows(), most});
  const Matrix a = thinned(posterior.values, result.draws), b = thinned(reference.values, result.draws);
  const auto vary = [](const Matrix& m) {
    return std::ranges::all_of(evaluate::moments(m).deviation, [](double sd) { return sd > 0; });
  };
  if (result.draws >= 20 && vary(a)) {
    result.c2st = evaluate::c2st(a, b, evaluate::Classifier::forest, streams, parallel);
  }
  result.sw1 = evaluate::sliced_wasserstein(a, b, {}, streams, parallel);
  if (vary(b)) result.sw1_normalised = evaluate::sliced_wasserstein(a, b, {.normalised = true}, streams, parallel);
  return result;
}

}  // namespace

std::string end_text(double interval, bool upper) {
  return fmt::format("{:.6g} %", 50 * (upper ? 1 + interval : 1 - interval));
}

std::vector<double> column(const Matrix& values, std::size_t index) {
  std::vector<double> result(values.rows());
  for (std::size_t r = 0; r < values.rows(); ++r) result[r] = values(r, index);
  return result;
}

Summary summarise(const Results& results, const Streams& streams, const Parallel& parallel) {
  Summary summary;
  summary.interval = results.style.interval;
  if (!results.posterior) return summary;
  const DrawSet& posterior = *results.posterior;
  const evaluate::Moments moments = evaluate::moments(posterior.values);
  std::optional<evaluate::Moments> reference;
  if (results.reference) reference = evaluate::moments(results.reference->values);
  for (std::size_t p = 0; p < posterior.parameters.size(); ++p) {
    std::vector<double> draws = column(posterior.values, p);
    ParameterSummary row{.name = posterior.parameters[p],
                         .mean = moments.mean[p],
                         .deviation = moments.deviation[p],
                         .low = quantile(draws, (1 - summary.interval) / 2),
                         .median = quantile(draws, 0.5),
                         .high = quantile(draws, (1 + summary.interval) / 2)};
    if (!posterior.health.empty()) row.health = posterior.health[p];
    if (!results.truth.empty() && std::isfinite(results.truth[p])) {
      row.truth = results.truth[p];
      const auto below = std::ranges::lower_bound(draws, *row.truth) - draws.begin();
      const auto up_to = std::ranges::upper_bound(draws, *row.truth) - draws.begin();
      row.rank_of_truth = 0.5 * static_cast<double>(below + up_to) / static_cast<double>(draws.size());
    }
    if (reference && reference->deviation[p] > 0) {
      row.mean_shift = (row.mean - reference->mean[p]) / reference->deviation[p];
      row.spread_ratio = row.deviation / reference->deviation[p];
    }
    summary.parameters.push_back(std::move(row));
  }
  if (results.reference) summary.comparison = compare(posterior, *results.reference, streams, parallel);
  return summary;
}

nlohmann::json to_json(const Summary& summary) {
  nlohmann::json parameters = nlohmann::json::array();
  for (const ParameterSummary& row : summary.parameters) {
    nlohmann::json entry = {{"name", row.name}, {"mean", row.mean}, {"sd", row.deviation}, {"median", row.median}};
    entry[fmt::format("q{:.6g}", 50 * (1 - summary.interval))] = row.low;
    entry[fmt::format("q{:.6g}", 50 * (1 + summary.interval))] = row.high;
    if (row.health) {
      entry["r_hat"] = row.health->r_hat;
      entry["bulk_ess"] = row.health->bulk_ess;
      entry["tail_ess"] = row.health->tail_ess;
    }
    if (row.truth) entry["truth"] = *row.truth;
    if (row.mean_shift) entry["mean_shift"] = *row.mean_shift;
    if (row.spread_ratio) entry["sd_ratio"] = *row.spread_ratio;
    parameters.push_back(std::move(entry));
  }
  nlohmann::json result = {{"parameters", std::move(parameters)}};
  if (const auto& c = summary.comparison) {
    result["comparison"]["draws"] = c->draws;
    if (c->c2st) result["comparison"]["c2st"] = *c->c2st;
    if (c->sw1) result["comparison"]["sw1"] = *c->sw1;
    if (c->sw1_normalised) result["comparison"]["sw1_normalised"] = *c->sw1_normalised;
  }
  return result;
}

}  // namespace catena::report
