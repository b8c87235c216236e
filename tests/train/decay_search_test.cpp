#include "catena/train/choose/decay_search.h"
#include "catena/train/choose/inputs.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "catena/train/objectives/density.h"
#include "train/train_cases.h"

namespace catena::train::decay_search_test {
namespace {

constexpr int trial_steps = 20, all_steps = 60;

model::DensitySettings small_density() {
  model::DensitySettings settings;
  settings.width = settings.z_width = 16;
  settings.layers = 1;
  settings.terms = 4;
  settings.components = 2;
  return settings;
}

struct Found {
  model::TrainedModel model;
  SearchResult best;
};

/// Gaussian, separable and mixture with one decay; candidates have fewer steps than there are in all.
Found search(const simulate::TransitionSet& set, const CheckpointPlan& checkpoint, int threads) {
  TrainingData data(set, {});
  LoopSettings loop;
  loop.steps = all_steps;
  loop.batch_size = 100;
  DecaySearch plan = density_search(small_density(), choose_inputs({}, data), 0.1, "default", loop, data);
  plan.trial_steps = trial_steps;
  const MethodContext context{.data = data,
                              .loop = loop,
                              .settings = {},
                              .streams = Streams(5),
                              .parallel = Parallel(threads),
                              .progress = silent_progress(),
                              .checkpoint = checkpoint};
  Found found;
  found.model = empty_model("fnle", context, {});
  found.best = search_decay(found.model, "kept", plan, context);
  return found;
}

TEST(DecaySearch, TrainsTheBestTwoKindsWithAllSteps) {
  const Found found = search(transitions_of("linear_sde", 1000, nlohmann::json::object()), {}, 2);
  ASSERT_EQ(found.model.networks.size(), 1U);
  EXPECT_EQ(found.model.network("kept").steps, all_steps);
  const nlohmann::json trials = found.model.notes.at("held_out_losses"),
                       finals = found.model.notes.at("final_held_out_losses");
  EXPECT_EQ(trials.size(), 3U);
  EXPECT_EQ(finals.size(), 2U);
  for (const auto& [label, loss] : trials.items()) {  // the one that is left out was the worst
    if (finals.contains(label)) continue;
    for (const auto& [other, better] : finals.items()) EXPECT_GE(loss, trials.at(other)) << label << ", " << other;
  }
  for (const auto& [label, loss] : finals.items()) {
    EXPECT_LT(loss, trials.at(label)) << label;
    EXPECT_GE(loss.get<double>() + 0.003, found.model.network("kept").held_out_loss) << label;
  }
  EXPECT_EQ(finals.at(found.best.kind + "-decay-0.1"), found.model.network("kept").held_out_loss);
}

/// Candidates and finalists each have a checkpoint of their own, so that a run that was killed anywhere goes on.
TEST(DecaySearch, GoesOnFromItsCheckpointsToTheSameBits) {
  const simulate::TransitionSet set = transitions_of("linear_sde", 1000, nlohmann::json::object());
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "catena_decay_search_test";
  std::filesystem::create_directories(folder);
  const Found whole = search(set, {}, 1);
  const Found first = search(set, {.path = folder / "model", .seconds = 0}, 2);
  EXPECT_GE(std::distance(std::filesystem::directory_iterator(folder), {}), 5);
  const Found again = search(set, {.path = folder / "model", .seconds = 0, .resume = true}, 5);
  for (const Found* other : {&first, &again}) {
    EXPECT_EQ(other->best.kind, whole.best.kind);
    EXPECT_EQ(other->model.network("kept").weights, whole.model.network("kept").weights);
    EXPECT_EQ(other->model.notes, whole.model.notes);
  }
  std::filesystem::remove_all(folder);
}

TEST(DecaySearch, LeavesSeparableDensitiesOutWhereTheyAreOfNoUse) {
  using Kinds = std::vector<std::string>;
  const auto kinds = [](std::size_t dim, std::optional<BlurLevels> blur) {
    const simulate::TransitionSet set = transitions_of("gaussian_rw", 200, {{"dim", dim}});
    TrainingData data(set, {});
    return density_search({}, choose_inputs({}, data), 0, "default", {}, data, blur).kinds;
  };
  EXPECT_EQ(kinds(16, {}), (Kinds{"gaussian", "separable"}));
  EXPECT_EQ(kinds(17, {}), Kinds{"gaussian"});
  EXPECT_EQ(kinds(2, BlurLevels{}), Kinds{"gaussian"});
}

}  // namespace
}  // namespace catena::train::decay_search_test
