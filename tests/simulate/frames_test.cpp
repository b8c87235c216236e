// Files of rollouts that keep every state once: the same records as without frames, whatever the number of threads,
// after an interruption, and with records that are lost.

#include "catena/simulate/transitions/frames.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>

#include "catena/core/errors.h"
#include "catena/files/netcdf/rows.h"
#include "catena/simulate/transitions/transitions.h"
#include "message_of.h"
#include "simulate/walk_model.h"

namespace catena::simulate::frames_test {

namespace {

namespace fs = std::filesystem;

class Frames : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = fs::temp_directory_path() / ("catena-frames-" + std::to_string(::getpid()) + "-" +
                                         ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".nc");
  }
  void TearDown() override {
    fs::remove(path_);
    fs::remove(fs::path(path_.string() + ".partial"));
  }
  fs::path path_;
};

/// A walk whose states have no more digits than a float.
Model float_walk(WalkStepper stepper = {}) {
  Model model = walk_model(3, std::move(stepper));
  model.single_precision = true;
  const auto round = [](StateBlock block) {
    for (std::size_t i = 0; i < block.features; ++i) {
      for (std::size_t l = 0; l < block.lanes; ++l) block(i, l) = static_cast<float>(block(i, l));
    }
  };
  model.simulator.step = [step = model.simulator.step, round](const StepInput& input, Stream& stream, StateBlock next) {
    step(input, stream, next);
    round(next);
  };
  model.initial_state = [](Stream& stream, std::span<double> state) {
    for (double& value : state) value = static_cast<float>(stream.uniform());
  };
  return model;
}

SimulationPlan rollouts(int length, int short_length) {
  SimulationPlan plan;
  plan.proposal = {{"proposal", "rollout"}, {"length", length}, {"short_length", short_length}};
  plan.budget = 5003;  // some blocks, and a part of one
  plan.lanes = 320;
  plan.seed = 6;
  return plan;
}

void expect_equal(const TransitionSet& a, const TransitionSet& b) {
  EXPECT_TRUE(a.z == b.z);
  EXPECT_TRUE(a.theta == b.theta);
  EXPECT_TRUE(a.x == b.x);
  EXPECT_TRUE(a.x_next == b.x_next);
  EXPECT_EQ(a.provenance, b.provenance);
}

/// How many records begin where none ends.
std::size_t beginnings(const TransitionFile& file) {
  const auto places = file.read_places(0, file.size());
  std::vector<bool> ends(file.frames(), false);
  for (const std::size_t place : places.x_next) ends[place] = true;
  std::size_t count = 0;
  for (const std::size_t place : places.x) count += ends[place] ? 0 : 1;
  return count;
}

}  // namespace

TEST_F(Frames, HoldTheRecordsOfTheSameRunInMemoryForOneTwoAndFiveThreads) {
  for (const int short_length : {0, 5}) {
    const SimulationPlan plan = rollouts(20, short_length);
    const TransitionSet set = simulate(float_walk(), plan, Parallel(1), silent_progress());
    for (const int threads : {1, 2, 5}) {
      simulate_to_file(path_, float_walk(), plan, Parallel(threads), silent_progress());
      expect_equal(read_transitions(path_), set);
    }
  }
}

TEST_F(Frames, AreOneForEachRecordAndOneForEachRollout) {
  for (const int short_length : {0, 5}) {
    simulate_to_file(path_, float_walk(), rollouts(20, short_length), Parallel(2), silent_progress());
    const TransitionFile file(path_);
    ASSERT_EQ(file.size(), 5003U);
    EXPECT_EQ(file.frames(), 5003 + beginnings(file));
    const auto places = file.read_places(0, file.size());
    for (std::size_t r = 0; r < file.size(); ++r) ASSERT_EQ(places.x_next[r], places.x[r] + 1);
    // 16 lanes of 20 rounds are a block of 320; in every other one rollouts are of 5.
    EXPECT_EQ(beginnings(file), short_length == 0 ? 16 * 16U : 8 * 16 + 7 * 64 + 16 * 3U);
    EXPECT_EQ(files::NetcdfReader(path_).attributes().at("catena_format_version"), 4);
    EXPECT_TRUE(files::NetcdfReader(path_).info("frames").single_precision);
  }
}

TEST_F(Frames, OfAPartOfTheRecordsAreReadAlone) {
  simulate_to_file(path_, float_walk(), rollouts(20, 5), Parallel(2), silent_progress());
  const TransitionSet all = read_transitions(path_), some = TransitionFile(path_).read(700, 1100);
  ASSERT_EQ(some.size(), 400U);
  for (std::size_t r = 0; r < 400; ++r) {
    for (std::size_t i = 0; i < 3; ++i) {
      ASSERT_EQ(some.x(r, i), all.x(700 + r, i));
      ASSERT_EQ(some.x_next(r, i), all.x_next(700 + r, i));
    }
  }
}

TEST_F(Frames, OfLostRecordsAreWhereTheirRolloutsBeginAnew) {
  const Model model = float_walk({.not_finite_above = 2.5});
  for (const int short_length : {0, 5}) {
    SimulationPlan plan = rollouts(20, short_length);
    plan.max_invalid = 0.3;
    const TransitionSet set = simulate(model, plan, Parallel(1), silent_progress());
    ASSERT_LT(set.size(), 5000U);
    simulate_to_file(path_, model, plan, Parallel(2), silent_progress());
    expect_equal(read_transitions(path_), set);
  }
}

TEST_F(Frames, AreTheSameAfterAnInterruption) {
  const SimulationPlan plan = [] {
    SimulationPlan made = rollouts(20, 5);
    made.chunk_rows = 640;
    made.max_invalid = 0.3;
    return made;
  }();
  std::atomic<int> calls = 0;
  const WalkStepper stops{.at_each_call =
                              [&] {
                                if (++calls == 20 * 13) throw Interrupted();
                              },
                          .not_finite_above = 2.5};
  EXPECT_THROW(simulate_to_file(path_, float_walk(stops), plan, Parallel(1), silent_progress()), Interrupted);
  const Model model = float_walk({.not_finite_above = 2.5});
  const SimulationInfo info = simulate_to_file(path_, model, plan, Parallel(2), silent_progress(), /*resume=*/true);
  EXPECT_GT(info.resumed_rows, 0U);
  expect_equal(read_transitions(path_), simulate(model, plan, Parallel(1), silent_progress()));
}

TEST_F(Frames, AreNotSharedOutAmongShards) {
  SimulationPlan plan = rollouts(20, 0);
  plan.shard = {1, 2};
  const std::string message =
      message_of([&] { simulate_to_file(path_, float_walk(), plan, Parallel(1), silent_progress()); });
  EXPECT_NE(message.find("simulate: the shard is 1/2, but must be 1/1"), std::string::npos) << message;
}

}  // namespace catena::simulate::frames_test
