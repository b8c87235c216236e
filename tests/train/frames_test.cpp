// Embeddings of states: frames in the order of their series wherever they come from, one loss for each pair of
// neighbours, and models that see at inference what they saw in training.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "catena/compose/observed_series.h"
#include "catena/core/errors.h"
#include "catena/train/frames/embed.h"
#include "catena/train/frames/frame_objective.h"
#include "catena/train/frames/frame_source.h"
#include "catena/train/recipe.h"
#include "message_of.h"

namespace catena::train::frames_test {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t side = 12, cells = side * side;

/// A field that θ lifts everywhere: x' = 0.9 x + 0.3 θ + 0.1 ε, so that one step leaves a deviation of 0.1/(0.3 · 12).
simulate::Model lifted_field() {
  simulate::Model model;
  model.prior = prior::Prior::standard({"lift"});
  model.simulator.name = "lifted_field";
  model.simulator.parameter_names = {"lift"};
  model.simulator.state_names = simulate::numbered_names("x", cells);
  model.simulator.step = [](const simulate::StepInput& input, Stream& stream, StateBlock next) {
    fill_normal(stream, next);
    for (std::size_t i = 0; i < cells; ++i) {
      for (std::size_t l = 0; l < next.lanes; ++l) {
        next(i, l) = static_cast<float>(0.9 * input.state(i, l) + 0.3 * input.theta(0, l) + 0.1 * next(i, l));
      }
    }
  };
  model.initial_state = [](Stream& stream, std::span<double> state) {
    for (double& value : state) value = static_cast<float>(stream.normal());
  };
  model.single_precision = true;
  model.state_shape = "1x12x12";
  return model;
}

simulate::SimulationPlan rollouts(std::uint64_t budget) {
  simulate::SimulationPlan plan;
  plan.proposal = {{"proposal", "rollout"}, {"length", 20}, {"short_length", 5}};
  plan.budget = budget;
  plan.seed = 2;
  return plan;
}

class EmbeddedStates : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = fs::temp_directory_path() / ("catena-embedded-" + std::to_string(::getpid()) + "-" +
                                         ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".nc");
  }
  void TearDown() override { fs::remove(path_); }
  fs::path path_;
};

/// (x, x_next, z) of all pairs that a source has, by their first numbers.
std::multiset<std::vector<double>> pairs_of(const FrameSource& source) {
  std::multiset<std::vector<double>> pairs;
  const Matrix frames = source.read(0, source.size());
  for (std::size_t f = 0; f + 1 < source.size(); ++f) {
    if (source.joined(f)) pairs.insert({frames(f, 0), frames(f, 7), frames(f + 1, 0), frames(f + 1, 7), *source.z(f)});
  }
  return pairs;
}

nlohmann::json small_network() {
  return {{"embedding", "conv"},
          {"convolutions", "8x4/2,8x3"},
          {"embedding_width", 8},
          {"embedding_steps", 300},
          {"network", "separable"},
          {"ensemble", 1},
          {"width", 16},
          {"layers", 2},
          {"terms", 8},
          {"centre", false},
          {"decay", 0.01}};
}

model::TrainedModel trained(const fs::path& path, const std::string& method, nlohmann::json settings, int threads) {
  const Method& entry = methods().at("test", method);
  TrainingData data(path, split_of("test", entry, settings));
  const Recipe recipe = recipe_of("test", entry, settings, data.training_size());
  const MethodContext context{.data = data,
                              .loop = recipe.loop,
                              .settings = recipe.settings,
                              .streams = Streams(5),
                              .parallel = Parallel(threads),
                              .progress = silent_progress(),
                              .checkpoint = {}};
  return train(method, context);
}

}  // namespace

TEST_F(EmbeddedStates, AreTheSamePairsFromAFileOfFramesFromMemoryAndFromAnOlderFile) {
  const simulate::Model model = lifted_field();
  simulate::simulate_to_file(path_, model, rollouts(1000), Parallel(2), silent_progress());
  const simulate::TransitionFile file(path_);
  const FrameSource from_file(file);
  const simulate::TransitionSet set = simulate::simulate(model, rollouts(1000), Parallel(1), silent_progress());
  const FrameSource from_memory(set);
  EXPECT_EQ(from_file.joints(), 1000U);
  EXPECT_EQ(from_memory.joints(), 1000U);
  EXPECT_EQ(from_file.size(), from_memory.size());
  EXPECT_EQ(pairs_of(from_memory), pairs_of(from_file));
  for (const FrameSource* source : {&from_file, &from_memory}) {
    for (const std::size_t r : {std::size_t{0}, std::size_t{500}, std::size_t{999}}) {
      const auto [x, x_next] = source->places(r);
      EXPECT_EQ(source->read(x, x + 1)(0, 3), set.x(r, 3));
      EXPECT_EQ(source->read(x_next, x_next + 1)(0, 3), set.x_next(r, 3));
    }
  }
  simulate::write_transitions(path_, set);  // which has two states in each record
  const simulate::TransitionFile older(path_);
  EXPECT_EQ(older.frames(), 0U);
  const FrameSource from_older(older);
  EXPECT_EQ(from_older.size(), 2000U);
  EXPECT_EQ(pairs_of(from_older), pairs_of(from_file));
}

