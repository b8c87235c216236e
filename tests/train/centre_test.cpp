// The centre network: what it learns is the error in the mean of the scores it is shown.
#include "catena/train/objectives/centre.h"

#include <gtest/gtest.h>

#include <cmath>

#include "catena/train/loop.h"
#include "train/train_cases.h"

namespace catena::train::centre_test {
namespace {

TEST(Centre, LearnsAShiftThatIsAddedToEveryScore) {
  // A score network whose output layer has no weights but a bias: y = shift, whatever it sees. The mean of y must be
  // y₀ = θ_a (1/m − v/(m (m² + σ²))), so that its error is shift − y₀.
  const TrainingData data(transitions_of("gaussian_rw", 4000, {{"dim", 1}}), {});
  model::ScoreNetworkSettings network;
  network.network = "joint";
  network.width = 8;
  network.layers = 1;
  network.prior_share = model::papers_prior_share;  // with the whole variance y₀ would be 0
  const model::ScoreGraph score = model::record_score(network, 1, 2, nn::Lanes::each());
  AlignedVector<float> weights = score.graph.initial_weights(Streams(1));
  constexpr float shift = 0.75F;
  for (const nn::ParameterInfo& info : score.graph.parameters()) {
    if (!info.name.starts_with("output")) continue;
    std::fill_n(weights.begin() + static_cast<std::ptrdiff_t>(info.offset), info.size(),
                info.name == "output.bias" ? shift : 0.0F);
  }
  const model::NamedWeights named = model::named_weights(score.graph, weights);
  const CentreObjective objective(network, "variance_preserving", {}, {&named}, "test", data);
  LoopSettings loop{.steps = 1500, .batch_size = 200, .evaluations = 5};
  const LoopResult result = train_loop("centre", objective, data, 0, loop, Streams(1), Parallel(2), silent_progress());

  model::ScoreGraph centre = model::record_score(model::centre_network(), 1, 1, nn::Lanes::one());
  const auto learned =
      model::flat_weights(centre.graph, model::named_weights(objective.graph(), result.weights), "test");
  nn::Workspace workspace(centre.graph, 16, nn::Purpose::inference());
  const diffusion::Schedule schedule;
  for (const double a : {0.1, 0.5}) {
    const model::Precondition p(schedule, a, network.prior_share);
    const Block variable = workspace.value(centre.variable, 16), state = workspace.value(centre.condition, 16);
    std::vector<double> theta_a(16);
    for (std::size_t l = 0; l < 16; ++l) {
      theta_a[l] = -1.5 + 0.2 * static_cast<double>(l);
      variable(0, l) = static_cast<float>(p.c_in * theta_a[l]);
      state(0, l) = static_cast<float>(l) / 8 - 1;
    }
    workspace.value(centre.level, 16)(0, 0) = static_cast<float>(p.sigma);
    workspace.forward(learned, 16);
    for (std::size_t l = 0; l < 16; ++l) {
      const double prior = theta_a[l] * (1 - p.v / (p.m * p.m + p.sigma * p.sigma)) / p.m;
      // Regression without noise: what is left is how far 1,500 steps get.
      EXPECT_NEAR(workspace.value(centre.y, 16)(0, l), shift - prior, 0.1) << "a = " << a << ", lane " << l;
    }
  }
}

TEST(Centre, JudgesARowByMembersThatHaveNotSeenIt) {
  // Two members with different constant outputs; fold 0 are the last rows, fold 1 those before. Rows of fold 0 have the
  // first member's output as target, so that with both folds in equal shares the best constant is in the middle.
  const TrainingData data(transitions_of("gaussian_rw", 2000, {{"dim", 1}}), {.held_out = 0.25});
  model::ScoreNetworkSettings network;
  network.network = "joint";
  network.width = 8;
  network.layers = 1;
  network.prior_share = model::papers_prior_share;  // with the whole variance y₀ would be 0
  const model::ScoreGraph score = model::record_score(network, 1, 2, nn::Lanes::each());
  std::vector<model::NamedWeights> members;
  for (const float output : {1.0F, 3.0F}) {
    AlignedVector<float> weights = score.graph.initial_weights(Streams(1));
    for (const nn::ParameterInfo& info : score.graph.parameters()) {
      if (!info.name.starts_with("output")) continue;
      std::fill_n(weights.begin() + static_cast<std::ptrdiff_t>(info.offset), info.size(),
                  info.name == "output.bias" ? output : 0.0F);
    }
    members.push_back(model::named_weights(score.graph, weights));
  }
  const CentreObjective objective(network, "variance_preserving", {}, {&members[0], &members[1]}, "test", data);
  nn::Workspace workspace(objective.graph(), 128, nn::Purpose::training());
  const auto input = [&](std::string_view name) {
    for (const int node : objective.graph().inputs()) {
      if (objective.graph().nodes()[static_cast<std::size_t>(node)].name == name) return nn::Value{node};
    }
    return nn::Value{};
  };
  for (const std::size_t fold : {0U, 1U}) {
    std::vector<std::size_t> order(64);
    for (std::size_t i = 0; i < 64; ++i) order[i] = data.first_held_out(fold) + i;
    objective.fill(workspace, {data.window(0), order, 0, 64}, Streams(2).stream("noise"));
    const Block target = workspace.value(input("target"), 64), variable = workspace.value(input("variable"), 64),
                level = workspace.value(input("level"), 64);
    for (std::size_t l = 0; l < 64; ++l) {
      // σ gives m for this schedule: m² = 1 − σ².
      const double sigma = level(0, l), m = std::sqrt(1 - sigma * sigma), v = 0.5 * m * m + sigma * sigma;
      const double theta_a = variable(0, l) / std::sqrt(0.5 / v);
      EXPECT_NEAR(target(0, l), (fold == 0 ? 1.0 : 3.0) - theta_a * (1 - v) / m, 1e-3) << fold << " " << l;
    }
  }
}

}  // namespace
}  // namespace catena::train::centre_test
