// The loop on a small score network: the same bits for any number of threads and after any interruption.
#include "catena/train/loop.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "catena/core/errors.h"
#include "catena/files/safetensors.h"
#include "catena/train/objectives/score.h"
#include "train/train_cases.h"

namespace catena::train::loop_test {
namespace {

namespace fs = std::filesystem;

model::ScoreNetworkSettings small_network() {
  model::ScoreNetworkSettings network;
  network.width = 12;
  network.layers = 3;
  return network;
}

struct Case {
  TrainingData data{transitions_of("gaussian_rw", 900, {{"dim", 2}}), Split{}};
  ScoreObjective objective{small_network(), "variance_preserving", {}, 2, 4};
  LoopSettings settings{.steps = 120, .batch_size = 100, .evaluations = 6};

  LoopResult run(int threads = 1, Progress& progress = silent_progress(), const CheckpointPlan& plan = {},
                 const nlohmann::json& identity = {}) const {
    return train_loop("score", objective, data, 0, settings, Streams(5), Parallel(threads), progress, plan, identity);
  }
};

/// Says nothing and pulls the plug after some steps.
class Plug final : public Progress {
 public:
  explicit Plug(std::uint64_t steps) : left_(steps) {}
  void start(std::string_view, std::string_view, std::uint64_t) override {}
  void advance(std::uint64_t units) override {
    if (units > left_) throw Interrupted();
    left_ -= units;
  }
  void note(std::string_view) override {}
  void finish() override {}
  bool stop_requested() const override { return left_ == 0; }

 private:
  std::uint64_t left_;
};

TEST(TrainLoop, GivesTheSameBitsForOneTwoAndFiveThreads) {
  const Case c;
  const LoopResult one = c.run(1);
  EXPECT_EQ(one.steps, 120);
  EXPECT_EQ(one.weights, c.run(2).weights);
  EXPECT_EQ(one.weights, c.run(5).weights);
}

TEST(TrainLoop, GoesOnFromACheckpointToTheSameBits) {
  const Case c;
  const LoopResult whole = c.run();
  const fs::path path = fs::path(::testing::TempDir()) / "loop.checkpoint";
  for (const std::uint64_t at : {1U, 37U, 100U}) {
    fs::remove(path);
    Plug plug(at);
    EXPECT_THROW(c.run(1, plug, {.path = path}, {{"run", 1}}), Interrupted);
    ASSERT_TRUE(fs::exists(path));
    const LoopResult rest = c.run(2, silent_progress(), {.path = path, .resume = true}, {{"run", 1}});
    EXPECT_EQ(rest.weights, whole.weights) << "interrupted after " << at;
    EXPECT_EQ(rest.curve.held_out_loss, whole.curve.held_out_loss);
    EXPECT_EQ(rest.curve.train_loss, whole.curve.train_loss);
    EXPECT_FALSE(fs::exists(path));  // of no more use
  }
}

TEST(TrainLoop, RefusesACheckpointOfAnotherRunAndADamagedOne) {
  const Case c;
  const fs::path path = fs::path(::testing::TempDir()) / "refused.checkpoint";
  Plug plug(10);
  EXPECT_THROW(c.run(1, plug, {.path = path}, {{"run", 1}}), Interrupted);
  EXPECT_THROW(c.run(1, silent_progress(), {.path = path, .resume = true}, {{"run", 2}}), InputError);
  files::TensorFile file = files::read_safetensors(path);
  file.tensors.erase(file.tensors.begin());
  files::write_safetensors(path, file);
  EXPECT_THROW(c.run(1, silent_progress(), {.path = path, .resume = true}, {{"run", 1}}), InputError);
  fs::resize_file(path, 100);
  EXPECT_THROW(c.run(1, silent_progress(), {.path = path, .resume = true}, {{"run", 1}}), FileError);
  fs::remove(path);
}

TEST(TrainLoop, RefusesACheckpointWithAnOutcomeThatItDoesNotKnow) {
  const Case c;
  const fs::path path = fs::path(::testing::TempDir()) / "outcome.checkpoint";
  Plug plug(10);
  EXPECT_THROW(c.run(1, plug, {.path = path}, {{"run", 1}}), Interrupted);
  files::TensorFile file = files::read_safetensors(path);
  EXPECT_EQ(file.metadata.at("outcome"), "ok");
  const std::string sentence = path.string() + ": its outcome is {}, which is none that this catena knows";
  for (const nlohmann::json& unknown :
       {nlohmann::json("tired"), nlohmann::json(99), nlohmann::json(-1), nlohmann::json()}) {
    file.metadata["outcome"] = unknown;
    files::write_safetensors(path, file);
    try {
      c.run(1, silent_progress(), {.path = path, .resume = true}, {{"run", 1}});
      FAIL() << unknown;
    } catch (const FileError& error) {
      EXPECT_EQ(std::string(error.what()), fmt::format(fmt::runtime(sentence), unknown.dump()));
    }
  }
  file.metadata["outcome"] = 0;  // as catena 0.1.0 wrote it
  files::write_safetensors(path, file);
  EXPECT_EQ(c.run(1, silent_progress(), {.path = path, .resume = true}, {{"run", 1}}).weights, c.run().weights);
}

TEST(TrainLoop, KeepsTheBestWeightsAndStopsWhenTheHeldOutLossRises) {
  Case c;
  c.settings.steps = 4000;
  c.settings.evaluations = 40;
  c.settings.patience = 0.1;
  c.settings.optimizer.weight_decay = 0;
  c.settings.optimizer.learning_rate = 1e-2;
  // 40 transitions, learned by heart within a few hundred steps.
  const TrainingData few(transitions_of("gaussian_rw", 40, {{"dim", 2}}), {.held_out = 0.5});
  const LoopResult result =
      train_loop("score", c.objective, few, 0, c.settings, Streams(5), Parallel(2), silent_progress());
  EXPECT_LT(result.steps, 4000);
  EXPECT_EQ(result.steps, result.best_step + 400);
  EXPECT_EQ(result.best_loss, *std::ranges::min_element(result.curve.held_out_loss));
}

TEST(TrainLoop, SaysThatItDivergedWhereNoHeldOutLossWasFinite) {
  Case c;
  c.settings.optimizer.learning_rate = 1e30;
  c.settings.optimizer.clip_norm = 1e30;
  EXPECT_EQ(c.run().outcome, Outcome::diverged);
}

TEST(TrainLoop, StopsAtTheTimeLimitWithWeights) {
  Case c;
  c.settings.steps = 1000000;
  c.settings.time_limit = 0.2;
  const LoopResult result = c.run();
  EXPECT_EQ(result.outcome, Outcome::time_limit);
  EXPECT_LT(result.steps, 1000000);
  EXPECT_FALSE(result.weights.empty());
}

}  // namespace
}  // namespace catena::train::loop_test
