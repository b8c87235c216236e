// x^(t+1) = solver(x^t, θ) + σ ε, ε ~ N(0, I). Simulations are taken out of their lanes a few at a time, whole cache
// lines of each coordinate, and solved one after the other.

#include <algorithm>
#include <cmath>

#include "catena/tasks/kolmogorov_flow/solver.h"

namespace catena::tasks::kolmogorov_flow {

namespace {

constexpr std::size_t lanes_at_a_time = 8;  // one cache line of doubles

/// What is returned for a value that may not be finite.
double finite_or(double value, double instead_of_infinity) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? 0 : std::copysign(instead_of_infinity, value);
}

}  // namespace

void step(const Solver& solver, double sigma, const simulate::StepInput& input, Stream& stream, StateBlock next) {
  const std::size_t n = next.features;
  fill_normal(stream, next);
  Flow flow(solver.side());
  std::vector<std::vector<float>> states(lanes_at_a_time, std::vector<float>(n));
  for (std::size_t begin = 0; begin < next.lanes; begin += lanes_at_a_time) {
    const std::size_t count = std::min(lanes_at_a_time, next.lanes - begin);
    for (std::size_t i = 0; i < n; ++i) {
      const double* from = input.state.feature(i) + begin;
      for (std::size_t l = 0; l < count; ++l) states[l][i] = static_cast<float>(from[l]);
    }
    for (std::size_t l = 0; l < count; ++l) {
      solver.read(std::span<const float>(states[l]), flow);
      solver.run(input.theta(0, begin + l), input.theta(1, begin + l), flow);
      solver.write(flow, std::span<float>(states[l]));
    }
    for (std::size_t i = 0; i < n; ++i) {
      double* to = next.feature(i) + begin;
      for (std::size_t l = 0; l < count; ++l) {
        to[l] = finite_or(static_cast<double>(states[l][i]) + sigma * to[l], solver.constants().instead_of_infinity);
      }
    }
  }
}

}  // namespace catena::tasks::kolmogorov_flow
