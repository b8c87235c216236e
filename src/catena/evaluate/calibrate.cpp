#include "catena/evaluate/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <map>
#include <utility>

#include "catena/core/check.h"
#include "catena/core/errors.h"
#include "catena/core/ranks/bytes.h"
#include "catena/core/ranks/ranks.h"
#include "catena/sample/judgement/judge.h"
#include "catena/sample/posterior.h"
#include "catena/tasks/observe.h"

namespace catena::evaluate {

namespace {

std::vector<std::int64_t> whole_numbers(const Ranks& ranks) { return {ranks.values.begin(), ranks.values.end()}; }

nlohmann::json judge(const Ranks& ranks, Interval interval, const Streams& streams) {
  const Uniformity test = uniformity(ranks);
  const Coverage coverage = expected_coverage(ranks, interval, usual_credibilities(), streams);
  return {{"p_value", test.band_p_value},
          {"inside", test.inside},
          {"mean_excess", coverage.mean_excess},
          {"credibility", coverage.credibility},
          {"coverage", coverage.expected}};
}

struct Judged {
  bool alarm = false, failed = false;
  std::string not_corrected;
};

/// A correction looks at the learned posterior through its draws; fewer than these would show it little of it.
constexpr std::size_t fewest_learned = 1000;

/// Every k-th of the draws: `count` of them.
Matrix thinned(ConstMatrixView draws, std::size_t count) {
  check::at_least("calibrate", "the number of draws from the corrected posterior", draws.rows, count);
  Matrix some(count, draws.cols);
  for (std::size_t r = 0; r < count; ++r) std::ranges::copy(draws.row(r * draws.rows / count), some.row(r).begin());
  return some;
}

sample::PosteriorDraws judged_draws(const sample::PosteriorRequest& request, const Streams& streams,
                                    const Parallel& parallel, Progress& progress) {
  sample::PosteriorDraws draws = sample::draw_posterior(request, streams, parallel, progress);
  sample::judge_draws(request, draws, streams.child("judgement"), parallel);
  return draws;
}

/// Draws from the corrected posterior, or from the learned one where that is not possible.
sample::PosteriorDraws corrected(sample::CorrectionRequest request, const Streams& streams, const Parallel& parallel,
                                 Progress& progress, Judged& judged) {
  const std::size_t draws = std::exchange(request.posterior.draws, std::max(request.posterior.draws, fewest_learned));
  try {
    sample::Correction found = sample::correct_posterior(request, streams, parallel, progress);
    found.corrected.theta = thinned(found.corrected.theta, draws);
    judged.alarm = found.certificate.alarm();
    judged.not_corrected = std::move(found.not_corrected);
    return std::move(found.corrected);
  } catch (const InputError& error) {
    judged.failed = true;
    judged.not_corrected = error.what();
    request.posterior.draws = draws;
    return judged_draws(request.posterior, streams, parallel, progress);
  }
}

/// Whether so many of the series are more than false alarms explain: once in a hundred calibrations.
bool more_than_alarms(std::size_t called, std::size_t series) {
  if (called == 0) return false;
  const boost::math::binomial law(static_cast<double>(series), sample::misfit_false_alarms);
  return boost::math::cdf(boost::math::complement(law, static_cast<double>(called) - 1)) < 0.01;
}

nlohmann::json corrections(const CalibrationResult& result) {
  std::map<std::string, std::size_t> reasons;
  for (const std::string& reason : result.not_corrected) {
    if (!reason.empty()) ++reasons[reason];
  }
  const auto series = static_cast<double>(result.outcome.size());
  const auto corrected = static_cast<double>(std::ranges::count(result.not_corrected, std::string()));
  return {{"corrected", corrected / series},
          {"alarms", static_cast<double>(std::ranges::count(result.alarm, true)) / series},
          {"not_corrected", reasons}};
}

}  // namespace

KnownSeries known_series(std::string_view function, const tasks::Task& task, std::size_t count, std::size_t transitions,
                         const Streams& streams, std::span<const Matrix> covariates) {
  KnownSeries known{Matrix(count, task.prior.size()), {}, {}};
  for (std::size_t s = 0; s < count; ++s) {
    const std::span<const Matrix> table =
        covariates.empty() ? covariates : covariates.subspan(s % covariates.size(), 1);  // one after the other
    tasks::Observation one = tasks::observe(function, task, transitions, streams.child("observe", s).seed(), {}, table);
    std::ranges::copy(one.theta, known.theta.row(s).begin());
    known.series.push_back(std::move(one.series));
    known.times.push_back(std::move(one.times));
    if (one.covariates.cols() > 0) known.covariates.push_back(std::move(one.covariates));
  }
  return known;
}

KnownSeries known_series(std::string_view function, const tasks::Task& task, std::size_t count,
                         const std::vector<std::size_t>& steps, const Streams& streams,
                         std::span<const Matrix> covariates) {
  check::at_least(function, "the number of rows of a series", steps.size(), std::size_t{2});
  KnownSeries known = known_series(function, task, count, steps.back(), streams, covariates);
  const auto at_steps = [&](const Matrix& all) {
    Matrix rows(steps.size(), all.cols());
    for (std::size_t r = 0; r < steps.size(); ++r) std::ranges::copy(all.row(steps[r]), rows.row(r).begin());
    return rows;
  };
  for (std::size_t s = 0; s < count; ++s) {
    known.series[s] = at_steps(known.series[s]);
    if (!known.covariates.empty()) known.covariates[s] = at_steps(known.covariates[s]);
    known.times[s].assign(steps.begin(), steps.end());
  }
  return known;
}

std::vector<std::size_t> steps_of(std::string_view function, const simulate::SeriesView& series, double step_length) {
  std::vector<std::size_t> steps;
  double first = 0;
  for (std::size_t r = 0; r < series.states.rows; ++r) {
    if (!std::ranges::all_of(series.states.row(r), [](double value) { return std::isfinite(value); })) continue;
    if (steps.empty()) first = series.time(r);
    const double step = (series.time(r) - first) / step_length, whole = std::round(step);
    check::that(whole >= 0 && std::abs(step - whole) < 1e-3 * std::max(1.0, whole), function,
                fmt::format("the step to row {} of the series", r + 1), step,
                "a whole number of the simulator's steps (step_length)");
    steps.push_back(static_cast<std::size_t>(whole));
  }
  return steps;
}

Matrix covariates_by_step(std::string_view function, const simulate::SeriesView& series, double step_length) {
  std::size_t first = 0;
  const auto known = [&](std::size_t r) {
    return std::ranges::all_of(series.states.row(r), [](double value) { return std::isfinite(value); });
  };
  while (first + 1 < series.states.rows && !known(first)) ++first;
  Matrix rows(series.states.rows - first, series.covariates.cols);
  for (std::size_t r = first; r < series.states.rows; ++r) {
    const double steps = (series.time(r) - series.time(first)) / step_length;
    check::that(std::abs(steps - static_cast<double>(r - first)) < 1e-3 * std::max(1.0, steps), function,
                fmt::format("the time of row {} of the series", r + 1), series.time(r),
                "one step after that of the row before, for covariates act on every step: add the rows in between, "
                "with covariates and without states");
    std::ranges::copy(series.covariates.row(r), rows.row(r - first).begin());
    if (r + 1 == series.states.rows) break;
    check::all_finite(function, fmt::format("the covariates of row {}", r + 1), rows.row(r - first));
  }
  return rows;
}

CalibrationResult calibrate(const model::TrainedModel& model, const KnownSeries& known, const CalibrationPlan& plan,
                            const Streams& streams, const Parallel& parallel, Progress& progress) {
  const std::size_t count = known.series.size(), d = model.prior.size(), draws = plan.draws;
  check::at_least("calibrate", "the number of series", count, std::size_t{5});  // fewer tell nothing: uniformity()
  check::at_least("calibrate", "draws", draws, std::size_t{1});
  check::equal("calibrate", "the number of parameters", known.theta.cols(), d);
  check::equal("calibrate", "the number of rows of theta", known.theta.rows(), count);
  CATENA_ASSERT(known.times.empty() || known.times.size() == count);
  CATENA_ASSERT(known.covariates.empty() || known.covariates.size() == count);

  CalibrationResult result;
  result.parameters = model.prior.names();
  result.theta = known.theta;
  result.outcome.resize(count);
  Matrix all(count * draws, d);
  std::vector<std::size_t> outside(count);
  std::vector<Judged> judged(plan.simulator != nullptr ? count : 0);
  const Parallel alone(1);
  catena::Ranks& ranks = parallel.ranks();
  std::vector<std::size_t> mine;
  for (std::size_t s = 0; s < count; ++s) {
    if (ranks.has(s)) mine.push_back(s);
  }
  progress.start("calibrate", "series", mine.size());
  parallel.for_each(mine.size(), [&](std::size_t place) {
    const std::size_t s = mine[place];
    PartProgress part(progress);
    simulate::SeriesView series{known.series[s]};
    if (!known.times.empty()) series.times = known.times[s];
    if (!known.covariates.empty()) series.covariates = known.covariates[s];
    const sample::PosteriorRequest request{
        .model = model, .series = {series}, .draws = draws, .settings = plan.settings, .paths = plan.paths};
    const Streams own = streams.child("calibrate", s);
    const sample::PosteriorDraws drawn =
        plan.simulator == nullptr ? judged_draws(request, own, alone, part)
                                  : corrected({request, *plan.simulator, plan.correction}, own, alone, part, judged[s]);
    std::ranges::copy(drawn.theta.values(), all.row(s * draws).begin());
    result.outcome[s] = drawn.outcome;
    outside[s] = drawn.observed.outside;
    ranks.tick();
    progress.advance(1);
  });
  progress.finish();
  share_items(
      ranks, count,
      [&](std::size_t s) {
        BytesWriter bytes;
        bytes.put(result.outcome[s]).put<std::uint64_t>(outside[s]);
        bytes.put_all(std::as_const(all).values().subspan(s * draws * d, draws * d));
        if (!judged.empty()) bytes.put(judged[s].alarm).put(judged[s].failed).put_text(judged[s].not_corrected);
        return bytes.take();
      },
      [&](std::size_t s, std::string_view text) {
        BytesReader bytes(text);
        result.outcome[s] = bytes.get<Outcome>();
        outside[s] = bytes.get<std::uint64_t>();
        bytes.get_all(all.values().subspan(s * draws * d, draws * d));
        if (judged.empty()) return;
        judged[s].alarm = bytes.get<bool>();
        judged[s].failed = bytes.get<bool>();
        judged[s].not_corrected = bytes.get_text();
      });
  for (const std::size_t number : outside) result.transitions_outside += number;
  for (Judged& one : judged) {
    result.alarm.push_back(one.alarm);
    result.not_corrected.push_back(std::move(one.not_corrected));
  }
  if (!judged.empty() && std::ranges::all_of(judged, &Judged::failed)) throw InputError(result.not_corrected.front());
  result.ranks = sbc_ranks(all, known.theta, streams, parallel);
  result.tarp = tarp_ranks(all, known.theta, streams, parallel);
  return result;
}

nlohmann::json summary(const CalibrationResult& result, const Streams& streams) {
  nlohmann::json parameters = nlohmann::json::object();
  for (std::size_t p = 0; p < result.ranks.size(); ++p) {
    parameters[result.parameters[p]] = judge(result.ranks[p], Interval::central, streams);
  }
  std::map<std::string, std::size_t> outcomes;
  for (const Outcome outcome : result.outcome) ++outcomes[std::string(name(outcome))];
  const std::size_t failed = result.outcome.size() - outcomes["ok"];
  nlohmann::json found = {{"series", result.outcome.size()},
                          {"draws", result.tarp.draws},
                          {"parameters", std::move(parameters)},
                          {"tarp", judge(result.tarp, Interval::from_below, streams)},
                          {"series_not_ok", failed},
                          {"outcomes", outcomes},
                          {"flagged", more_than_alarms(failed, result.outcome.size())},
                          {"transitions_outside_training_range", result.transitions_outside}};
  if (!result.not_corrected.empty()) found["correction"] = corrections(result);
  return found;
}

files::Group calibration_group(const CalibrationResult& result) {
  const std::size_t parameters = result.parameters.size(), series = result.outcome.size();
  files::Group group;
  group.dimensions = {{"parameter", parameters}, {"series", series}};
  std::vector<std::int64_t> rank;
  for (const Ranks& ranks : result.ranks) rank.insert(rank.end(), ranks.values.begin(), ranks.values.end());
  const files::Attributes draws = {{"draws", result.tarp.draws}};
  std::vector<std::string> outcomes;
  for (const Outcome outcome : result.outcome) outcomes.emplace_back(name(outcome));
  const std::span<const double> theta = result.theta.values();
  group.variables = {{"parameter", {"parameter"}, result.parameters},
                     {"rank", {"parameter", "series"}, std::move(rank), draws},
                     {"tarp_rank", {"series"}, whole_numbers(result.tarp), draws},
                     {"theta", {"series", "parameter"}, std::vector<double>(theta.begin(), theta.end())},
                     {"outcome", {"series"}, std::move(outcomes)}};
  return group;
}

}  // namespace catena::evaluate
