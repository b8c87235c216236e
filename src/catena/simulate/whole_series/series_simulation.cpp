#include "catena/simulate/whole_series/series_simulation.h"

#include <algorithm>
#include <cmath>

#include "catena/core/check.h"
#include "catena/core/version.h"

namespace catena::simulate {

namespace {

constexpr std::string_view series_function = "simulate";

bool all_rows_finite(const Matrix& rows) {
  return std::ranges::all_of(rows.values(), [](double value) { return std::isfinite(value); });
}

SeriesSet empty_set(const Model& model) {
  SeriesSet set;
  set.prior = model.prior;
  set.state_names = model.simulator.state_names;
  set.uses_time = model.simulator.uses_time;
  return set;
}

void check_lost(std::size_t lost, std::size_t all, double most) {
  const double share = static_cast<double>(lost) / static_cast<double>(all);
  if (share <= most && lost < all) return;
  throw InputError(
      fmt::format("{}: the share of series with a state that is not finite is {:.3g}, but must be at most {} "
                  "(max_invalid): narrow the prior, or mend the simulator",
                  series_function, share, most));
}

/// Series from the model's initial states, a block of lanes at a time: block b is a function of (seed, b) alone.
SeriesSet from_initial_states(const Model& model, const SimulationPlan& plan, std::size_t transitions,
                              const Parallel& parallel, Progress& progress) {
  check::that(plan.proposal.is_null() && !plan.own_proposal, series_function, "the proposal of series",
              plan.own_proposal ? "a function" : plan.proposal.dump(), "left out where they start from initial states");
  check::between(series_function, "max_invalid", plan.max_invalid, 0.0, 1.0);
  const std::size_t count = plan.budget / transitions, n = model.simulator.states(), d = model.prior.size();
  const std::size_t lanes = lanes_for(plan.lanes, n, n * (transitions + 1));
  check::that(count > 0, series_function, "budget", plan.budget, "enough for one series");
  const std::size_t blocks = (count + lanes - 1) / lanes;
  std::vector<std::vector<Matrix>> made(blocks);
  std::vector<Matrix> theta(blocks);
  const Streams streams(plan.seed);
  progress.start("simulate", "series", count);
  parallel.for_each(blocks, [&](std::size_t b) {
    const std::size_t here = std::min(lanes, count - b * lanes);
    Stream stream = streams.stream("series", b);
    StateLanes z(d, here), drawn(d, here);
    model.prior.sample(stream, z, drawn);
    theta[b] = Matrix(here, d);
    for (std::size_t l = 0; l < here; ++l) {
      for (std::size_t i = 0; i < d; ++i) theta[b](l, i) = drawn(i, l);
    }
    made[b] = simulate_series(model, theta[b], transitions, stream);
    progress.advance(here);
  });
  progress.finish();
  SeriesSet set = empty_set(model);
  std::size_t invalid = 0;
  for (std::size_t b = 0; b < blocks; ++b) {
    for (std::size_t l = 0; l < made[b].size(); ++l) {
      if (all_rows_finite(made[b][l])) {
        set.add(theta[b].row(l), {.states = made[b][l]});
      } else {
        ++invalid;
      }
    }
  }
  check_lost(invalid, count, plan.max_invalid);
  set.provenance = {{"catena_version", version()}, {"model", model.simulator.name},
                    {"options", plan.options},     {"proposal", nullptr},
                    {"proposal_cost", 0},          {"seed", plan.seed},
                    {"budget", plan.budget},       {"invalid", invalid}};
  if (plan.lanes != usual_lanes) set.provenance["lanes"] = plan.lanes;
  return set;
}

}  // namespace

SeriesSet simulate_series_set(const Model& model, const SimulationPlan& plan, const SeriesPlan& series,
                              const Parallel& parallel, Progress& progress) {
  check::at_least(series_function, "the number of transitions of a series", series.transitions, std::size_t{1});
  check::at_least(series_function, "budget", plan.budget, std::uint64_t{1});
  check::that(model.simulator.covariates() == 0, series_function, "the simulator of whole series", model.simulator.name,
              "one without covariates, for a set of whole series does not hold them");
  SeriesSet set;
  if (series.from_initial) {
    set = from_initial_states(model, plan, series.transitions, parallel, progress);
  } else {
    SimulationPlan records = plan;
    records.records = {};
    records.records.block = series.transitions;
    records.shard = {};
    set = series_of(simulate(model, records, parallel, progress));
  }
  set.provenance["series"] = {{"transitions", series.transitions},
                              {"start", series.from_initial ? "initial states" : "proposal"}};
  return set;
}

SeriesSet series_of(const TransitionSet& records) {
  const RecordShape shape = records.shape();
  check::that(!shape.initial() && !shape.step && shape.covariates == 0, series_function, "a record of a whole series",
              shape.to_json().dump(), "states in a row, without steps or covariates of their own");
  SeriesSet set;
  set.prior = records.prior;
  set.state_names = records.state_names;
  set.provenance = records.provenance;
  set.uses_time = shape.time;
  const std::size_t n = shape.states, rows = shape.order + shape.block;
  Matrix states(rows, n);
  std::vector<double> times(rows);
  for (std::size_t r = 0; r < records.size(); ++r) {
    const RecordView record = records.record(r);
    for (std::size_t j = 0; j < shape.order; ++j) {  // latest first
      std::ranges::copy(record.x.subspan(j * n, n), states.row(shape.order - 1 - j).begin());
    }
    std::ranges::copy(record.x_next, states.row(shape.order).begin());
    // Without a time of its own, a series begins at 0.
    const double first = shape.time ? record.time - static_cast<double>(shape.order - 1) : 0;
    for (std::size_t t = 0; t < rows; ++t) times[t] = first + static_cast<double>(t);
    set.add(records.theta.row(r), {.states = states, .times = times});
  }
  return set;
}

SeriesTransitions transitions_of(std::string_view function, const SeriesSet& set) {
  const std::size_t n = set.state_names.size(), d = set.prior.size();
  SeriesTransitions result;
  for (std::size_t s = 0; s < set.size(); ++s) {
    check::at_least(function, fmt::format("the number of states of series {}", s + 1), set.length(s), std::size_t{2});
    result.offsets.push_back(result.offsets.back() + set.length(s) - 1);
  }
  const std::size_t rows = result.offsets.back();
  TransitionSet& to = result.set;
  to.prior = set.prior;
  to.state_names = set.state_names;
  to.provenance = set.provenance;
  to.z = Matrix(rows, d);
  to.theta = Matrix(rows, d);
  to.x = Matrix(rows, n);
  to.x_next = Matrix(rows, n);
  to.time = Matrix(rows, set.uses_time ? 1 : 0);
  to.step = Matrix(rows, 0);
  to.u = Matrix(rows, 0);
  for (std::size_t s = 0; s < set.size(); ++s) {
    const SeriesView series = set.series(s);
    std::vector<double> z(d);
    set.prior.to_z(set.theta_of(s), z);
    for (std::size_t t = 0; t + 1 < set.length(s); ++t) {
      const std::size_t r = result.offsets[s] + t;
      std::ranges::copy(z, to.z.row(r).begin());
      std::ranges::copy(set.theta_of(s), to.theta.row(r).begin());
      std::ranges::copy(series.states.row(t), to.x.row(r).begin());
      std::ranges::copy(series.states.row(t + 1), to.x_next.row(r).begin());
      if (set.uses_time) to.time(r, 0) = series.times[t];
    }
  }
  return result;
}

}  // namespace catena::simulate
