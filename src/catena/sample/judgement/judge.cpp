#include "catena/sample/judgement/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "catena/model/posterior/posterior_model.h"
#include "catena/sample/finite_rows.h"
#include "catena/sample/judgement/residual_tests.h"
#include "catena/sample/judgement/residuals.h"

namespace catena::sample {
namespace {

constexpr double most_outside = 0.5;  // share of the transitions
constexpr double farthest = 4;        // prior standard deviations of a mean
constexpr double widest = 3.5;        // prior standard deviations of the draws' own deviation: two modes far out have 3
constexpr double largest_shift = 0.5;       // posterior standard deviations
constexpr std::size_t most_records = 600;   // of a series that residuals are computed for
constexpr std::size_t draws_looked_at = 3;  // draws at which they are

void judge_range(const PosteriorDraws& draws, std::vector<DrawFinding>& found) {
  const std::size_t outside = draws.observed.all_outside(), all = draws.observed.all_transitions();
  if (all == 0 || static_cast<double>(outside) <= most_outside * static_cast<double>(all)) return;
  found.push_back({Outcome::outside_training,
                   fmt::format("{} of {} transitions lie outside the training range, the worst by {:.2g} standard "
                               "deviations",
                               outside, all, draws.observed.worst_excess)});
}

void judge_place(const prior::Prior& prior, const PosteriorDraws& draws, std::span<const std::size_t> rows,
                 std::vector<DrawFinding>& found) {
  for (std::size_t i = 0; i < draws.z.cols(); ++i) {
    double sum = 0, squares = 0;
    for (const std::size_t r : rows) sum += draws.z(r, i);
    const double mean = sum / static_cast<double>(rows.size());
    for (const std::size_t r : rows) squares += (draws.z(r, i) - mean) * (draws.z(r, i) - mean);
    const double deviation = std::sqrt(squares / static_cast<double>(rows.size()));
    if (std::abs(mean) > farthest) {
      found.push_back({Outcome::outside_prior,
                       fmt::format("the draws of {} lie {:.1f} standard deviations out in the prior, where one "
                                   "parameter in {:.1g} is",
                                   prior.names()[i], std::abs(mean), 1 / std::erfc(std::abs(mean) / std::sqrt(2.0)))});
      return;
    }
    if (deviation > widest) {
      found.push_back(
          {Outcome::outside_prior,
           fmt::format(
               "the draws of {} spread {:.1f} times as wide as the prior, farther than modes within it lie apart",
               prior.names()[i], deviation)});
      return;
    }
  }
}

/// The test with the middle p-value.
ResidualTest middle(std::vector<ResidualTest> tests) {
  std::ranges::sort(tests, {}, &ResidualTest::p);
  return tests[tests.size() / 2];
}

void judge_fit(const PosteriorRequest& request, PosteriorDraws& draws, std::span<const std::size_t> rows,
               const Streams& streams, const Parallel& parallel, std::vector<DrawFinding>& found) {
  const model::TrainedModel& model = request.model;
  const Looked looked = looked_at(draws.observed, most_records);
  if (looked.records.size() < fewest_residuals) return;
  const prior::TruePrior true_prior = model.true_prior();
  std::vector<ResidualTest> ranks, scores;
  std::vector<double> w(draws.z.cols());
  for (std::size_t k = 0; k < draws_looked_at; ++k) {
    true_prior.to_w(draws.z.row(rows[(2 * k + 1) * rows.size() / (2 * draws_looked_at)]), w);
    const Matrix u = ranks_by_density(model, draws.observed, looked.records, w, streams.child("draw", k), parallel);
    if (u.cols() > 0) ranks.push_back(test_ranks(u, looked.follows, rank_names(model)));
    const ScoreResiduals residuals = score_residuals(model, draws.observed, looked.records, w, parallel);
    scores.push_back(test_scores(residuals.g, residuals.h, looked.follows, model.prior.names()));
  }
  ResidualTest worst = middle(scores);
  std::size_t families = 1;
  if (!ranks.empty()) {
    const ResidualTest by_density = middle(ranks);
    if (by_density.p <= worst.p) worst = by_density;
    families = 2;
  }
  const double p = std::min(1.0, 2 * static_cast<double>(families) * worst.p);
  draws.info["misfit"] = {
      {"p", p}, {"false_alarms", misfit_false_alarms}, {"transitions", looked.records.size()}, {"what", worst.what}};
  if (p < misfit_false_alarms) {
    found.push_back({Outcome::misfit, fmt::format("{} (p = {:.1g})", worst.what, p)});
  }
}

/// Training records of a model; 0 if it does not say.
double training_records(const model::TrainedModel& model) {
  const auto number = [](const nlohmann::json& json, const char* name) {
    const auto found = json.is_object() ? json.find(name) : json.end();
    return json.is_object() && found != json.end() && found->is_number() ? found->get<double>() : 0.0;
  };
  const double records = number(model.notes, "records");
  return records > 0 ? records : number(model.provenance, "budget");
}

void judge_length(const PosteriorRequest& request, PosteriorDraws& draws, std::vector<DrawFinding>& found) {
  const double records = training_records(request.model);
  const auto transitions = draws.info["transitions"].get<double>();
  if (!(records > 0)) return;
  const double coefficients = 1 + static_cast<double>(draws.z.cols()) / 4;
  const double shift = std::sqrt(coefficients * transitions / records);
  draws.info["expected_shift"] = shift;
  if (shift <= largest_shift) return;
  found.push_back(
      {Outcome::long_for_budget,
       fmt::format("{:.0f} transitions were observed and {:.0f} simulated, so that the posterior is shifted "
                   "by {:.1f} of its standard deviations or more",
                   transitions, records, shift)});
}

void judge_whole_series(const PosteriorRequest& request, const PosteriorDraws& draws, std::vector<DrawFinding>& found) {
  const std::size_t longest = model::longest_series(request.model);
  const auto transitions = draws.info["transitions"].get<std::size_t>();
  if (transitions <= longest) return;
  found.push_back({Outcome::longer_than_trained,
                   fmt::format("{} transitions were observed, and the longest series of the training set has {}",
                               transitions, longest)});
}

}  // namespace

void judge_draws(const PosteriorRequest& request, PosteriorDraws& draws, const Streams& streams,
                 const Parallel& parallel) {
  std::vector<DrawFinding> found;
  const bool whole_series = posterior_samplers().at("sample", request.model.method).whole_series;
  const std::vector<std::size_t> rows = finite_rows(draws.z);
  judge_range(draws, found);
  if (!rows.empty()) {
    judge_place(request.model.true_prior().prior(), draws, rows, found);
    if (draws.observed.transitions() > 0 && !whole_series) judge_fit(request, draws, rows, streams, parallel, found);
  }
  whole_series ? judge_whole_series(request, draws, found) : judge_length(request, draws, found);
  draws.add_findings(std::move(found));
}

}  // namespace catena::sample
