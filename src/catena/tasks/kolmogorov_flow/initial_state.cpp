#include <algorithm>
#include <cmath>

#include "catena/tasks/kolmogorov_flow/solver.h"

namespace catena::tasks::kolmogorov_flow {

namespace {

constexpr double log_variance = 0.25;  // s²
constexpr int rounds = 3;              // of projection and scaling, which disturb each other

/// e^(−(log k − log k₀ − s²)²/2s²)/k² for every pair of columns of W, 0 for the mean.
std::vector<float> spectrum(const Solver& solver, double peak) {
  std::vector<float> result;
  for (const int a : solver.wavenumbers()) {
    for (const int b : solver.wavenumbers()) {
      const double k = std::hypot(a, b), distance = std::log(k) - std::log(peak) - log_variance;
      result.push_back(k == 0 ? 0.0F
                              : static_cast<float>(std::exp(-0.5 * distance * distance / log_variance) / (k * k)));
    }
  }
  return result;
}

/// (u*, v*) = scale (u, v), of which the largest speed becomes `largest`; u and v at the same index.
void scale_to(double largest, std::span<float> velocity) {
  const std::size_t half = velocity.size() / 2;
  float most = 0;
  for (std::size_t i = 0; i < half; ++i) most = std::max(most, std::hypot(velocity[i], velocity[half + i]));
  for (float& value : velocity) value *= static_cast<float>(largest) / most;
}

}  // namespace

void initial_state(const Solver& solver, const Options& options, Stream& stream, std::span<double> state) {
  Flow flow(solver.side());
  const std::vector<float> filter = spectrum(solver, options.peak_wavenumber);
  std::vector<float> velocity(state.size());
  stream.fill_normal(std::span<float>(velocity));
  solver.read(std::span<const float>(velocity), flow);
  for (Field* field : {&flow.u, &flow.v}) solver.filter(filter, *field, flow.work);
  solver.write(flow, std::span<float>(velocity));
  for (int round = 0; round < rounds; ++round) {
    solver.read(std::span<const float>(velocity), flow);
    std::swap(flow.u, flow.u_star);
    std::swap(flow.v, flow.v_star);
    solver.project(flow);
    solver.write(flow, std::span<float>(velocity));
    scale_to(options.largest_speed, velocity);
  }
  std::ranges::copy(velocity, state.begin());
}

}  // namespace catena::tasks::kolmogorov_flow
