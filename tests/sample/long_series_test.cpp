// Which kernel long series get: delayed where a density costs more with every transition, cloud where it does not.
#include <gtest/gtest.h>

#include "catena/sample/posterior.h"
#include "train/exact_density.h"
#include "train/train_cases.h"

namespace catena::sample::long_series_test {
namespace {

struct LongSeries {
  std::string method;
  nlohmann::json train;
  std::string kernel;
};

TEST(LongSeries, AreSampledByTheKernelThatTheirCostAsksFor) {
  const simulate::TransitionSet set = train::transitions_of("gaussian_rw", 3000, {{"dim", 1}});
  const Matrix series = train::testing::gaussian_rw_series(1, 1100, 3);
  for (const auto& [method, settings, kernel] : std::vector<LongSeries>{
           {"fnle", {{"density", "gaussian"}, {"decay", 0.1}, {"width", 16}, {"layers", 2}}, "delayed"},
           {"fnle", {{"density", "separable"}, {"decay", 0.1}, {"width", 16}, {"z_width", 16}}, "cloud"},
           {"fnre", {{"network", "gaussian"}, {"decay", 0.1}, {"width", 16}, {"ensemble", 1}}, "cloud"},
           {"fnre", {{"network", "joint"}, {"decay", 0.1}, {"width", 16}, {"ensemble", 1}}, "delayed"}}) {
    SCOPED_TRACE(method + " " + settings.dump());
    const model::TrainedModel model = train::train_briefly(method, set, settings, 300, 200);
    const PosteriorDraws draws =
        draw_posterior({.model = model, .series = {{series}}, .draws = 100, .settings = nlohmann::json::object()},
                       Streams(2), Parallel(2));
    EXPECT_EQ(draws.outcome, Outcome::ok);
    EXPECT_EQ(draws.info["kernel"], kernel);
    EXPECT_GT(draws.info["thinned_evaluations"].get<std::size_t>(), 0U);  // of the start
  }
}

}  // namespace
}  // namespace catena::sample::long_series_test
