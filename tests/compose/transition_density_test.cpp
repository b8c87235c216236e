// Single transitions in the simulator's units: an exact network must give the exact density, and its gradient in θ.
#include "catena/compose/density/transition_density.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "catena/core/errors.h"
#include "train/exact_density.h"

namespace catena::compose::transition_density_test {
namespace {

/// gaussian_rw: x' ~ N(0.9 x + θ, I), z = θ. The same network under a prior N((1, −1), diag(2, ½)²) has z = (θ − m)/s.
TEST(TransitionDensity, OfAnExactNetworkIsExactForEveryThetaOfItsOwn) {
  model::TrainedModel model = train::testing::exact_gaussian_rw(2);
  const Matrix series = train::testing::gaussian_rw_series(2, 1500, 6);
  Matrix theta(1500, 2);
  Stream stream = Streams(3).stream("theta");
  stream.fill_normal(theta.values());
  const ConstMatrixView states = series;
  const GivenTransitions given{states.slice_rows(0, 1500), states.slice_rows(1, 1501)};
  for (const bool shifted : {false, true}) {
    const double mean[] = {shifted ? 1.0 : 0.0, shifted ? -1.0 : 0.0},
                 sd[] = {shifted ? 2.0 : 1.0, shifted ? 0.5 : 1.0};
    if (shifted) {
      model.prior = prior::Prior();
      model.prior.add({"a", "b"}, prior::correlated_normal({1, -1}, {{4, 0}, {0, 0.25}}));
    }
    const TransitionValues found = transition_values("test", model, theta, given, true, Parallel(2));
    const TransitionValues again = transition_values("test", model, theta, given, false, Parallel(1));
    EXPECT_EQ(found.value, again.value);
    EXPECT_EQ(again.gradient.rows(), 0U);
    for (std::size_t r = 0; r < 1500; ++r) {
      double exact = -std::log(2 * std::numbers::pi), size = 1;
      for (std::size_t i = 0; i < 2; ++i) {
        const double residual = series(r + 1, i) - 0.9 * series(r, i) - (theta(r, i) - mean[i]) / sd[i];
        exact -= 0.5 * residual * residual;
        size += std::abs(residual) * (1 + std::abs(series(r, i)));
        // Floats: a residual from states of some tens.
        EXPECT_NEAR(found.gradient(r, i), residual / sd[i], 1e-5 * (10 + std::abs(series(r, i)))) << r;
      }
      EXPECT_NEAR(found.value[r], exact, 1e-5 * (10 + size * size)) << r;
    }
  }
}

TEST(TransitionDensity, MisuseIsOneSentence) {
  const model::TrainedModel model = train::testing::exact_gaussian_rw(2);
  const Matrix series = train::testing::gaussian_rw_series(2, 3, 6);
  const ConstMatrixView states = series;
  const auto message = [&](const Matrix& theta, const GivenTransitions& given) -> std::string {
    try {
      transition_values("test", model, theta, given, false, Parallel(1));
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  const GivenTransitions three{states.slice_rows(0, 3), states.slice_rows(1, 4)};
  EXPECT_EQ(message(Matrix(3, 2), three), "");
  EXPECT_EQ(message(Matrix(2, 2), three), "test: the number of rows of theta is 2, but must be 3");
  EXPECT_EQ(message(Matrix(3, 1), three), "test: the number of parameters is 1, but must be 2");
  const std::vector<double> times{0, 1, 2};
  EXPECT_EQ(message(Matrix(3, 2), {three.x, three.x_next, times}), "test: the number of times is 3, but must be 0");
}

}  // namespace
}  // namespace catena::compose::transition_density_test
