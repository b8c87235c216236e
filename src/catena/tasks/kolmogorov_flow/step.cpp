// x^(t+1) = solver(x^t, θ) + σ ε, ε ~ N(0, I). Simulations are taken out of their lanes a few at a time, whole cache
// lines of each coordinate, and solved one after the other.

#include <algorithm>
#include <cmath>

#include "catena/tasks/kolmogorov_flow/solver.h"

namespace catena::tasks::kolmogorov_flow {

namespace {

constexpr std::size_t lanes_at_a_time = 8;  // one cache line of doubles

/// What is returned for a value that may not be finite.
double finite_or(double value, const Constants& constants) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? 0 : std::copysign(constants.instead_of_infinity, value);
}

}  // namespace

void step(const Solver& solver, double sigma, const simulate::StepInput& input, Stream& stream, StateBlock next) {
  const std::size_t n = next.features;
  Flow flow(solver.side());
  std::vector<float> solved(n);
  std::vector<double> noise(n);  // of one simulation: long rows of normals cost less than short ones
  std::vector<std::vector<double>> states(lanes_at_a_time, std::vector<double>(n));
  for (std::size_t begin = 0; begin < next.lanes; begin += lanes_at_a_time) {
    const std::size_t count = std::min(lanes_at_a_time, next.lanes - begin);
    for (std::size_t i = 0; i < n; ++i) {
      const double* from = input.state.feature(i) + begin;
      for (std::size_t l = 0; l < count; ++l) states[l][i] = from[l];
    }
    for (std::size_t l = 0; l < count; ++l) {
      std::ranges::transform(states[l], solved.begin(), [](double value) { return static_cast<float>(value); });
      solver.read(solved, flow);
      solver.run(input.theta(0, begin + l), input.theta(1, begin + l), flow);
      solver.write(flow, solved);
      stream.fill_normal(std::span<double>(noise));
      for (std::size_t i = 0; i < n; ++i) {
        states[l][i] = finite_or(static_cast<double>(solved[i]) + sigma * noise[i], solver.constants());
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      double* to = next.feature(i) + begin;
      for (std::size_t l = 0; l < count; ++l) to[l] = states[l][i];
    }
  }
}

}  // namespace catena::tasks::kolmogorov_flow
