#include "catena/compose/series_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "train/train_cases.h"

namespace catena::compose::series_state_test {
namespace {

const nlohmann::json& separable_settings(std::string_view method) {
  static const nlohmann::json settings = {{"fnle", {{"density", "separable"}, {"decay", 1}}},
                                          {"fnre", {{"network", "gaussian"}, {"decay", 1}}},
                                          {"fnse", {{"network", "separable"}, {"ensemble", 2}}}};
  return settings.at(std::string(method));
}

model::TrainedModel briefly_trained(std::string_view method, const nlohmann::json& settings) {
  train::TrainingData data(train::transitions_of("gaussian_rw", 600, {{"dim", 2}}), train::Split{});
  return train::train(method, {.data = data,
                               .loop = {.steps = 10, .batch_size = 100, .evaluations = 2},
                               .settings = settings,
                               .streams = Streams(3),
                               .parallel = Parallel(2),
                               .progress = silent_progress(),
                               .checkpoint = {}});
}

Matrix walk(std::size_t states) {
  Matrix series(states, 2);
  Streams(5).stream("series").fill_normal(series.values());
  return series;
}

class EverySummedMethod : public ::testing::TestWithParam<std::string> {};

TEST_P(EverySummedMethod, AddsUpToTheSumsOfTheWholeSeries) {
  const model::TrainedModel model = briefly_trained(GetParam(), separable_settings(GetParam()));
  ASSERT_TRUE(has_sums(model));
  const Matrix series = walk(31);
  const auto part = [&](std::size_t begin, std::size_t end) {
    return observed_series("test", model, series.view().slice_rows(begin, end), {});
  };
  SeriesState whole(model), grown(model);
  whole.add(model, part(0, 31));
  grown.add(model, part(0, 12));
  grown.add(model, part(11, 31));  // begins with the last state of the stretch before
  EXPECT_EQ(whole.transitions, 30U);
  EXPECT_EQ(grown.transitions, 30U);
  ASSERT_EQ(whole.sums.size(), grown.sums.size());
  for (const auto& [name, sum] : whole.sums) {
    for (std::size_t i = 0; i < sum.values().size(); ++i) {
      const double found = grown.sums.at(name).values()[i];
      // Terms of size one and more, added in another order in doubles.
      EXPECT_NEAR(found, sum.values()[i], 1e-12 * (30 + std::abs(sum.values()[i]))) << name << " " << i;
    }
  }
}

TEST_P(EverySummedMethod, ComesBackFromItsFileAndBelongsToItsModelAlone) {
  const model::TrainedModel model = briefly_trained(GetParam(), separable_settings(GetParam()));
  SeriesState state(model);
  state.add(model, observed_series("test", model, walk(9), {}));
  state.last_state = {1, 2};
  const auto path = std::filesystem::path(::testing::TempDir()) / ("state." + std::string(GetParam()));
  write_state(path, model, state);
  const SeriesState read = read_state(path, model);
  EXPECT_EQ(read.transitions, 8U);
  EXPECT_EQ(read.last_state, state.last_state);
  for (const auto& [name, sum] : state.sums) EXPECT_TRUE(std::ranges::equal(read.sums.at(name).values(), sum.values()));
  model::TrainedModel other = model;
  other.seed += 1;
  EXPECT_THROW(read_state(path, other), InputError);
  std::filesystem::remove(path);
}

INSTANTIATE_TEST_SUITE_P(Methods, EverySummedMethod, ::testing::ValuesIn(summed_methods().names()),
                         [](const auto& tested) { return tested.param; });

TEST(SeriesState, IsRefusedForNetworksThatHaveNoSums) {
  EXPECT_FALSE(has_sums(briefly_trained("fnle", {{"density", "gaussian"}, {"decay", 1}})));
  EXPECT_FALSE(has_sums(briefly_trained("fnse", {{"network", "joint"}, {"ensemble", 1}})));
  EXPECT_FALSE(has_sums(briefly_trained("fnre", {{"network", "joint"}, {"decay", 1}})));
  EXPECT_FALSE(has_sums(briefly_trained("fnbe", {{"density", "gaussian"}, {"decay", 1}})));
}

}  // namespace
}  // namespace catena::compose::series_state_test
