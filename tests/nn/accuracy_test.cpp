// The elementary functions of nn/, against double precision, in units in the last place of the result.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <numbers>

#include "catena/nn/kernels/kernels.h"
#include "nn/targets.h"

namespace catena::nn::accuracy_test {

namespace {

struct Row {
  const char* name;
  kernels::Activation f;
  double low, high;
  double (*exact)(double);
  double bound;        // largest error of the value, in ULP
  double slope_bound;  // largest error of the slope, in ULP of max(|slope|, 1)
  double (*slope)(double);
};

double logistic(double x) { return 1 / (1 + std::exp(-x)); }
double gelu_argument(double x) { return 2 * std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x); }

// Where a result nears zero, an error of the argument's own rounding shows magnified: gelu and silu are bounded where
// |argument of the logistic| ≤ 10; beyond, they are within one ULP of x or of 0.
// The bounds add up the parts: exp 1, sum ½, reciprocal 1, products ½ each; gelu adds 10 times its argument's own half
// ULP.
const Row rows[] = {
    {"gelu", kernels::Activation::gelu, -3, 20, [](double x) { return x * logistic(gelu_argument(x)); }, 12, 4,
     [](double x) {
       const double s = logistic(gelu_argument(x));
       return s + x * s * (1 - s) * 2 * std::sqrt(2 / std::numbers::pi) * (1 + 3 * 0.044715 * x * x);
     }},
    {"silu", kernels::Activation::silu, -10, 20, [](double x) { return x * logistic(x); }, 4, 4,
     [](double x) { return logistic(x) * (1 + x * (1 - logistic(x))); }},
    {"tanh", kernels::Activation::tanh, -20, 20, [](double x) { return std::tanh(x); }, 6, 4,
     [](double x) { return 1 - std::tanh(x) * std::tanh(x); }},
    {"sigmoid", kernels::Activation::sigmoid, -80, 80, logistic, 4, 2,
     [](double x) { return logistic(x) * logistic(-x); }},
    {"softplus", kernels::Activation::softplus, -80, 80,
     [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }, 4, 2, logistic},
    {"exp", kernels::Activation::exp, -80, 80, [](double x) { return std::exp(x); }, 3, 3,
     [](double x) { return std::exp(x); }},
    {"log", kernels::Activation::log, 1e-30, 1e3, [](double x) { return std::log(x); }, 4, 2,
     [](double x) { return 1 / x; }},
};

double ulp(double value) {
  const auto f = static_cast<float>(std::abs(value));
  return static_cast<double>(std::nextafter(f, std::numeric_limits<float>::infinity())) - static_cast<double>(f);
}

}  // namespace

TEST(Accuracy, OfEveryActivationIsWithinItsBound) {
  catena::testing::for_each_target([] {
    std::printf("%-6s %-9s %14s %12s %12s\n", kernels::target_name(), "function", "range", "value (ULP)",
                "slope (ULP)");
    for (const Row& row : rows) {
      constexpr std::size_t count = 1 << 16;
      LaneBlock x(1, count), y(1, count), slope(1, count);
      for (std::size_t l = 0; l < count; ++l) {
        const double share = static_cast<double>(l) / (count - 1);
        // Half of the points evenly, half crowding at the low end (at 0 for ranges that cross it).
        const double even = row.low + (row.high - row.low) * share;
        x(0, l) = static_cast<float>(l % 2 == 0    ? even
                                     : row.low > 0 ? row.low * std::pow(row.high / row.low, share)
                                                   : even * std::pow(share, 6));
      }
      kernels::activate(row.f, x.view(), {}, y.view(), slope.view());
      double worst = 0, worst_slope = 0;
      for (std::size_t l = 0; l < count; ++l) {
        const double exact = row.exact(x(0, l));
        const double exact_slope = row.slope(x(0, l));
        worst = std::max(worst, std::abs(y(0, l) - exact) / ulp(exact));
        worst_slope =
            std::max(worst_slope, std::abs(slope(0, l) - exact_slope) / ulp(std::max(1.0, std::abs(exact_slope))));
      }
      std::printf("       %-9s %6g … %5g %12.2f %12.2f\n", row.name, row.low, row.high, worst, worst_slope);
      EXPECT_LE(worst, row.bound) << row.name;
      EXPECT_LE(worst_slope, row.slope_bound) << row.name;
    }
  });
}

TEST(Accuracy, ExtremeArgumentsStayFinite) {
  catena::testing::for_each_target([] {
    const float extremes[] = {-1e30F, -500, -88, 0, 88, 500, 1e30F};
    LaneBlock x(1, 7), y(1, 7), slope(1, 7);
    for (std::size_t l = 0; l < 7; ++l) x(0, l) = extremes[l];
    for (const auto f : {kernels::Activation::silu, kernels::Activation::tanh, kernels::Activation::sigmoid,
                         kernels::Activation::softplus}) {
      kernels::activate(f, x.view(), {}, y.view(), slope.view());
      for (std::size_t l = 0; l < 7; ++l) {
        EXPECT_TRUE(std::isfinite(y(0, l))) << static_cast<int>(f) << " at " << extremes[l];
        EXPECT_TRUE(std::isfinite(slope(0, l))) << static_cast<int>(f) << " at " << extremes[l];
      }
    }
    // gelu cubes its argument, so ±1e30 is infinite inside; ±500 is not.
    for (std::size_t l = 1; l < 6; ++l) {
      kernels::activate(kernels::Activation::gelu, x.view(), {}, y.view(), slope.view());
      EXPECT_NEAR(y(0, l), extremes[l] > 0 ? extremes[l] : 0, 1e-4F);
      EXPECT_NEAR(slope(0, l), extremes[l] > 0 ? 1 : extremes[l] < 0 ? 0 : 0.5, 1e-4F);
    }
  });
}

}  // namespace catena::nn::accuracy_test
