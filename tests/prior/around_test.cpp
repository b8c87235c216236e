// Priors around a posterior: what they are fitted to, and that their weights lead back.
#include "catena/prior/around.h"

#include <gtest/gtest.h>

#include <cmath>

#include "catena/core/errors.h"
#include "catena/prior/special.h"

namespace catena::prior::around_test {
namespace {

Prior base() {
  Prior prior;
  prior.add({"a"}, uniform(0, 2));
  prior.add({"b"}, normal(5, 2));
  return prior;
}

/// One normal, and two.
Around narrow() {
  return {base(), NormalMixture::one(Eigen::Vector2d(0.5, -1), Eigen::Matrix2d{{0.3, 0}, {0.1, 0.2}})};
}
Around with_two_modes() {
  return {base(),
          {{{0.3, Eigen::Vector2d(0.5, -1), Eigen::Matrix2d{{0.3, 0}, {0.1, 0.2}}},
            {0.7, Eigen::Vector2d(-0.6, 0.5), Eigen::Matrix2d{{0.4, 0}, {-0.2, 0.3}}}}}};
}

TEST(Around, GoesThroughFilesAndReadsThoseOfOneNormal) {
  const Around two = with_two_modes();
  const auto read = around_of(Prior::from_json("test", nlohmann::json::parse(two.prior().to_json().dump())));
  ASSERT_TRUE(read.has_value());
  ASSERT_EQ(read->normals.components.size(), 2U);
  for (std::size_t j = 0; j < 2; ++j) {
    EXPECT_EQ(read->normals.components[j].weight, two.normals.components[j].weight);
    EXPECT_EQ(read->normals.components[j].mean, two.normals.components[j].mean);
    EXPECT_EQ(read->normals.components[j].lower, two.normals.components[j].lower);
  }
  EXPECT_FALSE(around_of(base()).has_value());
  // As 0.1.0 wrote it.
  const nlohmann::json old = {{"factors",
                               {{{"family", "around"},
                                 {"names", {"a", "b"}},
                                 {"base", base().to_json()},
                                 {"mean", {0.5, -1.0}},
                                 {"lower", {{0.3, 0.0}, {0.1, 0.2}}}}}}};
  const auto before = around_of(Prior::from_json("test", old));
  ASSERT_TRUE(before.has_value());
  EXPECT_EQ(before->prior().to_json(), narrow().prior().to_json());
  EXPECT_EQ(before->normals.components[0].lower, narrow().normals.components[0].lower);
  nlohmann::json wrong = two.prior().to_json();
  wrong["factors"][0]["weights"] = {0.3, 0.3};
  EXPECT_THROW(Prior::from_json("test", wrong), InputError);
}

TEST(Around, WeighsDrawsByTheRatioOfThePriors) {
  for (const Around& around : {narrow(), with_two_modes()}) {
    for (const auto& w : {std::vector<double>{0.3, -0.4}, std::vector<double>{-2, 1}}) {
      std::vector<double> theta(2);
      around.prior().to_theta(w, theta);
      EXPECT_NEAR(around.log_weight(w), base().log_density(theta) - around.prior().log_density(theta), 1e-11);
    }
  }
}

TEST(TruePrior, IsTheBaseOfOneAroundAPosteriorAndAnyOtherItself) {
  for (const Around& around : {narrow(), with_two_modes()}) {
    const TruePrior narrowed(around.prior());
    EXPECT_EQ(narrowed.prior().to_json(), base().to_json());
    const std::vector<double> w{0.3, -0.4};
    std::vector<double> z(2), back(2), theta(2), same(2), gradient(2, 0.0);
    narrowed.to_z(w, z);
    narrowed.to_w(z, back);
    around.prior().to_theta(w, theta);
    narrowed.prior().to_theta(z, same);
    narrowed.add_log_weight_gradient(w, gradient);
    // f(w) = w₁ + 2 w₂ as a function of z.
    std::vector<double> g{1, 2};
    narrowed.gradient_to_z(w, g);
    // Central differences: the error is h²/6 times a third derivative, of some hundreds at most, and rounding/h.
    constexpr double h = 1e-5;
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_NEAR(back[i], w[i], 1e-12);
      EXPECT_NEAR(same[i], theta[i], 1e-12);
      std::vector<double> above = w, below = w;
      above[i] += h;
      below[i] -= h;
      EXPECT_NEAR(gradient[i], (narrowed.log_weight(above) - narrowed.log_weight(below)) / (2 * h), 1e-7);
      above = below = z;
      above[i] += h;
      below[i] -= h;
      std::vector<double> w_above(2), w_below(2);
      narrowed.to_w(above, w_above);
      narrowed.to_w(below, w_below);
      EXPECT_NEAR(g[i], (w_above[0] - w_below[0] + 2 * (w_above[1] - w_below[1])) / (2 * h), 1e-6);
    }
  }
  const TruePrior own(base());
  EXPECT_EQ(own.prior().to_json(), base().to_json());
  EXPECT_EQ(own.log_weight(std::vector<double>{0.3, -0.4}), 0);
}

}  // namespace
}  // namespace catena::prior::around_test
