#include "catena/evaluate/predictive.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "catena/core/check.h"
#include "catena/files/json.h"
#include "catena/sample/draws.h"

namespace catena::evaluate {
namespace {

constexpr std::string_view function = "predict";
constexpr std::size_t block_draws = 64;  // series that move together; fixed, so that results do not depend on threads

/// Series of some draws: the last m states of each of them, latest first, and how to make the next one.
class Runners {
 public:
  Runners(const simulate::Simulator& simulator, ConstMatrixView theta)
      : simulator_(simulator),
        theta_(simulator.parameters(), theta.rows),
        window_(simulator.order * simulator.states(), theta.rows),
        next_(simulator.states(), theta.rows),
        covariates_(simulator.covariates(), theta.rows),
        time_(padded_lanes(theta.rows), 0.0),
        length_(time_) {
    for (std::size_t l = 0; l < theta.rows; ++l) {
      for (std::size_t i = 0; i < theta.cols; ++i) theta_(i, l) = theta(l, i);
    }
  }

  /// The state `age` steps before the latest one, of all series.
  void set(std::size_t age, std::span<const double> state) {
    for (std::size_t l = 0; l < theta_.view().lanes; ++l) set(age, l, state);
  }
  void set(std::size_t age, std::size_t lane, std::span<const double> state) {
    for (std::size_t i = 0; i < state.size(); ++i) window_(age * state.size() + i, lane) = state[i];
  }

  void step(double time, double length, std::span<const double> u, Stream& stream) {
    std::ranges::fill(length_, length);
    std::ranges::fill(time_, time);
    for (std::size_t i = 0; i < u.size(); ++i) {
      for (std::size_t l = 0; l < theta_.view().lanes; ++l) covariates_(i, l) = u[i];
    }
    simulator_.step({theta_.view(), window_.view(), simulator_.uses_time ? time_.data() : nullptr,
                     simulator_.uses_step ? length_.data() : nullptr, covariates_.view()},
                    stream, next_.view());
    const std::size_t states = simulator_.states(), lanes = theta_.view().lanes;
    for (std::size_t i = window_.view().features; i-- > states;) {
      for (std::size_t l = 0; l < lanes; ++l) window_(i, l) = window_(i - states, l);
    }
    for (std::size_t i = 0; i < states; ++i) {
      for (std::size_t l = 0; l < lanes; ++l) window_(i, l) = next_(i, l);
    }
  }

  void read(std::size_t lane, std::span<double> out) const {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = window_(i, lane);
  }

 private:
  const simulate::Simulator& simulator_;
  StateLanes theta_, window_, next_, covariates_;
  AlignedVector<double> time_, length_;
};

bool is_known(std::span<const double> state) {
  return std::ranges::all_of(state, [](double value) { return std::isfinite(value); });
}

/// When the rows of a series are, and those of its forecast, in time and in steps that the simulator makes.
struct Grid {
  std::vector<double> times;       // of rows and forecast
  std::vector<std::size_t> steps;  // made up to each
  double step_length;
  std::size_t forecast;  // its first row
  Matrix covariates;     // of each, but for the last

  Grid(const simulate::Simulator& simulator, const simulate::SeriesView& series, const PredictionPlan& plan)
      : steps{0}, step_length(plan.step_length), forecast(series.states.rows) {
    const std::size_t rows = series.states.rows;
    while (simulator.covariates() > 0 && plan.horizon > 0 && forecast > 1 &&
           !is_known(series.states.row(forecast - 1))) {
      --forecast;  // rows without states are there for their covariates
    }
    for (std::size_t r = 0; r < rows; ++r) times.push_back(series.time(r));
    for (std::size_t h = 1; rows + h <= forecast + plan.horizon; ++h) {
      times.push_back(times[rows - 1] + static_cast<double>(h) * step_length);
    }
    for (std::size_t r = 1; r < times.size(); ++r) {
      const double length = (times[r] - times[r - 1]) / step_length;
      steps.push_back(steps.back() +
                      (simulator.uses_step ? 1 : static_cast<std::size_t>(std::max(1.0, std::round(length)))));
    }
    if (simulator.covariates() > 0) take_covariates(simulator, series, plan);
  }

