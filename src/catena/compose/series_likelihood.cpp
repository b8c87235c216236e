#include "catena/compose/series_likelihood.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "catena/compose/density_rows.h"

namespace catena::compose {
namespace {

/// The density's network with the series' transitions as its inputs; `constant` is what its values lack.
TransitionNetwork density_network(const train::DensityModel& model, const ObservedSeries& series, double& constant) {
  const train::DensityShape& shape = model.shape;
  const std::size_t transitions = series.transitions();
  DensityRows rows = density_rows(model.map, shape, series);
  std::vector<float> keep(rows.keep.cols());
  constant = 0;
  for (std::size_t t = 0; t < transitions; ++t) {
    std::ranges::transform(rows.keep.row(t), keep.begin(), [](double value) { return static_cast<float>(value); });
    const auto dropped = static_cast<std::size_t>(std::ranges::count(keep, 0.0F));
    constant += model.map.log_jacobian(keep) -
                0.5 * static_cast<double>(shape.states - dropped) * std::log(2 * std::numbers::pi);
  }
  train::DensityGraph density = train::record_density(model.settings.density, shape, SeriesSum::z_lanes(transitions));
  TransitionNetwork network{std::move(density.graph), density.inputs.z, density.loss, -1};
  network.inputs.push_back({density.inputs.state, std::move(rows.state)});
  network.inputs.push_back({density.inputs.v, std::move(rows.v)});
  if (shape.atoms > 0) {
    network.inputs.push_back({density.inputs.atom, std::move(rows.atom)});
    network.inputs.push_back({density.inputs.keep, std::move(rows.keep)});
  }
  return network;
}

}  // namespace

SeriesLikelihood::SeriesLikelihood(const train::DensityModel& model, const ObservedSeries& series, Parallel parallel)
    : transitions_(series.transitions()),
      sum_(density_network(model, series, constant_), model.weights(), model.model->source, transitions_,
           std::move(parallel)) {}

void SeriesLikelihood::evaluate(ConstMatrixView z, std::span<double> out, MatrixView gradient) const {
  sum_.evaluate(z, out, gradient);
  for (double& value : out.first(z.rows)) value += constant_;
}

}  // namespace catena::compose
