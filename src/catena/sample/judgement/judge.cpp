#include "catena/sample/judgement/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/model/posterior/posterior_model.h"
#include "catena/sample/finite_rows.h"
#include "catena/sample/judgement/residual_tests.h"
#include "catena/sample/judgement/residuals.h"
#include "catena/sample/judgement/simulated_ranks.h"

namespace catena::sample {
namespace {

constexpr double most_outside = 0.5;  // share of the transitions
constexpr double farthest = 4;        // prior standard deviations of a mean
constexpr double widest = 3.5;        // prior standard deviations of the draws' own deviation: two modes far out have 3
constexpr double largest_shift = 0.5;       // posterior standard deviations
constexpr std::size_t most_records = 600;   // of a series that residuals are computed for
constexpr std::size_t most_own = 200;       // of these that are asked whether they want parameters of their own
constexpr std::size_t draws_looked_at = 3;  // draws at which they are
// η of the scores of fnse that are looked at, in the narrowest deviation of the draws: what a network does wrong on a
// finer scale, where its scores are least sure, the posterior does not feel.
constexpr double score_noise = 0.5;

void judge_range(const PosteriorDraws& draws, std::vector<DrawFinding>& found) {
  const std::size_t outside = draws.observed.all_outside(), all = draws.observed.all_transitions();
  if (all == 0 || static_cast<double>(outside) <= most_outside * static_cast<double>(all)) return;
  found.push_back({Outcome::outside_training,
                   fmt::format("{} of {} transitions lie outside the training range, the worst by {:.2g} standard "
                               "deviations",
                               outside, all, draws.observed.worst_excess)});
}

struct Spread {
  double mean = 0, deviation = 0;
};
Spread spread_of(const Matrix& values, std::size_t column) {
  const auto n = static_cast<double>(values.rows());
  double sum = 0, squares = 0;
  for (std::size_t r = 0; r < values.rows(); ++r) sum += values(r, column);
  const double mean = sum / n;
  for (std::size_t r = 0; r < values.rows(); ++r) squares += (values(r, column) - mean) * (values(r, column) - mean);
  return {mean, std::sqrt(squares / n)};
}

void judge_place(const prior::Prior& prior, const Matrix& z, std::vector<DrawFinding>& found) {
  for (std::size_t i = 0; i < z.cols(); ++i) {
    const auto [mean, deviation] = spread_of(z, i);
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

/// The tests at each of the draws that are looked at, by one sort of residuals.
using Family = std::vector<ResidualTest>;

/// The k-th of `count` draws that are looked at, in the networks' z-space; rows of z are draws.
std::vector<double> looked_at_draw(const PosteriorRequest& request, const Matrix& z, std::size_t k, std::size_t count) {
  std::vector<double> w(z.cols());
  request.model.true_prior().to_w(z.row((2 * k + 1) * z.rows() / (2 * count)), w);
  return w;
}

/// The smallest deviation of a parameter's draws, in the networks' z-space.
double narrowest(const PosteriorRequest& request, const Matrix& z) {
  const prior::TruePrior prior = request.model.true_prior();
  Matrix w(z.rows(), z.cols());
  for (std::size_t r = 0; r < z.rows(); ++r) prior.to_w(z.row(r), w.row(r));
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < w.cols(); ++i) least = std::min(least, spread_of(w, i).deviation);
  return least;
}

/// At most so many of them, over the whole series.
std::vector<std::size_t> evenly(std::span<const std::size_t> records, std::size_t most) {
  std::vector<std::size_t> some(std::min(records.size(), most));
  for (std::size_t k = 0; k < some.size(); ++k) some[k] = records[k * records.size() / some.size()];
  return some;
}

/// Tests that what was learned makes possible. `ranks` are empty for methods without a density, `inside` where all
/// records are inside the training range.
struct ByNetworks {
  Family ranks, scores, own, inside;
};
ByNetworks test_by_networks(const PosteriorRequest& request, const PosteriorDraws& draws, const Looked& looked,
                            const Matrix& z, const Streams& streams, const Parallel& parallel) {
  const model::TrainedModel& model = request.model;
  ByNetworks found;
  const std::vector<std::size_t> some = evenly(looked.records, most_own);
  std::vector<bool> outside;
  const std::vector<bool>& all = draws.observed.is_outside;
  for (const std::size_t t : looked.records) outside.push_back(t < all.size() && all[t]);
  const double noise = score_noise * narrowest(request, z);
  for (std::size_t k = 0; k < draws_looked_at; ++k) {
    const std::vector<double> w = looked_at_draw(request, z, k, draws_looked_at);
    const Matrix u = ranks_by_density(model, draws.observed, looked.records, w, streams.child("draw", k), parallel);
    if (u.cols() > 0) found.ranks.push_back(test_ranks(u, looked.follows, rank_names(model)));
    const ScoreResiduals residuals = score_residuals(model, draws.observed, looked.records, w, noise, parallel);
    found.scores.push_back(test_scores(residuals.g, residuals.h, looked.follows, model.prior.names()));
    found.own.push_back(
        test_own_parameters(own_parameters(model, draws.observed, some, w, streams.child("own", k), parallel)));
    if (draws.observed.outside > 0) {
      found.inside.push_back(test_inside(residuals.g, residuals.h, outside, model.prior.names()));
    }
  }
  return found;
}

/// A few records that the networks know nothing of may decide a posterior.
void judge_pull(const PosteriorDraws& draws, Family inside, std::vector<DrawFinding>& found) {
  const auto said = [](const DrawFinding& one) { return one.outcome == Outcome::outside_training; };
  if (inside.empty() || std::ranges::any_of(found, said)) return;
  const ResidualTest test = middle(std::move(inside));
  const double p = std::min(1.0, 2 * test.p);
  if (p >= misfit_false_alarms) return;
  found.push_back({Outcome::outside_training,
                   fmt::format("{} of {} transitions lie outside the training range and pull {} away from what the "
                               "others say (p = {:.1g})",
                               draws.observed.outside, draws.observed.transitions(), test.what, p)});
}

/// How many steps of the simulator it took.
std::uint64_t test_by_simulator(const PosteriorRequest& request, const PosteriorDraws& draws, const Matrix& z,
                                const Judgement& how, const Streams& streams, const Parallel& parallel,
                                Progress& progress, std::vector<Family>& families) {
  const model::TrainedModel& model = request.model;
  const RecordSource all(*how.simulator.model, {{&model, &draws.observed}}, streams, 1, {}, parallel);
  const RankPlan plan = rank_plan(how.simulator.most_steps, draws.observed.transitions(), all.steps_per_record());
  const Looked looked = looked_at(draws.observed, plan.records);
  if (looked.records.size() < fewest_residuals) return 0;
  const compose::ObservedSeries some = some_records(draws.observed, looked);
  RecordSource source(*how.simulator.model, {{&model, &some}}, streams, 1, {}, parallel);
  Family ranks;
  for (std::size_t k = 0; k < plan.draws; ++k) {
    const std::vector<double> w = looked_at_draw(request, z, k, plan.draws);
    const Matrix u =
        ranks_by_simulator(source, model, some, w, plan.simulations, streams.child("simulated", k), progress);
    ranks.push_back(test_ranks(u, looked.follows, rank_names(model), by_simulator(w.size())));
  }
  families.push_back(std::move(ranks));
  return source.spent();
}

void judge_fit(const PosteriorRequest& request, PosteriorDraws& draws, const Matrix& z, const Judgement& how,
               const Streams& streams, const Parallel& parallel, Progress& progress, std::vector<DrawFinding>& found) {
  const Looked looked = looked_at(draws.observed, most_records);
  if (looked.records.size() < fewest_residuals) return;
  // In the order of how much their words tell.
  std::vector<Family> families;
  std::uint64_t spent = 0;
  ByNetworks learned;
  if (how.corrected == 0) {
    learned = test_by_networks(request, draws, looked, z, streams, parallel);
    judge_pull(draws, std::move(learned.inside), found);
    if (!learned.ranks.empty()) families.push_back(std::move(learned.ranks));
    families.push_back(std::move(learned.scores));
  }
  if (how.simulator.model != nullptr && !request.model.features.shape().initial()) {
    spent = test_by_simulator(request, draws, z, how, streams, parallel, progress, families);
  }
  if (!learned.own.empty()) families.push_back(std::move(learned.own));
  if (families.empty()) return;
  // The first that finds something speaks, or else the least p-value. Of several draws the middle one counts twice, of
  // one draw once.
  double p = 1;
  std::string what;
  for (Family& family : families) {
    const double twice = family.size() > 1 ? 2 : 1;
    const ResidualTest test = middle(std::move(family));
    const double bound = std::min(1.0, twice * static_cast<double>(families.size()) * test.p);
    if (bound < p || what.empty()) p = bound, what = test.what;
    if (p < misfit_false_alarms) break;
  }
  draws.info["misfit"] = {{"p", p},
                          {"false_alarms", misfit_false_alarms},
                          {"transitions", looked.records.size()},
                          {"simulated", spent},
                          {"what", what}};
  if (p < misfit_false_alarms) found.push_back({Outcome::misfit, fmt::format("{} (p = {:.1g})", what, p)});
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

void judge_length(const PosteriorRequest& request, PosteriorDraws& draws, const Judgement& how,
                  std::vector<DrawFinding>& found) {
  const double records = how.corrected > 0 ? how.corrected : training_records(request.model);
  // Draws from a state file have no series beside them.
  const auto told = draws.info.find("transitions");
  const double transitions =
      told != draws.info.end() ? told->get<double>() : static_cast<double>(draws.observed.all_transitions());
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
                 const Parallel& parallel, const Judgement& how, Progress& progress) {
  std::vector<DrawFinding> found;
  const bool whole_series = posterior_samplers().at("sample", request.model.method).whole_series;
  const Matrix z = rows_of(draws.z, finite_rows(draws.z));
  if (how.corrected == 0) judge_range(draws, found);
  if (z.rows() > 0) {
    judge_place(request.model.true_prior().prior(), z, found);
    if (draws.observed.transitions() > 0 && !whole_series) {
      judge_fit(request, draws, z, how, streams, parallel, progress, found);
    }
  }
  if (whole_series) {
    judge_whole_series(request, draws, found);
  } else if (!how.certified) {
    judge_length(request, draws, how, found);
  }
  draws.add_findings(std::move(found));
}

}  // namespace catena::sample
