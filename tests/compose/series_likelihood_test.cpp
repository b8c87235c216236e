// A density network whose weights make it exact: sums over a series against the closed form. And every density with
// random weights: sums over a series, however they are computed, against single transitions.
#include "catena/compose/density/series_likelihood.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "train/exact_density.h"

namespace catena::compose::series_likelihood_test {
namespace {

struct Trial {
  explicit Trial(std::size_t transitions, int threads = 1)
      : model(train::testing::exact_gaussian_rw(2)),
        density(model),
        series(train::testing::gaussian_rw_series(2, transitions, 4)),
        observed(observed_series("test", model, series, {})),
        likelihood(series_likelihood(density, observed, Parallel(threads))) {}

  model::TrainedModel model;
  model::DensityModel density;
  Matrix series;
  ObservedSeries observed;
  std::unique_ptr<SeriesDensity> likelihood;
};

Matrix points(std::size_t rows) {
  Matrix z(rows, 2);
  Streams(9).stream("z").fill_normal(z.values());
  return z;
}

TEST(SeriesLikelihood, IsTheClosedFormOfGaussianRw) {
  for (const std::size_t T : {1, 7, 100, 128, 129, 700}) {
    const Trial trial(T);
    const Matrix z = points(37);
    std::vector<double> out(z.rows());
    Matrix gradient(z.rows(), 2);
    trial.likelihood->evaluate(z, out, gradient);
    for (std::size_t k = 0; k < z.rows(); ++k) {
      double expected = -static_cast<double>(T) * std::log(2 * std::numbers::pi), size = 1;
      double slope[2] = {0, 0};
      for (std::size_t t = 0; t < T; ++t) {
        for (std::size_t i = 0; i < 2; ++i) {
          const double e = trial.series(t + 1, i) - 0.9 * trial.series(t, i) - z(k, i);
          expected -= 0.5 * e * e;
          size += 0.5 * e * e + std::abs(e);
          slope[i] += e;
        }
      }
      // Floats: residuals of some units with a rounding of 1e-6 of the states' scale of 10.
      EXPECT_NEAR(out[k], expected, 1e-5 * size) << T;
      for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(gradient(k, i), slope[i], 1e-5 * size) << T;
    }
  }
}

TEST(SeriesLikelihood, DoesNotDependOnThreadsOrOnTheOtherPoints) {
  for (const std::size_t T : {3, 100, 300}) {
    const Trial one(T, 1), two(T, 2);
    const Matrix z = points(21);
    std::vector<double> a(z.rows()), b(z.rows());
    Matrix gradient_a(z.rows(), 2), gradient_b(z.rows(), 2);
    one.likelihood->evaluate(z, a, gradient_a);
    two.likelihood->evaluate(z, b, gradient_b);
    EXPECT_EQ(a, b);
    EXPECT_EQ(gradient_a, gradient_b);
    std::vector<double> plain(z.rows());
    one.likelihood->evaluate(z, plain, {});
    EXPECT_EQ(a, plain);
    Matrix alone(1, 2);
    std::ranges::copy(z.row(13), alone.row(0).begin());
    std::vector<double> value(1);
    one.likelihood->evaluate(alone, value, {});
    EXPECT_EQ(value[0], a[13]);
  }
}

/// An untrained density of gaussian_rw in two dimensions, whose first state has a point mass at 0 if `atoms` says so.
model::TrainedModel untrained(const std::string& density, const std::string& atoms) {
  model::TrainedModel model = train::testing::exact_gaussian_rw(2);
  model::DensityModelSettings settings;
  settings.density.density = density;
  settings.density.width = 16;
  settings.density.z_width = 24;
  settings.density.layers = 2;
  settings.density.flow_layers = 2;
  settings.inputs = {"none", atoms, "none"};
  model.settings = to_json(settings);
  const model::DensityMap map(model.features, model.state_names, settings.inputs, false);
  const model::DensityGraph graph = model::record_density(settings.density, map.shape(2));
  model.networks.clear();
  model.main_network = density;
  model.networks[density].weights = model::named_weights(graph.graph, graph.graph.initial_weights(Streams(20)));
  return model;
}

TEST(EveryDensity, IsSummedOverSingleTransitions) {
  constexpr std::size_t T = 150, n = 5;
  for (const model::DensityKind& kind : model::densities()) {
    for (const bool atoms : {false, true}) {
      const model::TrainedModel model = untrained(
          std::string(kind.name), atoms ? train::testing::exact_gaussian_rw(2).state_names[0] + "=0" : "none");
      const model::DensityModel density(model);
      Matrix series = train::testing::gaussian_rw_series(2, T, 4);
      for (std::size_t t = 1; t <= T; t += 7) series(t, 0) = 0;
      const ObservedSeries observed = observed_series("test", model, series, {});
      const Matrix z = points(n);
      std::vector<double> all(n), one(n), sum(n), size(n);
      Matrix gradient(n, 2);
      series_likelihood(density, observed, Parallel(1))->evaluate(z, all, gradient);
      for (std::size_t t = 0; t < T; ++t) {
        ObservedSeries single = observed;
        single.c = Matrix(1, observed.c.cols());
        std::ranges::copy(observed.c.row(t), single.c.row(0).begin());
        series_likelihood(density, single, Parallel(1))->evaluate(z, one, {});
        for (std::size_t k = 0; k < n; ++k) sum[k] += one[k], size[k] += std::abs(one[k]);
      }
      for (std::size_t k = 0; k < n; ++k) EXPECT_NEAR(all[k], sum[k], 1e-5 * size[k]) << kind.name << " " << atoms;
      // Central differences of the whole: floats, so 1e-2 leaves some 1e-3 of the sum's size in a slope.
      for (std::size_t f = 0; f < 2; ++f) {
        Matrix moved = z;
        for (std::size_t k = 0; k < n; ++k) moved(k, f) += 0.01;
        series_likelihood(density, observed, Parallel(1))->evaluate(moved, one, {});
        for (std::size_t k = 0; k < n; ++k) moved(k, f) -= 0.02;
        series_likelihood(density, observed, Parallel(1))->evaluate(moved, sum, {});
        for (std::size_t k = 0; k < n; ++k) {
          EXPECT_NEAR(gradient(k, f), (one[k] - sum[k]) / 0.02, 3e-3 * size[k]) << kind.name << " " << atoms;
        }
      }
    }
  }
}

/// The separable density's sums against its network as it is recorded for training, one transition at a time.
TEST(SeriesLikelihood, OfASeparableDensityIsThatOfItsNetwork) {
  const std::string atom = train::testing::exact_gaussian_rw(2).state_names[0] + "=0";
  for (const std::string& atoms : {std::string("none"), atom}) {
    const model::TrainedModel model = untrained("separable", atoms);
    const model::DensityModel density(model);
    constexpr std::size_t T = 40;
    Matrix series = train::testing::gaussian_rw_series(2, T, 4);
    for (std::size_t t = 1; t <= T; t += 7) series(t, 0) = 0;
    const ObservedSeries observed = observed_series("test", model, series, {});
    const auto likelihood = series_likelihood(density, observed, Parallel(1));
    EXPECT_EQ(likelihood->costs_grow(), atoms != "none");
    const Matrix z = points(3);
    std::vector<double> all(3);
    likelihood->evaluate(z, all, {});
    const model::DensityGraph graph = model::record_density(density.settings.density, density.shape);
    std::vector<float> c(observed.c.cols()), state(density.shape.state_inputs), v(2), a(density.shape.atoms),
        keep(2, 1);
    for (std::size_t k = 0; k < 3; ++k) {
      double expected = 0;
      for (std::size_t t = 0; t < T; ++t) {
        std::ranges::copy(observed.c.row(t), c.begin());
        density.map.state(c.data(), state);
        density.map.increment(c.data(), {}, v, a, keep);
        nn::Workspace workspace(graph.graph, 1, nn::Purpose::inference());
        const auto put = [&](nn::Value value, const auto& values) {
          for (std::size_t f = 0; f < values.size(); ++f) {
            workspace.value(value, 1)(f, 0) = static_cast<float>(values[f]);
          }
        };
        put(graph.inputs.z, z.row(k));
        put(graph.inputs.state, state);
        put(graph.inputs.v, v);
        if (!a.empty()) put(graph.inputs.atom, a), put(graph.inputs.keep, keep);
        workspace.forward(model::flat_weights(graph.graph, density.weights(), "test"), 1);
        const double kept = keep[0] + keep[1];
        expected += density.map.log_jacobian(c.data(), keep) - 0.5 * kept * std::log(2 * std::numbers::pi) -
                    static_cast<double>(workspace.value(graph.loss, 1)(0, 0));
      }
      EXPECT_NEAR(all[k], expected, 1e-5 * (1 + std::abs(expected))) << atoms;
    }
  }
}

}  // namespace
}  // namespace catena::compose::series_likelihood_test
