// Draws from a log density of the whole series.
#include "catena/sample/posteriors/density.h"

#include <gtest/gtest.h>

#include <cmath>

#include "catena/core/errors.h"
#include "train/exact_density.h"

namespace catena::sample::density_posterior_test {
namespace {

TEST(DensityPosterior, SaysSoWhereNoPointOfThePriorIsPossible) {
  const PointTarget target(1, [](std::span<const double>, std::span<double>) { return std::nan(""); });
  const model::TrainedModel model = train::testing::exact_gaussian_rw(1);
  const Matrix series = train::testing::gaussian_rw_series(1, 5, 1);
  try {
    draw_by_chains(target, {.model = model, .series = {{series}}, .draws = 10}, Streams(1), Parallel(1),
                   silent_progress());
    FAIL() << "a density that is nowhere finite was sampled";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("nowhere to start"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace catena::sample::density_posterior_test
