#include "catena/train/data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "train/positive_walks.h"

namespace catena::train::data_test {
namespace {

TEST(TrainingData, HoldsOutOtherRowsInEveryFold) {
  const simulate::TransitionSet set = transitions_of("gaussian_rw", 1000, {{"dim", 2}});
  const TrainingData data(set, {.held_out = 0.2});
  EXPECT_EQ(data.training_size(), 800U);
  EXPECT_EQ(data.folds(), 5U);
  std::vector<int> held_out(1000), trained(1000);
  for (std::size_t fold = 0; fold < 5; ++fold) {
    for (std::size_t i = 0; i < data.held_out_size(); ++i) ++held_out[data.first_held_out(fold) + i];
    const RowRange rows = data.training_rows(0, fold);
    ASSERT_EQ(rows.count, 800U);
    for (std::size_t i = 0; i < rows.count; ++i) {
      const std::size_t row = rows(i);
      ++trained.at(row);
      EXPECT_TRUE(row < data.first_held_out(fold) || row >= data.first_held_out(fold) + 200);
    }
  }
  for (std::size_t row = 0; row < 1000; ++row) {
    EXPECT_EQ(held_out[row], 1);
    EXPECT_EQ(trained[row], 4);
    EXPECT_EQ(data.window(0).z_of(row)[1], static_cast<float>(set.z(row, 1)));
  }
  EXPECT_EQ(TrainingData(set, {.held_out = 0.2, .most = 50}).training_size(), 950U);
}

TEST(TrainingData, ReadsAFileInWindowsThatCoverIt) {
  const auto path = std::filesystem::path(::testing::TempDir()) / "windows.nc";
  const tasks::Task task = tasks::make_task("gaussian_rw", {{"dim", 2}});
  simulate::SimulationPlan plan;
  plan.proposal = {{"proposal", "fixed"}};
  plan.budget = 5000;
  simulate::simulate_to_file(path, task, plan, Parallel(1), silent_progress());
  const simulate::TransitionSet all = simulate::read_transitions(path);
  const TrainingData data(path, {.held_out = 0.1, .window_rows = 1024});
  ASSERT_EQ(data.training_size(), 4500U);
  ASSERT_EQ(data.windows(), 5U);
  ASSERT_EQ(data.folds(), 1U);
  std::size_t row = 0;
  for (const std::size_t w : {0U, 1U, 2U, 3U, 4U}) {
    const Examples& window = data.window(w);
    ASSERT_EQ(window.size(), data.training_rows(w, 0).count);
    for (std::size_t i = 0; i < window.size(); ++i, ++row) {
      ASSERT_EQ(window.z_of(i)[1], static_cast<float>(all.z(row, 1)));
    }
  }
  EXPECT_EQ(row, 4500U);
  ASSERT_EQ(data.held_out().size(), 500U);
  EXPECT_EQ(data.held_out().z_of(499)[0], static_cast<float>(all.z(4999, 0)));
  std::filesystem::remove(path);
}

/// A file in windows sees what the same set in memory does; features come from the first window alone.
TEST(TrainingData, SeesLogarithmsOfPositiveStates) {
  const auto path = std::filesystem::path(::testing::TempDir()) / "positive.nc";
  const simulate::TransitionSet set = testing::one_multiplies_one_adds(3000);
  simulate::write_transitions(path, set);
  TrainingData memory(set, {}), file(path, {.window_rows = 1024});
  EXPECT_EQ(memory.positive_states(), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(file.positive_states(), memory.positive_states());
  const TrainingData before(set, {});
  for (TrainingData* data : {&memory, &file}) {
    data->see_logarithms({0});
    const model::Features& features = data->features();
    std::vector<float> c(features.size());
    features.apply(set.record(1500), c);
    const bool whole = data == &memory;
    const Examples& examples = data->window(whole ? 0 : 1);
    EXPECT_EQ(std::vector<float>(examples.c_of(whole ? 1500 : 476), examples.c_of(whole ? 1501 : 477)), c);
    if (whole) {
      EXPECT_EQ(features.plain(0).low, before.features().all()[0].low);
    }
    features.apply(set.record(2999), c);
    const Examples& held_out = data->held_out();
    EXPECT_EQ(held_out.c_of(held_out.size() - 1)[2], c[2]);
    data->see_logarithms({});
    EXPECT_TRUE(data->features().logarithmic().empty());
  }
  EXPECT_EQ(memory.window(0).c, before.window(0).c);
  std::filesystem::remove(path);
}

/// One window and what is held out are more than a window.
TEST(TrainingData, ReadsAFileThatIsALittleLargerThanAWindow) {
  const auto path = std::filesystem::path(::testing::TempDir()) / "larger.nc";
  simulate::write_transitions(path, testing::one_multiplies_one_adds(1050));
  const TrainingData data(path, {.held_out = 0.1, .window_rows = 1024});
  ASSERT_EQ(data.windows(), 1U);
  EXPECT_EQ(data.held_out().size(), 1050U);
  std::filesystem::remove(path);
}

TEST(TrainingData, RefusesTooFewRowsAndValuesThatAreNotFinite) {
  simulate::TransitionSet set = transitions_of("gaussian_rw", 100, {{"dim", 1}});
  set.x_next(17, 0) = std::nan("");
  try {
    const TrainingData data(set, {});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "train: x_next[17] is nan, but must be finite");
  }
  EXPECT_THROW(TrainingData(transitions_of("gaussian_rw", 19, {{"dim", 1}}), {}), InputError);
}

}  // namespace
}  // namespace catena::train::data_test
