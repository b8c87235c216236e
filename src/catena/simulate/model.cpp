#include "catena/simulate/model.h"

#include <algorithm>

#include "catena/core/check.h"

namespace catena::simulate {

std::function<void(Stream&, std::span<double>)> fixed_state(std::vector<double> state) {
  return [state = std::move(state)](Stream&, std::span<double> out) { std::ranges::copy(state, out.begin()); };
}

std::vector<Matrix> simulate_series(const Model& model, ConstMatrixView theta, std::size_t transitions,
                                    Stream& stream) {
  const std::size_t n = model.simulator.states(), d = model.simulator.parameters(), lanes = theta.rows;
  CATENA_ASSERT(theta.cols == d);
  check::that(static_cast<bool>(model.initial_state), "simulate", "the model's initial state", "missing", "given");
  StateLanes parameters(d, lanes), state(n, lanes), next(n, lanes);
  std::vector<Matrix> series(lanes, Matrix(transitions + 1, n));
  AlignedVector<double> time(padded_lanes(lanes), 0.0);
  for (std::size_t l = 0; l < lanes; ++l) {
    for (std::size_t i = 0; i < d; ++i) parameters(i, l) = theta(l, i);
    model.initial_state(stream, series[l].row(0));
    for (std::size_t i = 0; i < n; ++i) state(i, l) = series[l](0, i);
  }
  for (std::size_t t = 0; t < transitions; ++t) {
    std::ranges::fill(time, static_cast<double>(t));
    model.simulator.step({parameters.view(), state.view(), model.simulator.uses_time ? time.data() : nullptr}, stream,
                         next);
    std::swap(state, next);
    for (std::size_t l = 0; l < lanes; ++l) {
      for (std::size_t i = 0; i < n; ++i) series[l](t + 1, i) = state(i, l);
    }
  }
  return series;
}

}  // namespace catena::simulate
