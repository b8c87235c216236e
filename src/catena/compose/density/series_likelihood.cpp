#include "catena/compose/density/series_likelihood.h"

#include <algorithm>
#include <vector>

#include "catena/compose/density/density_rows.h"
#include "catena/compose/density/joined_density.h"
#include "catena/compose/density/separable_sum.h"
#include "catena/compose/density/series_sum.h"
#include "catena/core/check.h"

namespace catena::compose {
namespace {

double log_constant(const model::DensityModel& model, const DensityRows& rows) {
  double sum = 0;
  for (const double constant : density_constants(model.shape, rows)) sum += constant;
  return sum;
}

/// A density and a constant.
class Shifted final : public SeriesDensity {
 public:
  Shifted(std::unique_ptr<SeriesDensity> density, double constant)
      : density_(std::move(density)), constant_(constant) {}
  std::size_t dimension() const override { return density_->dimension(); }
  bool costs_grow() const override { return density_->costs_grow(); }
  void evaluate(ConstMatrixView z, std::span<double> out, MatrixView gradient) const override {
    density_->evaluate(z, out, gradient);
    for (double& value : out.first(z.rows)) value += constant_;
  }

 private:
  std::unique_ptr<SeriesDensity> density_;
  double constant_;
};

/// Σ_t of minus a recorded loss, with the series' transitions as its inputs.
std::unique_ptr<SeriesDensity> summed(const model::DensityModel& model, model::DensityGraph density,
                                      const DensityRows& rows, const Parallel& parallel) {
  TransitionNetwork network{std::move(density.graph), density.inputs.z, density.loss, -1};
  const auto input = [&](nn::Value value, const Matrix& values) {
    if (value.node >= 0) network.inputs.push_back({value, values});
  };
  input(density.inputs.state, rows.state);
  input(density.inputs.v, rows.v);
  input(density.inputs.atom, rows.atom);
  input(density.inputs.keep, rows.keep);
  return std::make_unique<SeriesSum>(std::move(network), model.weights(), model.model->source, rows.v.rows(), parallel);
}

/// Σ of what the separable density's part of (s, u) gives for each transition, as one row.
Matrix separable_row(const model::DensityModel& model, const model::SeparableGaussian& gaussian,
                     const DensityRows& rows) {
  nn::Graph of_c;
  const nn::Value state = of_c.input("state", model.shape.state_inputs),
                  v = of_c.input("increment", model.shape.states);
  std::vector<model::RowInput> inputs{{state, rows.state}, {v, rows.v}};
  nn::Value keep;
  if (model.shape.atoms > 0) {
    keep = of_c.input("keep", model.shape.states);
    inputs.push_back({keep, rows.keep});
  }
  const nn::Value psi =
      model::record_gaussian_summary(of_c, gaussian, model::record_state(of_c, gaussian, state), v, keep);
  return separable_sums(layout_of(gaussian), model::run_rows(of_c, inputs, psi, model.weights(), model.model->source));
}

std::unique_ptr<SeriesDensity> separable_likelihood(const model::DensityModel& model,
                                                    const model::SeparableGaussian& gaussian, Matrix sums,
                                                    const Parallel& parallel) {
  SeparablePart part;
  part.layout = layout_of(gaussian);
  part.z = part.graph.input("z", model.shape.parameters);
  part.phi = model::record_gaussian_coefficients(part.graph, gaussian, part.z);
  part.sums = std::move(sums);
  auto sum = std::make_unique<SeparableSum>(parallel);
  sum->add(std::move(part), model.weights(), model.model->source);
  return sum;
}

}  // namespace

std::unique_ptr<SeriesDensity> series_likelihood(const model::DensityModel& model, const ObservedSeries& series,
                                                 const Parallel& parallel) {
  const DensityRows rows = density_rows(model.map, model.shape, series);
  const nn::Lanes z_lanes = SeriesSum::z_lanes(series.transitions());
  std::vector<std::unique_ptr<SeriesDensity>> parts;
  const model::DensitySettings& density = model.settings.density;
  if (const auto parts_of = model::densities().at("sample", density.density).separable; parts_of != nullptr) {
    const model::SeparableGaussian gaussian = parts_of(density, model.shape);
    parts.push_back(separable_likelihood(model, gaussian, separable_row(model, gaussian, rows), parallel));
    if (model.shape.atoms > 0) {
      parts.push_back(summed(model, model::record_atom_cost(model.shape, z_lanes), rows, parallel));
    }
  } else {
    parts.push_back(summed(model, model::record_density(density, model.shape, z_lanes), rows, parallel));
  }
  return std::make_unique<Shifted>(joined_density(std::move(parts)), log_constant(model, rows));
}

SeriesSums likelihood_sums(const model::DensityModel& model, const ObservedSeries& series) {
  const model::DensitySettings& density = model.settings.density;
  const auto parts_of = model::densities().at("sample", density.density).separable;
  check::that(parts_of != nullptr, "sample", "the density of a streaming model", density.density, "separable");
  check::equal("sample", "the number of point masses of a streaming model", model.shape.atoms, std::size_t{0});
  Matrix constant(1, 1);
  const DensityRows rows = density_rows(model.map, model.shape, series);
  constant(0, 0) = log_constant(model, rows);
  return {{"likelihood", separable_row(model, parts_of(density, model.shape), rows)}, {"constant", constant}};
}

std::unique_ptr<SeriesDensity> likelihood_of_sums(const model::DensityModel& model, const SeriesSums& sums,
                                                  const Parallel& parallel) {
  const model::DensitySettings& density = model.settings.density;
  const model::SeparableGaussian gaussian =
      model::densities().at("sample", density.density).separable(density, model.shape);
  return std::make_unique<Shifted>(separable_likelihood(model, gaussian, sums.at("likelihood"), parallel),
                                   sums.at("constant")(0, 0));
}

}  // namespace catena::compose
