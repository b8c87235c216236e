#include "catena/train/methods/fnre.h"

#include <gtest/gtest.h>

#include <cmath>

#include "catena/compose/density/series_ratio.h"
#include "train/train_cases.h"

namespace catena::train::fnre_test {
namespace {

model::TrainedModel train_small(const simulate::TransitionSet& set, const nlohmann::json& settings, int steps,
                                int threads) {
  return train_briefly("fnre", set, settings, steps, 250, threads);
}

nlohmann::json small(const std::string& loss, const std::string& network) {
  return {{"loss", loss},  {"network", network}, {"width", 16},   {"terms", 8},
          {"products", 8}, {"decay", 0.1},       {"balance", 10}, {"ensemble", 1}};
}

/// gaussian_rw, Δ = x^(t+1) − 0.9 x^t ~ N(θ, 1): r(z, c) − r(0, c) = Δ z − z²/2 exactly. For z and θ uniform on
/// [−1.5, 1.5] (nine tenths of the prior) this has a deviation of 1.25; a small network after 1,000 steps is given an
/// RMS error of a fifth of that if it is gaussian or separable, which can be exact, and of two fifths if it is joint.
TEST(EveryRatioLoss, LearnsGaussianRw) {
  const simulate::TransitionSet set = transitions_of("gaussian_rw", 4000, {{"dim", 1}});
  for (const std::string network : {"gaussian", "separable", "joint"}) {
    for (const RatioLoss& loss : ratio_losses()) {
      if (network == "joint" ? loss.noise : network == "gaussian" && loss.to_marginal) continue;
      const model::TrainedModel trained = train_small(set, small(std::string(loss.name), network), 1000, 2);
      const model::RatioModel model(trained);
      Stream stream = Streams(8).stream("test");
      double squares = 0;
      constexpr int tests = 300;
      for (int i = 0; i < tests; ++i) {
        Matrix series(2, 1), z(2, 1);
        const double delta = 3 * stream.uniform() - 1.5 + stream.normal();
        series(0, 0) = 10 * stream.normal();
        series(1, 0) = 0.9 * series(0, 0) + delta;
        z(0, 0) = 3 * stream.uniform() - 1.5;
        const auto ratio =
            compose::series_ratio(model, compose::observed_series("test", trained, series, {}), Parallel(1));
        double r[2];
        ratio->evaluate(z, r, {});
        squares += std::pow(r[0] - r[1] - (delta * z(0, 0) - 0.5 * z(0, 0) * z(0, 0)), 2) / tests;
      }
      EXPECT_LT(std::sqrt(squares), network == "joint" ? 0.5 : 0.25) << network << ", " << loss.name;
    }
  }
}

TEST(Fnre, HasTheSameBitsForAnyNumberOfThreads) {
  const simulate::TransitionSet set = transitions_of("gaussian_rw", 600, {{"dim", 2}});
  for (const char* network : {"auto", "gaussian", "separable", "joint"}) {
    nlohmann::json settings = small("contrastive", network);
    settings["ensemble"] = 3;
    settings["decay"] = 0;
    const model::TrainedModel one = train_small(set, settings, 30, 1);
    for (const int threads : {2, 5}) {
      const model::TrainedModel other = train_small(set, settings, 30, threads);
      ASSERT_EQ(one.networks.size(), 4U);  // whitening and three members
      for (const auto& [name, net] : one.networks) EXPECT_EQ(other.network(name).weights, net.weights) << name;
      EXPECT_EQ(one.settings, other.settings);
    }
  }
}

TEST(Fnre, RefusesAtomsThatDoNotFitABlock) {
  const simulate::TransitionSet set = transitions_of("gaussian_rw", 600, {{"dim", 1}});
  EXPECT_THROW(train_small(set, {{"network", "joint"}, {"atoms", 10}}, 10, 1), InputError);
  EXPECT_THROW(train_small(set, {{"network", "separable"}, {"atoms", 1}}, 10, 1), InputError);
  EXPECT_THROW(train_small(set, {{"network", "separable"}, {"atoms", 129}}, 10, 1), InputError);
}

TEST(Fnre, RefusesNoiseForJointNetworks) {
  const simulate::TransitionSet set = transitions_of("gaussian_rw", 600, {{"dim", 1}});
  EXPECT_THROW(train_small(set, {{"network", "joint"}, {"loss", "nce"}}, 10, 1), InputError);
}

TEST(Fnre, RefusesLossesOfTheMarginalForGaussianNetworks) {
  const simulate::TransitionSet set = transitions_of("gaussian_rw", 600, {{"dim", 1}});
  EXPECT_THROW(train_small(set, {{"network", "gaussian"}, {"loss", "bce"}}, 10, 1), InputError);
  EXPECT_EQ(train_small(set, {{"loss", "bce"}}, 10, 1).settings.at("network"), "separable");
}

/// Two modes far apart: no Gaussian density of the increment is near.
TEST(Fnre, KeepsTheKindOfNetworkThatTheHeldOutLossPrefers) {
  const auto chosen = [](const char* task, const nlohmann::json& options) {
    nlohmann::json settings = small("nce_contrastive", "auto");
    const model::TrainedModel model = train_small(transitions_of(task, 4000, options), settings, 600, 2);
    const nlohmann::json& losses = model.notes.at("held_out_losses");
    EXPECT_EQ(losses.size(), 2U);
    const bool gaussian = losses.at("gaussian-decay-0.1") < losses.at("separable-decay-0.1");
    EXPECT_EQ(model.settings.at("network"), gaussian ? "gaussian" : "separable") << losses.dump();
    return model.settings.at("network").get<std::string>();
  };
  EXPECT_EQ(chosen("linear_sde", nlohmann::json::object()), "gaussian");
  EXPECT_EQ(chosen("mixture_rw", {{"dim", 1}}), "separable");
}

TEST(Fnre, RefusesModelsOfOtherMethods) {
  const simulate::TransitionSet set = transitions_of("gaussian_rw", 600, {{"dim", 1}});
  model::TrainedModel model = train_small(set, small("bce", "separable"), 10, 1);
  model.method = "fnle";
  EXPECT_THROW(model::RatioModel{model}, InputError);
}

TEST(Fnre, RefusesAFileThatDoesNotSayWhatItsNetworkIs) {
  const model::TrainedModel model =
      train_small(transitions_of("gaussian_rw", 300, {{"dim", 1}}), small("bce", "separable"), 5, 1);
  for (const char* name : {"squares", "network"}) {
    model::TrainedModel without = model;
    without.settings.erase(name);
    EXPECT_THROW(model::RatioModel{without}, FileError) << name;
  }
}

}  // namespace
}  // namespace catena::train::fnre_test
