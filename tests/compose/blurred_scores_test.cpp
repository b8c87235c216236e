// Scores as gradients of a likelihood with blurred parameters (model/density/blur.h), on gaussian_rw, where q_τ is
// known: Δ | x, ẑ ~ N(ẑ − 0.1 x, 1 + τ²).
#include <gtest/gtest.h>

#include <cmath>

#include "catena/compose/rule.h"
#include "catena/compose/scores/blurred_scores.h"
#include "catena/model/density/blur.h"
#include "catena/model/density/density.h"
#include "catena/train/method.h"
#include "train/train_cases.h"

namespace catena::compose::blurred_scores_test {
namespace {

model::TrainedModel likelihood_model(int steps) {
  train::TrainingData data(train::transitions_of("gaussian_rw", 10000, {{"dim", 1}, {"proposal_sd", 2.0}}),
                           train::Split{});
  train::LoopSettings loop{.steps = steps, .batch_size = 200, .evaluations = 10};
  loop.optimizer.learning_rate = 5e-3;
  return train::train(
      "fnbe", {.data = data,
               .loop = loop,
               .settings = {{"density", "gaussian"}, {"decay", 0.1}, {"width", 24}, {"layers", 2}, {"terms", 8}},
               .streams = Streams(3),
               .parallel = Parallel(2),
               .progress = silent_progress(),
               .checkpoint = {}});
}

struct Blur {
  double m, variance, tau;
  Blur(const diffusion::Schedule& schedule, double a)
      : m(schedule.m(a)),
        variance(m * m + schedule.sigma_squared(a)),
        tau(std::sqrt(schedule.sigma_squared(a) / variance)) {}
};

TEST(BlurredScores, AreThoseOfGaussianRwAfterTraining) {
  const model::TrainedModel trained = likelihood_model(4000);
  const model::BlurredModel model(trained);
  Matrix series(21, 1);
  Streams(5).stream("series").fill_normal(series.values());
  const auto scores = blurred_scores(model, observed_series("test", trained, series, {}));
  Matrix theta(7, 1);
  for (std::size_t p = 0; p < 7; ++p) theta(p, 0) = -1.5 + 0.5 * static_cast<double>(p);
  for (const double a : {0.01, 0.1, 0.4, 0.8}) {
    const Blur blur(model.schedule, a);
    Matrix found(140, 1);
    scores->scores(theta, a, 0, 20, found);
    double squared = 0, size = 0;
    for (std::size_t t = 0; t < 20; ++t) {
      for (std::size_t p = 0; p < 7; ++p) {
        const double z_hat = blur.m * theta(p, 0) / blur.variance;
        const double residual = series(t + 1, 0) - 0.9 * series(t, 0) - z_hat;
        const double exact =
            blur.m / blur.variance * residual / (1 + blur.tau * blur.tau) - theta(p, 0) / blur.variance;
        squared += std::pow(found(t * 7 + p, 0) - exact, 2);
        size += exact * exact;
      }
    }
    EXPECT_LT(std::sqrt(squared / size), 0.1) << a;  // 10,000 transitions: a few per cent
  }
}

TEST(BlurredScores, HaveTheMeanOfThePriorsScoreHoweverBadTheNetwork) {
  const model::TrainedModel trained = likelihood_model(20);
  const model::BlurredModel model(trained);
  const double a = 0.3, z_a = 0.8;
  const Blur blur(model.schedule, a);
  // Draws of the network's own density at one state and one ẑ, as transitions.
  const std::size_t n = 4000;
  const model::DensityMap map(trained.features, trained.state_names, model.settings.inputs, false);
  const model::DensityShape shape = map.shape(1 + model::blur_features);
  std::vector<float> c(2, 0.3F), state(shape.state_inputs), z(1 + model::blur_features);
  map.state(c.data(), state);
  model::blur_inputs(std::vector{blur.m * z_a / blur.variance}, blur.tau, z);
  Matrix z_rows(n, z.size()), state_rows(n, state.size()), keep(n, 1), v(n, 1);
  for (std::size_t r = 0; r < n; ++r) {
    std::ranges::copy(z, z_rows.row(r).begin());
    std::ranges::copy(state, state_rows.row(r).begin());
    keep(r, 0) = 1;
  }
  model::densities()
      .at("test", "gaussian")
      .draw(model.settings.density, shape, trained.network(model::likelihood_network).weights, "test",
            {z_rows, state_rows, {}, keep}, Streams(2).stream("draw"), v);
  const model::Feature& step = trained.features.all()[1];
  ObservedSeries drawn{Matrix(n, 2)};
  for (std::size_t r = 0; r < n; ++r) {
    drawn.c(r, 0) = c[0];
    drawn.c(r, 1) = v(r, 0) - step.mean / step.scale;
  }
  Matrix theta(1, 1), found(n, 1);
  theta(0, 0) = z_a;
  blurred_scores(model, drawn)->scores(theta, a, 0, n, found);
  double mean = 0, square = 0;
  for (const double s : found.values()) {
    const double likelihood = s + z_a / blur.variance;
    mean += likelihood / n;
    square += likelihood * likelihood / n;
  }
  EXPECT_GT(square, 1e-3);                            // an untrained network has a score all the same
  EXPECT_NEAR(mean, 0, 4.5 * std::sqrt(square / n));  // false alarm 7e-6
}

TEST(BlurredScores, HaveNoJacobiansAndTheRuleThatNeedsThemSaysSo) {
  const model::TrainedModel trained = likelihood_model(5);
  const model::BlurredModel model(trained);
  Matrix c(3, 2);
  const auto scores = blurred_scores(model, ObservedSeries{c});
  EXPECT_FALSE(scores->has_jacobians());
  EXPECT_THROW(compose("jac", {.source = scores.get(), .schedule = model.schedule}), InputError);
}

}  // namespace
}  // namespace catena::compose::blurred_scores_test