TEST_F(EmbeddedStates, HaveTheMeanLossOfTheirPairsWhereverRunsAreCut) {
  // Runs of 16 frames, of which neighbours share one: the mean over lanes, weighted, is the mean over pairs.
  const simulate::TransitionSet set = simulate::simulate(lifted_field(), rollouts(900), Parallel(1), silent_progress());
  model::FrameNetworkSettings settings;
  settings.convolutions = "8x4/2,8x3";
  settings.embedding_width = 8;
  const model::FrameShape shape{1, side, side};
  const FrameObjective objective(settings, shape, 1, 0.75);
  const AlignedVector<float> weights = objective.graph().initial_weights(Streams(1));
  nn::Workspace workspace(objective.graph(), objective.block_lanes(), nn::Purpose::training());
  Examples examples;
  examples.parameters = pairs_of_example * 2;
  examples.features = cells;
  const std::size_t frames = frames_of_example + pairs_of_example;
  for (std::size_t f = 0; f < frames; ++f) {
    for (std::size_t i = 0; i < cells; ++i) examples.c.push_back(static_cast<float>(set.x(f, i)));
  }
  for (std::size_t k = 0; k < 2 * pairs_of_example; ++k) {
    examples.z.push_back(static_cast<float>(set.z(k, 0)));
    examples.z.push_back(k % 3 == 0 ? 0.0F : 1.0F);  // some that do not count
  }
  examples.series = {{0, frames_of_example}, {pairs_of_example, frames_of_example}};
  const auto losses = [&](const std::vector<std::size_t>& order) {
    objective.fill(workspace, {examples, order, 0, order.size()}, Streams(1).stream("none"));
    workspace.forward(weights, order.size() * frames_of_example);
    const Block loss = workspace.value(objective.loss(), order.size() * frames_of_example);
    return std::vector<float>(loss.data, loss.data + loss.lanes);
  };
  const auto both = losses({0, 1}), second = losses({1});
  for (std::size_t l = 0; l < frames_of_example; ++l) {
    EXPECT_EQ(both[frames_of_example + l], second[l]);
    const bool counts = l < pairs_of_example && (pairs_of_example + l) % 3 != 0;
    EXPECT_EQ(second[l] != 0, counts) << l;
  }
}

TEST_F(EmbeddedStates, TellWhatAStepSaysOfTheParameters) {
  simulate::simulate_to_file(path_, lifted_field(), rollouts(4000), Parallel(2), silent_progress());
  nlohmann::json settings = small_network();
  settings["steps"] = 20;
  const model::TrainedModel one = trained(path_, "fnse", settings, 1);
  // ½ for the prior's own Gaussian, ½ − log(36) = −3.1 for the exact posterior's.
  EXPECT_LT(one.network(model::frames_network).held_out_loss, -1);
  EXPECT_EQ(one.state_names, lifted_field().simulator.state_names);
  EXPECT_EQ(one.features.states(), 8U);
  EXPECT_EQ(one.settings["state_shape"], "1x12x12");
  for (const int threads : {2, 5}) {
    const model::TrainedModel other = trained(path_, "fnse", settings, threads);
    ASSERT_TRUE(other.networks.size() == one.networks.size());
    for (const auto& [name, network] : one.networks)
      EXPECT_TRUE(other.network(name).weights == network.weights) << name;
  }
}

TEST(Runs, OfMoreThanMemoryHoldsAreMadeWindowByWindow) {
  std::size_t most = 0;
  const auto make = [&](std::size_t begin, std::size_t end) {
    Examples examples;
    examples.parameters = examples.features = 1;
    for (std::size_t i = begin; i < end; ++i) {
      examples.z.push_back(static_cast<float>(i));
      examples.c.push_back(static_cast<float>(i));
    }
    most = std::max(most, end - begin);
    return examples;
  };
  const TrainingData data(100, 30, make, {.held_out = 0.1});
  EXPECT_EQ(data.windows(), 3U);
  EXPECT_EQ(data.folds(), 1U);
  std::multiset<float> seen;
  for (const std::size_t w : {2, 0, 1, 0}) {
    const Examples& window = data.window(w);
    ASSERT_EQ(window.size(), data.training_rows(w, 0).count);
    EXPECT_EQ(*window.z_of(0), static_cast<float>(30 * w));
    for (std::size_t i = 0; w != 0 && i < window.size(); ++i) seen.insert(*window.z_of(i));
  }
  EXPECT_EQ(seen.size(), 60U);
  EXPECT_EQ(*seen.rbegin(), 89);
  EXPECT_EQ(*data.held_out().z_of(0), 90);
  EXPECT_EQ(data.held_out().size(), 10U);
  EXPECT_EQ(most, 30U);
  EXPECT_EQ(TrainingData(20, 30, make, {.held_out = 0.1}).window(0).size(), 20U);
}

