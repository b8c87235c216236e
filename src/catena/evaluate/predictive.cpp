#include "catena/evaluate/predictive.h"

#include <algorithm>
#include <cmath>

#include "catena/core/check.h"

namespace catena::evaluate {
namespace {

constexpr std::string_view function = "predict";
constexpr std::size_t block_draws = 64;  // series that move together; fixed, so that results do not depend on threads

/// Series of some draws: the state that each of them is in, and how to make the next one.
class Runners {
 public:
  Runners(const simulate::Simulator& simulator, ConstMatrixView theta, std::span<const double> start)
      : simulator_(simulator),
        theta_(simulator.parameters(), theta.rows),
        state_(simulator.states(), theta.rows),
        next_(simulator.states(), theta.rows),
        time_(padded_lanes(theta.rows), 0.0),
        length_(time_) {
    for (std::size_t l = 0; l < theta.rows; ++l) {
      for (std::size_t i = 0; i < theta.cols; ++i) theta_(i, l) = theta(l, i);
    }
    set(start);
  }

  void set(std::span<const double> state) {
    for (std::size_t i = 0; i < state.size(); ++i) {
      for (std::size_t l = 0; l < theta_.view().lanes; ++l) state_(i, l) = state[i];
    }
  }

  /// From `time` over `length` steps: in one, for simulators that take its length; others make so many.
  void step(double time, double length, Stream& stream) {
    std::ranges::fill(length_, length);
    const double steps = simulator_.uses_step ? 1 : std::max(1.0, std::round(length));
    for (double made = 0; made < steps; ++made) one_step(time + made, stream);
  }

  void read(std::size_t lane, std::span<double> out) const {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = state_(i, lane);
  }

 private:
  void one_step(double time, Stream& stream) {
    std::ranges::fill(time_, time);
    simulator_.step({theta_.view(), state_.view(), simulator_.uses_time ? time_.data() : nullptr,
                     simulator_.uses_step ? length_.data() : nullptr},
                    stream, next_.view());
    std::swap(state_, next_);
  }

  const simulate::Simulator& simulator_;
  StateLanes theta_, state_, next_;
  AlignedVector<double> time_, length_;
};

bool is_known(std::span<const double> state) {
  return std::ranges::all_of(state, [](double value) { return std::isfinite(value); });
}

/// `series[begin + l]` for the draws [begin, begin + theta.rows) of one block.
void run_block(const simulate::Simulator& simulator, ConstMatrixView theta, const simulate::SeriesView& given,
               double step_length, bool one_step, Stream stream, std::span<Matrix> series) {
  const ConstMatrixView observed = given.states;
  Runners runners(simulator, theta, observed.row(0));
  for (Matrix& one : series) std::ranges::copy(observed.row(0), one.row(0).begin());
  for (std::size_t t = 0; t + 1 < observed.rows; ++t) {
    if (one_step && is_known(observed.row(t))) runners.set(observed.row(t));
    runners.step(given.time(t), (given.time(t + 1) - given.time(t)) / step_length, stream);
    for (std::size_t l = 0; l < series.size(); ++l) runners.read(l, series[l].row(t + 1));
  }
}

}  // namespace

PredictiveSeries predict(const simulate::Simulator& simulator, ConstMatrixView theta,
                         const simulate::SeriesView& series, double step_length, const Streams& streams,
                         const Parallel& parallel, Progress& progress) {
  const ConstMatrixView observed = series.states;
  check::positive(function, "step_length", step_length);
  check::equal(function, "the number of parameters of a draw", theta.cols, simulator.parameters());
  check::that(simulator.order == 1, function, "the order of the simulator", simulator.order,
              "1: only the last state is carried on");
  check::equal(function, "the number of states of the series", observed.cols, simulator.states());
  check::at_least(function, "the number of rows of the series", observed.rows, std::size_t{2});
  check::all_finite(function, "the first row of the series", observed.row(0));
  if (!series.times.empty()) {
    check::equal(function, "the number of times of the series", series.times.size(), observed.rows);
  }

  PredictiveSeries result;
  result.run.assign(theta.rows, Matrix(observed.rows, observed.cols));
  result.one_step = result.run;
  progress.start("predict", "draws", theta.rows);
  parallel.for_blocks(theta.rows, block_draws, [&](std::size_t begin, std::size_t end, std::size_t block) {
    const ConstMatrixView mine = theta.slice_rows(begin, end);
    run_block(simulator, mine, series, step_length, false, streams.stream("run", block),
              std::span(result.run).subspan(begin, end - begin));
    run_block(simulator, mine, series, step_length, true, streams.stream("one_step", block),
              std::span(result.one_step).subspan(begin, end - begin));
    progress.advance(end - begin);
  });
  progress.finish();
  return result;
}

simulate::Simulator surrogate_simulator(const model::DensityModel& model) {
  simulate::Simulator simulator;
  simulator.name = model.model->source;
  simulator.parameter_names = model.model->prior.names();
  simulator.state_names = model.model->state_names;
  simulator.uses_time = model.model->features.uses_time();
  simulator.step = [&model](const simulate::StepInput& input, Stream& stream, StateBlock next) {
    const std::size_t lanes = next.lanes, d = input.theta.features, n = next.features;
    Matrix z(lanes, d), x(lanes, n);
    std::vector<double> theta(d);
    for (std::size_t l = 0; l < lanes; ++l) {
      for (std::size_t i = 0; i < d; ++i) theta[i] = input.theta(i, l);
      model.model->prior.to_z(theta, z.row(l));
      for (std::size_t i = 0; i < n; ++i) x(l, i) = input.state(i, l);
    }
    const std::span<const double> times(input.time, input.time == nullptr ? 0 : lanes);
    const Matrix drawn = model::draw_transitions(model, z, x, times, Streams(stream.bits()));
    for (std::size_t l = 0; l < lanes; ++l) {
      for (std::size_t i = 0; i < n; ++i) next(i, l) = drawn(l, i);
    }
  };
  return simulator;
}

files::Group predictive_group(const PredictiveSeries& series, const std::vector<std::string>& state_names) {
  CATENA_ASSERT(!series.run.empty());
  const std::size_t draws = series.run.size(), rows = series.run.front().rows(), states = state_names.size();
  files::Group group{.name = "posterior_predictive",
                     .dimensions = {{"chain", 1}, {"draw", draws}, {"time", rows}, {"state", states}}};
  group.variables.push_back({"state", {"state"}, state_names});
  for (const auto& [name, all] : {std::pair("series", &series.run), std::pair("one_step", &series.one_step)}) {
    std::vector<double> values;
    values.reserve(draws * rows * states);
    for (const Matrix& one : *all) values.insert(values.end(), one.values().begin(), one.values().end());
    group.variables.push_back({name, {"chain", "draw", "time", "state"}, std::move(values)});
  }
  return group;
}

}  // namespace catena::evaluate
