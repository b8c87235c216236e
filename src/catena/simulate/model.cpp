#include "catena/simulate/model.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "catena/core/check.h"

namespace catena::simulate {

std::function<void(Stream&, std::span<double>)> fixed_state(std::vector<double> state) {
  return [state = std::move(state)](Stream&, std::span<double> out) { std::ranges::copy(state, out.begin()); };
}

void Model::draw_initial(ConstStateBlock theta, Stream& stream, StateBlock window) const {
  if (initial_given_theta) {
    initial_given_theta(theta, stream, window);
    return;
  }
  std::vector<double> one(window.features);
  for (std::size_t l = 0; l < window.lanes; ++l) {
    initial_state(stream, one);
    for (std::size_t i = 0; i < one.size(); ++i) window(i, l) = one[i];
  }
}

namespace {

/// θ with what completes it, in lanes of the same stride.
class SeenParameters {
 public:
  SeenParameters(const prior::Prior& prior, ConstStateBlock theta)
      : values_(prior.seen_names().size() * theta.stride, 0.0),
        block_{values_.data(), prior.seen_names().size(), theta.lanes, theta.stride} {
    std::vector<double> from(theta.features), to(block_.features);
    for (std::size_t l = 0; l < theta.lanes; ++l) {
      for (std::size_t i = 0; i < from.size(); ++i) from[i] = theta(i, l);
      prior.complete(from, to);
      for (std::size_t i = 0; i < to.size(); ++i) block_(i, l) = to[i];
    }
  }
  ConstStateBlock view() const { return {block_.data, block_.features, block_.lanes, block_.stride}; }

 private:
  AlignedVector<double> values_;
  StateBlock block_;
};

}  // namespace

void complete_parameters(Model& model) {
  if (!model.prior.completes()) return;
  const auto prior = std::make_shared<const prior::Prior>(model.prior);
  model.simulator.parameter_names = prior->names();
  model.simulator.step = [prior, step = std::move(model.simulator.step)](const StepInput& input, Stream& stream,
                                                                         StateBlock next) {
    const SeenParameters seen(*prior, input.theta);
    StepInput whole = input;
    whole.theta = seen.view();
    step(whole, stream, next);
  };
  if (!model.initial_given_theta) return;
  model.initial_given_theta = [prior, initial = std::move(model.initial_given_theta)](
                                  ConstStateBlock theta, Stream& stream, StateBlock window) {
    initial(SeenParameters(*prior, theta).view(), stream, window);
  };
}

void advance_window(StateBlock window, ConstStateBlock next) {
  const std::size_t n = next.features;
  for (std::size_t i = window.features; i-- > 0;) {
    const double* from = i < n ? next.feature(i) : window.feature(i - n);
    std::copy_n(from, next.lanes, window.feature(i));
  }
}

std::vector<std::string> numbered_names(std::string_view prefix, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= count; ++i) names.push_back(fmt::format("{}_{}", prefix, i));
  return names;
}

std::span<const Matrix> tables_for(std::string_view function, const Model& model, std::span<const Matrix> given) {
  const Simulator& simulator = model.simulator;
  if (simulator.covariates() == 0) return {};
  for (const Matrix& table : given) {
    check::equal(function, "the number of columns of a table of covariates", table.cols(), simulator.covariates());
    check::at_least(function, "the number of rows of a table of covariates", table.rows(), std::size_t{1});
    check::all_finite(function, "a table of covariates", table.values());
  }
  if (!given.empty()) return given;
  check::that(model.covariates.rows() > 0, function, "the table of covariates", "missing",
              fmt::format("given, with the columns {}: {} takes them at every step",
                          fmt::join(simulator.covariate_names, ", "), simulator.name));
  return {&model.covariates, 1};
}

std::vector<Matrix> simulate_series(const Model& model, ConstMatrixView theta, std::size_t transitions, Stream& stream,
                                    std::span<const Matrix> covariates) {
  const Simulator& simulator = model.simulator;
  const std::span<const Matrix> tables = tables_for("simulate", model, covariates);
  const std::size_t n = simulator.states(), d = simulator.parameters(), lanes = theta.rows, m = simulator.order;
  CATENA_ASSERT(theta.cols == d);
  check::that(model.has_initial_state(), "simulate", "the model's initial state", "missing", "given");
  constexpr std::size_t longest = 10'000'000, most_values = std::size_t{1} << 27;  // a gigabyte
  check::that(transitions <= longest, "simulate", "the number of transitions of a series", transitions,
              fmt::format("at most {}", longest));
  check::that(transitions + m <= most_values / (n * std::max<std::size_t>(1, lanes)), "simulate",
              "the number of transitions of a series", transitions,
              fmt::format("fewer for {} series of {} states, which would take more than a gigabyte", lanes, n));
  StateLanes parameters(d, lanes), window(simulator.window(), lanes), next(n, lanes), u(simulator.covariates(), lanes);
  std::vector<Matrix> series(lanes, Matrix(transitions + m, n));
  const auto store = [&](std::size_t row, ConstStateBlock state) {
    for (std::size_t l = 0; l < lanes; ++l) {
      for (std::size_t i = 0; i < n; ++i) series[l](row, i) = state(i, l);
    }
  };
  AlignedVector<double> time(padded_lanes(lanes), 0.0), step(padded_lanes(lanes), 1.0);
  for (std::size_t l = 0; l < lanes; ++l) {
    for (std::size_t i = 0; i < d; ++i) parameters(i, l) = theta(l, i);
  }
  model.draw_initial(parameters, stream, window);
  for (std::size_t j = 0; j < m; ++j) store(m - 1 - j, window.view().slice_features(j * n, (j + 1) * n));
  for (std::size_t t = 0; t < transitions; ++t) {
    std::ranges::fill(time, static_cast<double>(t + m - 1));
    for (std::size_t l = 0; !tables.empty() && l < lanes; ++l) {
      const Matrix& table = tables[l % tables.size()];
      for (std::size_t i = 0; i < table.cols(); ++i) u(i, l) = table((t + m - 1) % table.rows(), i);
    }
    simulator.step({parameters.view(), window.view(), simulator.uses_time ? time.data() : nullptr,
                    simulator.uses_step ? step.data() : nullptr, u.view()},
                   stream, next);
    advance_window(window, next);
    store(t + m, next);
  }
  return series;
}

}  // namespace catena::simulate