TEST_F(EmbeddedStates, AreLookedAtInOtherShiftsEveryTime) {
  model::FrameNetworkSettings settings;
  settings.convolutions = "4x4/2";
  settings.embedding_width = 4;
  const model::FrameShape shape{2, 8, 12};
  const FrameObjective objective(settings, shape, 1, 1, model::FrameShifts::parse("test", "2x4", shape));
  nn::Workspace workspace(objective.graph(), objective.block_lanes(), nn::Purpose::training());
  Examples examples;
  examples.parameters = 2 * pairs_of_example;
  examples.features = shape.size();
  examples.z.resize(examples.parameters);
  for (std::size_t i = 0; i < frames_of_example * shape.size(); ++i) examples.c.push_back(static_cast<float>(i));
  examples.series = {{0, frames_of_example}};
  const std::vector<std::size_t> order{0};
  const nn::Value frames{objective.graph().inputs()[0]};
  std::set<std::pair<std::size_t, std::size_t>> seen;
  for (int look = 0; look < 150; ++look) {
    objective.fill(workspace, {examples, order, 0, 1}, Streams(1).stream("look", look));
    const Block block = workspace.value(frames, frames_of_example);
    const auto first = static_cast<std::size_t>(block(0, 0)) / 2;  // the place that stands first: channels are two
    const std::size_t up = first / 12, left = first % 12;
    ASSERT_TRUE(up % 2 == 0 && left % 4 == 0);
    seen.insert({up, left});
    for (std::size_t k = 0; k < frames_of_example; ++k) {
      for (std::size_t y = 0; y < 8; ++y) {
        for (std::size_t x = 0; x < 12; ++x) {
          for (std::size_t c = 0; c < 2; ++c) {
            const std::size_t from = (((y + up) % 8) * 12 + (x + left) % 12) * 2 + c;
            ASSERT_EQ(block((y * 12 + x) * 2 + c, k), examples.c[k * shape.size() + from]);
          }
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), 12U);  // one of 12 is missing with probability 12 (11/12)^150 = 3e-5
}

TEST_F(EmbeddedStates, AreWhatAModelSeesAfterItWasWrittenToo) {
  const simulate::Model model = lifted_field();
  simulate::simulate_to_file(path_, model, rollouts(1500), Parallel(2), silent_progress());
  for (const char* method : {"fnse", "fnre"}) {
    nlohmann::json settings = small_network();
    settings["steps"] = 10;
    if (std::string_view(method) == "fnre") {
      for (const char* of_scores : {"terms", "centre", "decay"}) settings.erase(of_scores);
    }
    const model::TrainedModel made = trained(path_, method, settings, 2);
    const model::TrainedModel read = model::parse_model(model::model_bytes(made), "test");
    ASSERT_TRUE(read.embedding != nullptr);
    EXPECT_EQ(read.states(), cells);
    EXPECT_EQ(read.seen_names(), model::embedding_names(8));
    Stream stream = Streams(8).stream("series");
    Matrix theta(1, 1);
    const Matrix series = simulate::simulate_series(model, theta, 6, stream)[0];
    const auto of_made = compose::observed_series("test", made, series, {}),
               of_read = compose::observed_series("test", read, series, {});
    EXPECT_TRUE(of_made.c == of_read.c);
    EXPECT_EQ(of_made.c.cols(), 16U);
    EXPECT_EQ(of_made.x.cols(), cells);
    EXPECT_EQ(of_made.x(2, 5), series(2, 5));
  }
}

TEST_F(EmbeddedStates, AreRefusedWhereTheyMakeNoSense) {
  simulate::Model model = lifted_field();
  model.state_shape = "";
  simulate::simulate_to_file(path_, model, rollouts(1500), Parallel(2), silent_progress());
  nlohmann::json settings = small_network();
  EXPECT_NE(message_of([&] { trained(path_, "fnse", settings, 1); }).find("train: state_shape is missing, but must be"),
            std::string::npos);
  settings["state_shape"] = "2x12x12";
  EXPECT_NE(message_of([&] {
              trained(path_, "fnse", settings, 1);
            }).find("train: state_shape is 2x12x12, but must be of 144 numbers in all"),
            std::string::npos);
  settings["state_shape"] = "1x12x12";
  settings["convolutions"] = "8x11";
  EXPECT_NE(message_of([&] {
              trained(path_, "fnse", settings, 1);
            }).find("train: state_shape is 1x12x12, but must be large enough"),
            std::string::npos);
  EXPECT_NE(message_of([&] { trained(path_, "fnse", {{"convolutions", "8x3"}}, 1); }).find("convolutions"),
            std::string::npos);
}

}  // namespace catena::train::frames_test
