// The log ratio of a series: the sum of its transitions' ratios, however it is computed.
#include "catena/compose/density/series_ratio.h"

#include <gtest/gtest.h>

#include <cmath>

#include "train/exact_density.h"

namespace catena::compose::series_ratio_test {
namespace {

/// Untrained networks: their values are as good as any.
model::TrainedModel untrained(const std::string& network) {
  const model::TrainedModel walk = train::testing::exact_gaussian_rw(2);
  model::TrainedModel model;
  model.method = "fnre";
  model.prior = walk.prior;
  model.state_names = walk.state_names;
  model.features = walk.features;
  model::RatioModelSettings settings;
  settings.network.network = network;
  settings.network.width = 16;
  settings.network.terms = 7;
  settings.network.squares = 2;
  settings.network.square_terms = 3;
  settings.logarithms = "none";
  settings.whiten = false;
  settings.ensemble = 3;
  model.settings = to_json(settings);
  const model::RatioMap map(model.features, model.state_names, "none");
  for (int k = 0; k < 3; ++k) {
    const model::RatioGraph ratio = model::record_ratio(settings.network, map.shape(2));
    model.networks[model::ratio_name(k)].weights =
        model::named_weights(ratio.graph, ratio.graph.initial_weights(Streams(20 + static_cast<std::uint64_t>(k))));
  }
  return model;
}

struct Trial {
  Trial(const std::string& network, std::size_t transitions, int threads = 1)
      : model(untrained(network)),
        ratio(model),
        series(train::testing::gaussian_rw_series(2, transitions, 4)),
        observed(observed_series("test", model, series, {})),
        sum(series_ratio(ratio, observed, Parallel(threads))) {}

  model::TrainedModel model;
  model::RatioModel ratio;
  Matrix series;
  ObservedSeries observed;
  std::unique_ptr<SeriesDensity> sum;
};

Matrix points(std::size_t rows) {
  Matrix z(rows, 2);
  Streams(9).stream("z").fill_normal(z.values());
  return z;
}

/// One transition and one z at a time, by the network as it is recorded for a single transition.
double single(const model::RatioModel& model, ConstMatrixView c, std::span<const double> z) {
  const model::RatioGraph graph = model::record_ratio(model.settings.network, model.shape);
  std::vector<float> features(c.cols), s(model.shape.state), t(model.shape.increment);
  std::ranges::copy(c.row(0), features.begin());
  model.map.state(features.data(), s);
  model.map.increment(features.data(), t);
  nn::Workspace workspace(graph.graph, 1, nn::Purpose::inference());
  for (std::size_t f = 0; f < s.size(); ++f) workspace.value(graph.inputs.state, 1)(f, 0) = s[f];
  for (std::size_t f = 0; f < t.size(); ++f) workspace.value(graph.inputs.increment, 1)(f, 0) = t[f];
  for (std::size_t f = 0; f < 2; ++f) workspace.value(graph.inputs.z, 1)(f, 0) = static_cast<float>(z[f]);
  double mean = 0;
  for (int k = 0; k < model.settings.ensemble; ++k) {
    workspace.forward(model::flat_weights(graph.graph, model.weights(k), "test"), 1);
    mean += workspace.value(graph.ratio, 1)(0, 0) / static_cast<double>(model.settings.ensemble);
  }
  return mean;
}

TEST(SeriesRatio, IsTheSumOverSingleTransitions) {
  for (const char* network : {"gaussian", "separable", "joint"}) {
    for (const std::size_t T : {1, 7, 130}) {
      const Trial trial(network, T);
      const Matrix z = points(5);
      std::vector<double> out(z.rows());
      trial.sum->evaluate(z, out, {});
      for (std::size_t i = 0; i < z.rows(); ++i) {
        double expected = 0, size = 1;
        for (std::size_t t = 0; t < T; ++t) {
          const double r = single(trial.ratio, {trial.observed.c.row(t).data(), 1, trial.observed.c.cols()}, z.row(i));
          expected += r;
          size += std::abs(r);
        }
        // Each ratio is a float of a network of some hundred sums: 1e-5 of the largest term, which is of order ten.
        EXPECT_NEAR(out[i], expected, 1e-5 * (size + 10 * static_cast<double>(T))) << network << " " << T;
      }
    }
  }
}

/// Central differences of single-precision values: h = 0.01 leaves a rounding of 1e-6 · size/h and h² of curvature.
TEST(SeriesRatio, HasItsGradient) {
  for (const char* network : {"gaussian", "separable", "joint"}) {
    const Trial trial(network, 20);
    const Matrix z = points(9);
    std::vector<double> out(z.rows()), up(z.rows()), down(z.rows());
    Matrix gradient(z.rows(), 2);
    trial.sum->evaluate(z, out, gradient);
    for (std::size_t f = 0; f < 2; ++f) {
      constexpr double h = 0.01;
      Matrix above = z, below = z;
      for (std::size_t i = 0; i < z.rows(); ++i) {
        above(i, f) += h;
        below(i, f) -= h;
      }
      trial.sum->evaluate(above, up, {});
      trial.sum->evaluate(below, down, {});
      for (std::size_t i = 0; i < z.rows(); ++i) {
        const double scale = 1 + std::abs(out[i]) + std::abs(gradient(i, 0)) + std::abs(gradient(i, 1));
        EXPECT_NEAR(gradient(i, f), (up[i] - down[i]) / (2 * h), 3e-3 * scale) << network;
      }
    }
  }
}

TEST(SeriesRatio, DoesNotDependOnThreadsOrOnTheOtherPoints) {
  for (const char* network : {"gaussian", "separable", "joint"}) {
    const Matrix z = points(300);
    const Trial one(network, 50, 1);
    std::vector<double> a(z.rows()), b(z.rows());
    Matrix gradient_a(z.rows(), 2), gradient_b(z.rows(), 2);
    one.sum->evaluate(z, a, gradient_a);
    for (const int threads : {2, 5}) {
      const Trial other(network, 50, threads);
      other.sum->evaluate(z, b, gradient_b);
      EXPECT_EQ(a, b);
      EXPECT_EQ(gradient_a, gradient_b);
    }
    std::vector<double> value(1);
    Matrix alone(1, 2);
    std::ranges::copy(z.row(13), alone.row(0).begin());
    one.sum->evaluate(alone, value, {});
    EXPECT_EQ(value[0], a[13]);
  }
}

}  // namespace
}  // namespace catena::compose::series_ratio_test
