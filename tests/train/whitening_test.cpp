// Whitened increments have mean zero and covariance I wherever they start, and nothing is lost.
#include "catena/train/objectives/whitening.h"

#include <gtest/gtest.h>

#include <cmath>

#include "catena/train/loop.h"
#include "train/train_cases.h"

namespace catena::train::whitening_test {
namespace {

TEST(Whitening, MakesIncrementsOfSizeOneWhereverTheyStart) {
  // lotka_volterra: drift and noise grow with x·y, so that plain increments differ in size.
  TrainingData data(transitions_of("lotka_volterra", 20000, nlohmann::json::object()), {});
  const WhiteningObjective objective(data.features());
  LoopSettings loop{.steps = 2500, .batch_size = 500, .evaluations = 5};
  const LoopResult result =
      train_loop("whitening", objective, data, 0, loop, Streams(1), Parallel(2), silent_progress());
  const auto spread = [&](bool large) {
    // Mean square of the increments from states in the lower left or the upper right quarter.
    double sum = 0, count = 0;
    const Examples& rows = data.window(0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const float* c = rows.c_of(i);
      if ((c[0] > 0.8F && c[1] > 0.8F) != large || (!large && !(c[0] < -0.8F && c[1] < -0.8F))) continue;
      for (const std::size_t k : {2U, 3U}) sum += static_cast<double>(c[k]) * c[k];
      count += 2;
    }
    return sum / count;
  };
  const double before = spread(true) / spread(false);
  data.whiten(std::make_shared<model::Whitening>(model::named_weights(objective.graph(), result.weights), "test",
                                                 data.features()));
  EXPECT_GT(before, 3);
  // A few seconds of training on 800 transitions in each quarter: sizes are alike, if not exact.
  const double after = spread(true) / spread(false);
  EXPECT_GT(after, 0.5);
  EXPECT_LT(after, 2);
}

TEST(Whitening, LeavesStateAndTimeAlone) {
  const model::Features features(transitions_of("ti_gaussian_rw", 100, {{"dim", 2}}));
  const WhiteningObjective objective(features);
  const auto weights = objective.graph().initial_weights(Streams(1));
  std::vector<float> c{1, 2, 3, 4, 5, -1, -2, -3, -4, -5};
  model::Whitening(model::named_weights(objective.graph(), weights), "test", features).apply(c);
  for (const std::size_t i : {0U, 1U, 4U}) {
    EXPECT_EQ(c[i], static_cast<float>(i + 1));
    EXPECT_EQ(c[5 + i], -static_cast<float>(i + 1));
  }
}

}  // namespace
}  // namespace catena::train::whitening_test