 private:
  void take_covariates(const simulate::Simulator& simulator, const simulate::SeriesView& series,
                       const PredictionPlan& plan) {
    const std::size_t rows = series.states.rows, k = simulator.covariates(), known = rows + plan.covariates.rows;
    const std::string names = fmt::format("{}", fmt::join(simulator.covariate_names, ", "));
    check::that(series.covariates.cols > 0, function, "the table of covariates of the series", "missing",
                fmt::format("given for every row: {}", names));
    check::equal(function, "the number of covariates of the series", series.covariates.cols, k);
    check::equal(function, "the number of rows of the covariates of the series", series.covariates.rows, rows);
    if (plan.covariates.rows > 0) {
      check::equal(function, "the number of covariates of the steps ahead", plan.covariates.cols, k);
    }
    check::that(known + 1 >= times.size(), function, "the number of rows of covariates beyond the last observed state",
                known - forecast,
                fmt::format("{} or more, for {} steps ahead: give them as covariates, or rows of the series without "
                            "states ({})",
                            times.size() - 1 - forecast, plan.horizon, names));
    covariates = Matrix(times.size() - 1, k);
    for (std::size_t r = simulator.order - 1; r + 1 < times.size(); ++r) {
      check::that(steps[r + 1] - steps[r] == 1, function, fmt::format("the step to row {} of the series", r + 2),
                  fmt::format("{} steps of the simulator", steps[r + 1] - steps[r]),
                  "one, for covariates act on every step: add the rows in between, with covariates and without states");
      const auto row = r < rows ? series.covariates.row(r) : plan.covariates.row(r - rows);
      for (std::size_t i = 0; i < k; ++i) {
        check::that(std::isfinite(row[i]), function,
                    fmt::format("the covariate {} in row {}", simulator.covariate_names[i], r + 1), row[i],
                    "finite: the step from that row depends on it");
      }
      std::ranges::copy(row, covariates.row(r).begin());
    }
  }
};

/// `series[l]`, of as many rows as there shall be, for the draws of one block.
void run_block(const simulate::Simulator& simulator, ConstMatrixView theta, ConstMatrixView observed, const Grid& grid,
               ConstMatrixView starts, bool one_step, Stream stream, std::span<Matrix> series) {
  Runners runners(simulator, theta);
  const std::size_t order = simulator.order, states = simulator.states(), rows = series.front().rows();
  for (std::size_t k = 0; k < order; ++k) {
    for (std::size_t l = 0; l < series.size(); ++l) {
      const auto state = starts.rows > 0 ? starts.row(l).subspan((order - 1 - k) * states, states) : observed.row(k);
      runners.set(order - 1 - k, l, state);
      std::ranges::copy(state, series[l].row(k).begin());
    }
  }
  for (std::size_t t = order - 1; t + 1 < rows; ++t) {
    for (std::size_t back = 0; one_step && back <= t && grid.steps[t] - grid.steps[t - back] < order; ++back) {
      const std::size_t r = t - back;
      if (r < observed.rows && is_known(observed.row(r))) runners.set(grid.steps[t] - grid.steps[r], observed.row(r));
    }
    const std::size_t made = grid.steps[t + 1] - grid.steps[t];
    const double length = (grid.times[t + 1] - grid.times[t]) / grid.step_length;
    const std::span<const double> u = grid.covariates.cols() > 0 ? grid.covariates.row(t) : std::span<const double>();
    for (std::size_t s = 0; s < made; ++s) runners.step(grid.times[t] + static_cast<double>(s), length, u, stream);
    for (std::size_t l = 0; l < series.size(); ++l) runners.read(l, series[l].row(t + 1));
  }
}

/// `count` rows of a matrix.
Matrix rows_from(const Matrix& all, std::size_t first, std::size_t count) {
  Matrix some(count, all.cols());
  for (std::size_t r = 0; r < count; ++r) std::ranges::copy(all.row(first + r), some.row(r).begin());
  return some;
}

files::Group series_group(const char* name,
                          const std::vector<std::pair<const char*, const std::vector<Matrix>*>>& parts,
                          std::span<const double> times, const std::optional<Calendar>& calendar,
                          const std::vector<std::string>& state_names) {
  const std::vector<Matrix>& first = *parts.front().second;
  const std::size_t draws = first.size(), rows = first.front().rows(), states = state_names.size();
  files::Group group{.name = name, .dimensions = {{"chain", 1}, {"draw", draws}, {"time", rows}, {"state", states}}};
  group.variables.push_back({"state", {"state"}, state_names});
  if (!times.empty()) group.variables.push_back(sample::time_variable("time", times, calendar));
  for (const auto& [variable, all] : parts) {
    std::vector<double> values;
    values.reserve(draws * rows * states);
    for (const Matrix& one : *all) values.insert(values.end(), one.values().begin(), one.values().end());
    group.variables.push_back({variable, {"chain", "draw", "time", "state"}, std::move(values)});
  }
  return group;
}

nlohmann::json recorded(const std::string& source, const files::Attributes& record, const char* attribute) {
  const auto found = record.find(attribute);
  if (found == record.end() || !found->second.is_string()) return nullptr;
  return files::parse_json(found->second.get<std::string>(), source);
}

}  // namespace

simulate::PathSettings recorded_paths(const std::string& source, const files::Attributes& record) {
  const nlohmann::json paths = recorded(source, record, "paths");
  return from_json<simulate::PathSettings>(function, paths.is_object() ? paths : nlohmann::json::object());
}

double recorded_step_length(const std::string& source, const files::Attributes& record,
                            const simulate::SeriesView& series) {
  const nlohmann::json transitions = recorded(source, record, "transitions");
  simulate::KnownSteps known;
  if (transitions.is_object() && transitions.contains("steps")) known.whole = false;  // steps of their own: unit 1
  return simulate::step_length(series, known, recorded_paths(source, record));
}

PredictiveSeries predict(const simulate::Simulator& simulator, ConstMatrixView theta,
                         const simulate::SeriesView& series, const PredictionPlan& plan, const Streams& streams,
                         const Parallel& parallel, Progress& progress) {
  const ConstMatrixView observed = series.states;
  check::positive(function, "step_length", plan.step_length);
  check::equal(function, "the number of parameters of a draw", theta.cols, simulator.parameters());
  check::equal(function, "the number of states of the series", observed.cols, simulator.states());
  check::at_least(function, "the number of rows of the series", observed.rows,
                  simulator.order + (plan.horizon > 0 ? 0 : 1));
  if (!series.times.empty()) {
    check::equal(function, "the number of times of the series", series.times.size(), observed.rows);
  }
  const Grid grid(simulator, series, plan);
  if (plan.starts.rows == 0) {
    for (std::size_t k = 0; k < simulator.order; ++k) {
      check::all_finite(function, fmt::format("row {} of the series", k + 1), observed.row(k));
      check::equal(function, fmt::format("the number of steps to row {} of the series", k + 1), grid.steps[k], k);
    }
  } else {
    check::equal(function, "the number of initial states", plan.starts.rows, theta.rows);
    check::equal(function, "the length of an initial state", plan.starts.cols, simulator.order * simulator.states());
  }

  PredictiveSeries result;
  result.run.assign(theta.rows, Matrix(observed.rows, observed.cols));
  result.one_step.assign(theta.rows, Matrix(grid.times.size(), observed.cols));
  progress.start("predict", "draws", theta.rows);
  parallel.for_blocks(theta.rows, block_draws, [&](std::size_t begin, std::size_t end, std::size_t block) {
    const ConstMatrixView mine = theta.slice_rows(begin, end);
    const ConstMatrixView starts = plan.starts.rows > 0 ? plan.starts.slice_rows(begin, end) : ConstMatrixView{};
    run_block(simulator, mine, observed, grid, starts, false, streams.stream("run", block),
              std::span(result.run).subspan(begin, end - begin));
    run_block(simulator, mine, observed, grid, starts, true, streams.stream("one_step", block),
              std::span(result.one_step).subspan(begin, end - begin));
    progress.advance(end - begin);
  });
  progress.finish();
  if (plan.horizon > 0) {
    for (Matrix& one : result.one_step) {
      result.forecast.push_back(rows_from(one, grid.forecast, plan.horizon));
      one = rows_from(one, 0, observed.rows);
    }
    const auto first = grid.times.begin() + static_cast<std::ptrdiff_t>(grid.forecast);
    result.forecast_times.assign(first, first + static_cast<std::ptrdiff_t>(plan.horizon));
  }
  return result;
}

simulate::Simulator surrogate_simulator(const model::DensityModel& model) {
  simulate::Simulator simulator;
  simulator.name = model.model->source;
  simulator.parameter_names = model.model->prior.names();
  simulator.state_names = model.model->state_names;
  simulator.uses_time = model.model->features.uses_time();
  simulator.covariate_names = model.model->covariate_names;
  simulator.step = [&model](const simulate::StepInput& input, Stream& stream, StateBlock next) {
    const std::size_t lanes = next.lanes, d = input.theta.features, n = next.features;
    Matrix z(lanes, d), x(lanes, n), u(lanes, input.covariates.features);
    std::vector<double> theta(d);
    for (std::size_t l = 0; l < lanes; ++l) {
      for (std::size_t i = 0; i < d; ++i) theta[i] = input.theta(i, l);
      model.model->prior.to_z(theta, z.row(l));
      for (std::size_t i = 0; i < n; ++i) x(l, i) = input.state(i, l);
      for (std::size_t i = 0; i < u.cols(); ++i) u(l, i) = input.covariates(i, l);
    }
    const std::span<const double> times(input.time, input.time == nullptr ? 0 : lanes);
    const Matrix drawn = model::draw_transitions(model, z, x, times, Streams(stream.bits()), u);
    for (std::size_t l = 0; l < lanes; ++l) {
      for (std::size_t i = 0; i < n; ++i) next(i, l) = drawn(l, i);
    }
  };
  return simulator;
}

std::vector<files::Group> predictive_groups(const PredictiveSeries& series, const simulate::SeriesView& observed,
                                            const std::vector<std::string>& state_names) {
  CATENA_ASSERT(!series.run.empty());
  std::vector<files::Group> groups{series_group("posterior_predictive",
                                                {{"series", &series.run}, {"one_step", &series.one_step}},
                                                observed.times, observed.calendar, state_names)};
  if (!series.forecast.empty()) {
    groups.push_back(series_group("predictions", {{"series", &series.forecast}}, series.forecast_times,
                                  observed.calendar, state_names));
  }
  return groups;
}

}  // namespace catena::evaluate
