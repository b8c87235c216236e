/// A density model of gaussian_rw whose weights are set by hand, so that the network is the exact density: with
/// v = Δ/s and Δ = −0.1 x + θ + ε, ε ~ N(0, I), the Gaussian of nn/gaussian.h has l = log s and b = θ − 0.1 x.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "catena/model/density/density_model.h"
#include "catena/tasks/gaussian_rw/gaussian_rw.h"

namespace catena::train::testing {

inline model::TrainedModel exact_gaussian_rw(std::size_t n) {
  const tasks::Task task = tasks::gaussian_rw::make({.dim = static_cast<int>(n)});
  simulate::SimulationPlan plan;
  plan.proposal = task.fixed_proposal;
  plan.budget = 500;
  const simulate::TransitionSet set = simulate::simulate(task, plan, Parallel(1), silent_progress());
  model::TrainedModel model;
  model.method = "fnle";
  model.prior = set.prior;
  model.state_names = set.state_names;
  model.features = model::Features(set);
  model::DensityModelSettings settings;
  settings.density.density = "gaussian";
  settings.density.width = 4;
  settings.density.layers = 1;
  settings.density.terms = static_cast<int>(2 * n);
  settings.inputs = {"none", "none", "none"};
  model.settings = to_json(settings);

  const model::DensityMap map(model.features, model.state_names, settings.inputs, false);
  const model::DensityGraph density = model::record_density(settings.density, map.shape(n));
  AlignedVector<float> weights(density.graph.parameter_count(), 0.0F);
  const auto set_weight = [&](const std::string& name, std::size_t row, std::size_t col, double value) {
    const auto& all = density.graph.parameters();
    const auto info = std::ranges::find(all, "gaussian." + name, &nn::ParameterInfo::name);
    weights[info->offset + row * info->cols + col] = static_cast<float>(value);
  };
  for (std::size_t i = 0; i < n; ++i) {
    const model::Feature& x = model.features.all()[i];
    set_weight("psi.linear.bias", i, 0, 1);  // 1 · z_i
    set_weight("phi.linear.weight", i, i, 1);
    set_weight("psi.linear.weight", n + i, i, 1);  // x_i · 1
    set_weight("phi.linear.bias", n + i, 0, 1);
    set_weight("out.weight", i, 4 + i, 1);
    set_weight("out.weight", i, 4 + n + i, -0.1 * x.scale);
    set_weight("out.bias", i, 0, -0.1 * x.mean);
    set_weight("out.bias", n + i, 0, std::log(model.features.all()[n + i].scale));
  }
  model.networks["gaussian"].weights = model::named_weights(density.graph, weights);
  return model;
}

/// A series of gaussian_rw for θ drawn from the prior.
inline Matrix gaussian_rw_series(std::size_t n, std::size_t transitions, std::uint64_t seed) {
  Stream stream = Streams(seed).stream("series");
  Matrix series(transitions + 1, n);
  std::vector<double> theta(n);
  for (double& value : theta) value = stream.normal();
  for (std::size_t t = 0; t < transitions; ++t) {
    for (std::size_t i = 0; i < n; ++i) series(t + 1, i) = 0.9 * series(t, i) + theta[i] + stream.normal();
  }
  return series;
}

}  // namespace catena::train::testing
