#include "catena/compose/series_likelihood.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace catena::compose {
namespace {

/// The density's network with the series' transitions as its inputs; `constant` is what its values lack.
TransitionNetwork density_network(const train::DensityModel& model, const ObservedSeries& series, double& constant) {
  const train::DensityShape& shape = model.shape;
  const std::size_t transitions = series.transitions();
  Matrix state_rows(transitions, shape.state_inputs), v_rows(transitions, shape.states),
      atom_rows(transitions, shape.atoms), keep_rows(transitions, shape.atoms > 0 ? shape.states : 0);
  std::vector<float> c(series.c.cols()), state(state_rows.cols()), v(v_rows.cols()), atom(atom_rows.cols()),
      keep(keep_rows.cols());
  constant = 0;
  for (std::size_t t = 0; t < transitions; ++t) {
    std::ranges::transform(series.c.row(t), c.begin(), [](double value) { return static_cast<float>(value); });
    model.map.state(c.data(), state);
    model.map.increment(c.data(), {}, v, atom, keep);
    std::ranges::copy(state, state_rows.row(t).begin());
    std::ranges::copy(v, v_rows.row(t).begin());
    std::ranges::copy(atom, atom_rows.row(t).begin());
    std::ranges::copy(keep, keep_rows.row(t).begin());
    double kept = static_cast<double>(shape.states);
    for (const float value : keep) kept -= value == 0 ? 1 : 0;
    constant += model.map.log_jacobian(keep) - 0.5 * kept * std::log(2 * std::numbers::pi);
  }
  train::DensityGraph density = train::record_density(model.settings.density, shape, SeriesSum::z_lanes(transitions));
  TransitionNetwork network{std::move(density.graph), density.inputs.z, density.loss, -1};
  network.inputs.push_back({density.inputs.state, std::move(state_rows)});
  network.inputs.push_back({density.inputs.v, std::move(v_rows)});
  if (shape.atoms > 0) {
    network.inputs.push_back({density.inputs.atom, std::move(atom_rows)});
    network.inputs.push_back({density.inputs.keep, std::move(keep_rows)});
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
