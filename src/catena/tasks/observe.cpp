#include "catena/tasks/observe.h"

#include <algorithm>
#include <limits>

#include "catena/core/check.h"

namespace catena::tasks {

Observation observe(std::string_view function, const Task& task, std::size_t transitions, std::uint64_t seed,
                    std::span<const double> theta, std::span<const Matrix> covariates) {
  const std::size_t d = task.prior.size();
  Stream stream = Streams(seed).stream("observe");
  Observation observation;
  observation.z.resize(d);
  Matrix parameters(1, d);
  stream.fill_normal(
      observation.z);  // drawn even if θ is given, so that the series depends on the seed in the same way
  if (theta.empty()) {
    task.prior.to_theta(observation.z, parameters.row(0));
  } else {
    check::equal(function, "the number of values of --theta", theta.size(), d);
    check::all_finite(function, "--theta", theta);
    task.prior.to_z(theta, observation.z);
    std::ranges::copy(theta, parameters.row(0).begin());
  }
  observation.theta.assign(parameters.row(0).begin(), parameters.row(0).end());
  const std::span<const Matrix> tables = simulate::tables_for(function, task, covariates);
  observation.series = simulate::simulate_series(task, parameters, transitions, stream, tables).front();
  for (const double value : observation.series.values()) {
    check::that(std::isfinite(value), function, "a state of the series", value, "finite: try another seed or --theta");
  }
  if (task.simulator.uses_time) {
    for (std::size_t t = 0; t <= transitions; ++t) observation.times.push_back(static_cast<double>(t));
  }
  if (!tables.empty()) {
    const Matrix& table = tables.front();
    observation.covariates = Matrix(observation.series.rows(), table.cols());
    for (std::size_t t = 0; t < observation.covariates.rows(); ++t) {
      std::ranges::copy(table.row(t % table.rows()), observation.covariates.row(t).begin());
    }
  }
  return observation;
}

std::size_t lose_states(Observation& observation, const Task& task, double share, std::uint64_t seed) {
  Stream stream = Streams(seed).stream("missing");
  std::size_t lost = 0;
  for (std::size_t t = task.simulator.order; share > 0 && t < observation.series.rows(); ++t) {
    if (stream.uniform() >= share) continue;
    std::ranges::fill(observation.series.row(t), std::numeric_limits<double>::quiet_NaN());
    ++lost;
  }
  return lost;
}

}  // namespace catena::tasks
