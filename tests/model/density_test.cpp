// Every density of the registry with random weights: it integrates to one, its draws follow it, and its gradient in z
// is that of differences.
#include "catena/model/density/density.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "catena/nn/execute.h"

namespace catena::model::density_test {
namespace {

/// A density with random weights at one context (x^t, z).
struct Trial {
  Trial(const DensityKind& kind, DensityShape the_shape) : shape(the_shape) {
    settings.density = kind.name;
    settings.width = 16;
    settings.layers = 2;
    settings.terms = 4;
    settings.components = 3;
    settings.flow_layers = 3;
    settings.flow_width = 12;
    settings.bins = 4;
    density = record_density(settings, shape);
    weights = density.graph.initial_weights(Streams(5));
    // Outputs start small on purpose; here they are to bend the density.
    for (const nn::ParameterInfo& info : density.graph.parameters()) {
      if (info.name.find(".out.weight") == std::string::npos) continue;
      for (std::size_t k = 0; k < info.size(); ++k) weights[info.offset + k] *= info.scale < 1 ? 6.0F : 1.0F;
    }
    workspace = std::make_unique<nn::Workspace>(density.graph, 128, nn::Purpose{.input_gradients = {density.inputs.z}});
    z.resize(shape.parameters);
    state.resize(shape.state_inputs);
    Stream stream = Streams(6).stream("context");
    stream.fill_normal(std::span<float>(z));
    stream.fill_normal(std::span<float>(state));
  }

  /// log q at rows of v; `atom` marks the first coordinate as sitting at its atom.
  std::vector<double> log_density(const Matrix& v, bool atom = false) {
    std::vector<double> out(v.rows());
    for (std::size_t begin = 0; begin < v.rows(); begin += 128) {
      const std::size_t lanes = std::min<std::size_t>(128, v.rows() - begin);
      write(lanes, atom, [&](std::size_t f, std::size_t l) { return v(begin + l, f); });
      workspace->forward(weights, lanes);
      for (std::size_t l = 0; l < lanes; ++l) out[begin + l] = log_value(l, lanes, atom);
    }
    return out;
  }

  template <class V>
  void write(std::size_t lanes, bool atom, const V& v) {
    const auto fill = [&](nn::Value value, const auto& at) {
      const Block block = workspace->value(value, lanes);
      for (std::size_t f = 0; f < block.features; ++f) {
        for (std::size_t l = 0; l < lanes; ++l) block(f, l) = static_cast<float>(at(f, l));
      }
    };
    fill(density.inputs.z, [&](std::size_t f, std::size_t) { return z[f]; });
    fill(density.inputs.state, [&](std::size_t f, std::size_t) { return state[f]; });
    fill(density.inputs.v, v);
    if (shape.atoms == 0) return;
    fill(density.inputs.atom, [&](std::size_t, std::size_t) { return atom ? 1.0 : 0.0; });
    fill(density.inputs.keep, [&](std::size_t f, std::size_t) { return atom && f == 0 ? 0.0 : 1.0; });
  }

  double log_value(std::size_t lane, std::size_t lanes, bool atom) {
    const double kept = static_cast<double>(shape.states) - (atom ? 1 : 0);
    return -workspace->value(density.loss, lanes)(0, lane) - 0.5 * kept * std::log(2 * std::numbers::pi);
  }

  NamedWeights named() const { return named_weights(density.graph, weights); }

