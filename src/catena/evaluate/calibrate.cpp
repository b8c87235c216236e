#include "catena/evaluate/calibrate.h"

#include <algorithm>

#include "catena/core/check.h"
#include "catena/core/errors.h"
#include "catena/sample/posterior.h"
#include "catena/tasks/observe.h"

namespace catena::evaluate {

namespace {

/// The draws of one series among many: silent, but they stop when the whole is asked to.
class PartProgress final : public Progress {
 public:
  explicit PartProgress(const Progress& whole) : whole_(whole) {}
  void start(std::string_view, std::string_view, std::uint64_t) override {}
  void advance(std::uint64_t) override {
    if (whole_.stop_requested()) throw Interrupted();
  }
  void note(std::string_view) override {}
  void finish() override {}
  bool stop_requested() const override { return whole_.stop_requested(); }

 private:
  const Progress& whole_;
};

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

}  // namespace

KnownSeries known_series(std::string_view function, const tasks::Task& task, std::size_t count, std::size_t transitions,
                         const Streams& streams) {
  KnownSeries known{Matrix(count, task.prior.size()), {}, {}};
  for (std::size_t s = 0; s < count; ++s) {
    tasks::Observation one = tasks::observe(function, task, transitions, streams.child("observe", s).seed());
    std::ranges::copy(one.theta, known.theta.row(s).begin());
    known.series.push_back(std::move(one.series));
    known.times.push_back(std::move(one.times));
  }
  return known;
}

CalibrationResult calibrate(const model::TrainedModel& model, const KnownSeries& known, std::size_t draws,
                            const nlohmann::json& settings, const Streams& streams, const Parallel& parallel,
                            Progress& progress) {
  const std::size_t count = known.series.size(), d = model.prior.size();
  check::at_least("calibrate", "the number of series", count, std::size_t{5});  // fewer tell nothing: uniformity()
  check::at_least("calibrate", "draws", draws, std::size_t{1});
  check::equal("calibrate", "the number of parameters", known.theta.cols(), d);
  check::equal("calibrate", "the number of rows of theta", known.theta.rows(), count);
  CATENA_ASSERT(known.times.empty() || known.times.size() == count);

  CalibrationResult result;
  result.parameters = model.prior.names();
  result.theta = known.theta;
  result.outcome.resize(count);
  Matrix all(count * draws, d);
  std::vector<std::size_t> outside(count);
  const Parallel alone(1);
  progress.start("calibrate", "series", count);
  parallel.for_each(count, [&](std::size_t s) {
    PartProgress part(progress);
    simulate::SeriesView series{known.series[s]};
    if (!known.times.empty()) series.times = known.times[s];
    const sample::PosteriorRequest request{.model = model, .series = {series}, .draws = draws, .settings = settings};
    const sample::PosteriorDraws drawn = sample::draw_posterior(request, streams.child("calibrate", s), alone, part);
    std::ranges::copy(drawn.theta.values(), all.row(s * draws).begin());
    result.outcome[s] = drawn.outcome;
    outside[s] = drawn.observed.outside;
    progress.advance(1);
  });
  progress.finish();
  for (const std::size_t number : outside) result.transitions_outside += number;
  result.ranks = sbc_ranks(all, known.theta, streams, parallel);
  result.tarp = tarp_ranks(all, known.theta, streams, parallel);
  return result;
}

nlohmann::json summary(const CalibrationResult& result, const Streams& streams) {
  nlohmann::json parameters = nlohmann::json::object();
  for (std::size_t p = 0; p < result.ranks.size(); ++p) {
    parameters[result.parameters[p]] = judge(result.ranks[p], Interval::central, streams);
  }
  const auto failed = std::ranges::count_if(result.outcome, [](Outcome o) { return o != Outcome::ok; });
  return {{"series", result.outcome.size()},
          {"draws", result.tarp.draws},
          {"parameters", std::move(parameters)},
          {"tarp", judge(result.tarp, Interval::from_below, streams)},
          {"series_not_ok", failed},
          {"transitions_outside_training_range", result.transitions_outside}};
}

files::Group calibration_group(const CalibrationResult& result) {
  const std::size_t parameters = result.parameters.size(), series = result.outcome.size();
  files::Group group;
  group.dimensions = {{"parameter", parameters}, {"series", series}};
  std::vector<std::int64_t> rank;
  for (const Ranks& ranks : result.ranks) rank.insert(rank.end(), ranks.values.begin(), ranks.values.end());
  const files::Attributes draws = {{"draws", result.tarp.draws}};
  const std::span<const double> theta = result.theta.values();
  group.variables = {{"parameter", {"parameter"}, result.parameters},
                     {"rank", {"parameter", "series"}, std::move(rank), draws},
                     {"tarp_rank", {"series"}, whole_numbers(result.tarp), draws},
                     {"theta", {"series", "parameter"}, std::vector<double>(theta.begin(), theta.end())}};
  return group;
}

}  // namespace catena::evaluate