  DensitySettings settings;
  DensityShape shape;
  DensityGraph density;
  AlignedVector<float> weights;
  std::unique_ptr<nn::Workspace> workspace;
  std::vector<float> z, state;
};

// The trapezoidal rule converges at the rate of the integrand's spectrum; 0.01 is far below every density's scale.
// Splines have kinks in their slopes, whose error is of second order: 1e-3 covers it and the floats.
constexpr double bound_1d = 30, step_1d = 0.01;
constexpr double bound_2d = 14, step_2d = 0.05;

TEST(EveryDensity, IntegratesToOneInOneDimension) {
  for (const DensityKind& kind : densities()) {
    Trial trial(kind, {.states = 1, .state_inputs = 2, .parameters = 2});
    const auto count = static_cast<std::size_t>(2 * bound_1d / step_1d);
    Matrix v(count, 1);
    for (std::size_t k = 0; k < count; ++k) v(k, 0) = -bound_1d + step_1d * static_cast<double>(k);
    double sum = 0;
    for (const double log_q : trial.log_density(v)) sum += step_1d * std::exp(log_q);
    EXPECT_NEAR(sum, 1, 1e-3) << kind.name;
  }
}

Matrix grid_2d() {
  const auto side = static_cast<std::size_t>(2 * bound_2d / step_2d);
  Matrix v(side * side, 2);
  for (std::size_t k = 0; k < v.rows(); ++k) {
    v(k, 0) = -bound_2d + step_2d * std::floor(static_cast<double>(k) / static_cast<double>(side));
    v(k, 1) = -bound_2d + step_2d * static_cast<double>(k % side);
  }
  return v;
}

TEST(EveryDensity, IntegratesToOneInTwoDimensions) {
  const Matrix v = grid_2d();
  for (const DensityKind& kind : densities()) {
    Trial trial(kind, {.states = 2, .state_inputs = 3, .parameters = 2});
    double sum = 0;
    for (const double log_q : trial.log_density(v)) sum += step_2d * step_2d * std::exp(log_q);
    EXPECT_NEAR(sum, 1, 3e-3) << kind.name;
  }
}

TEST(EveryDensity, WithAnAtomHasMassOneInAll) {
  const Matrix v = grid_2d();
  const auto side = static_cast<std::size_t>(2 * bound_2d / step_2d);
  for (const DensityKind& kind : densities()) {
    if (kind.noise_at_atoms) continue;  // a flow learns that noise at an atom is independent noise
    Trial trial(kind, {.states = 2, .state_inputs = 3, .parameters = 2, .atoms = 1});
    double sum = 0;
    for (const double log_q : trial.log_density(v)) sum += step_2d * step_2d * std::exp(log_q);
    Matrix at_atom(side, 2);  // the first coordinate at its atom, the second free
    for (std::size_t k = 0; k < side; ++k) {
      at_atom(k, 0) = 0.7;
      at_atom(k, 1) = -bound_2d + step_2d * static_cast<double>(k);
    }
    for (const double log_q : trial.log_density(at_atom, true)) sum += step_2d * std::exp(log_q);
    EXPECT_NEAR(sum, 1, 3e-3) << kind.name;
  }
}

/// Both marginals of draws against the density summed over the grid, by Kolmogorov and Smirnov's distance: 1.95/√n is
/// exceeded once in a thousand; 8 comparisons with fixed seeds.
TEST(EveryDensity, DrawsFollowIt) {
  const Matrix v = grid_2d();
  const auto side = static_cast<std::size_t>(2 * bound_2d / step_2d);
  constexpr std::size_t n = 4000;
  for (const DensityKind& kind : densities()) {
    Trial trial(kind, {.states = 2, .state_inputs = 3, .parameters = 2});
    const std::vector<double> log_q = trial.log_density(v);
    Matrix z(n, 2), state(n, 3), keep(n, 2), draws(n, 2);
    for (std::size_t r = 0; r < n; ++r) {
      std::ranges::copy(trial.z, z.row(r).begin());
      std::ranges::copy(trial.state, state.row(r).begin());
      std::ranges::fill(keep.row(r), 1.0);
    }
    kind.draw(trial.settings, trial.shape, trial.named(), "test", {z, state, Matrix(n, 0), keep},
              Streams(7).stream("draws"), draws);
    for (std::size_t i = 0; i < 2; ++i) {
      std::vector<double> mass(side, 0.0), sorted(n);
      for (std::size_t k = 0; k < v.rows(); ++k) {
        mass[i == 0 ? k / side : k % side] += step_2d * step_2d * std::exp(log_q[k]);
      }
      for (std::size_t r = 0; r < n; ++r) sorted[r] = draws(r, i);
      std::ranges::sort(sorted);
      double below = 0, distance = 0;
      for (std::size_t k = 0; k < side; ++k) {
        below += mass[k];
        const double edge = -bound_2d + step_2d * (static_cast<double>(k) + 0.5);
        const auto drawn = static_cast<double>(std::ranges::lower_bound(sorted, edge) - sorted.begin());
        distance = std::max(distance, std::abs(below - drawn / n));
      }
      EXPECT_LT(distance, 1.95 / std::sqrt(n) + 3e-3) << kind.name << ", coordinate " << i;
    }
  }
}

TEST(EveryDensity, GradientInZIsThatOfDifferences) {
  for (const DensityKind& kind : densities()) {
    Trial trial(kind, {.states = 2, .state_inputs = 3, .parameters = 3, .atoms = 1});
    Matrix v(5, 2);
    Streams(8).stream("v").fill_normal(v.values());
    constexpr std::size_t lanes = 5;
    trial.log_density(v);
    std::fill_n(trial.workspace->gradient(trial.density.loss, lanes).data, lanes, -1.0F);
    trial.workspace->reverse(trial.weights, lanes, trial.density.loss, {});
    const Block found = trial.workspace->gradient(trial.density.inputs.z, lanes);
    std::vector<std::vector<double>> gradient(3, std::vector<double>(lanes));
    for (std::size_t f = 0; f < 3; ++f) {
      for (std::size_t l = 0; l < lanes; ++l) gradient[f][l] = found(f, l);
    }
    // Floats: a value's rounding is some 1e-6, so that a step of 1e-2 leaves 2e-4 of it and some 1e-3 of curvature.
    constexpr float step = 1e-2F;
    for (std::size_t f = 0; f < 3; ++f) {
      const float at = trial.z[f];
      trial.z[f] = at + step;
      const auto up = trial.log_density(v);
      trial.z[f] = at - step;
      const auto down = trial.log_density(v);
      trial.z[f] = at;
      for (std::size_t l = 0; l < lanes; ++l) {
        const double difference = (up[l] - down[l]) / (2 * step);
        EXPECT_NEAR(gradient[f][l], difference, 0.01 * (1 + std::abs(difference))) << kind.name << " " << f;
      }
    }
  }
}

}  // namespace
}  // namespace catena::model::density_test
