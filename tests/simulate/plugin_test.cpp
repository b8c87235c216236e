#include "catena/simulate/plugin.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "catena/core/errors.h"
#include "catena/simulate/transitions/transitions.h"

namespace catena::simulate::plugin_test {

namespace {

std::string plugin(const std::string& name) { return std::string(CATENA_PLUGINS) + "/" + name + ".so"; }

std::string failure(const std::string& name) {
  try {
    const Model model = load_plugin(name.find('/') == std::string::npos ? plugin(name) : name);
    SimulationPlan plan;
    plan.budget = 3000;
    simulate(model, plan, Parallel(2), silent_progress());
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

bool one_sentence(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos && text.find('\n') == std::string::npos;
}

}  // namespace

TEST(Plugin, TheExampleGivesTransitionsOfTheOrnsteinUhlenbeckProcess) {
  const Model model = load_plugin(plugin("ornstein_uhlenbeck"));
  EXPECT_EQ(model.simulator.name, "ornstein_uhlenbeck");
  EXPECT_EQ(model.prior.names(), std::vector<std::string>({"rate", "mean", "sd"}));
  EXPECT_EQ(model.simulator.state_names, std::vector<std::string>({"x"}));
  SimulationPlan plan;
  plan.budget = 20000;
  plan.seed = 5;
  const TransitionSet set = simulate(model, plan, Parallel(2), silent_progress());
  ASSERT_EQ(set.size(), 20000U);
  // (x' − mean of x')/(sd of x') is standard normal: mean and variance within 4.5 standard errors (false alarm 1e-5).
  double mean = 0, square = 0;
  for (std::size_t r = 0; r < set.size(); ++r) {
    const double rate = set.theta(r, 0), level = set.theta(r, 1), sd = set.theta(r, 2);
    ASSERT_TRUE(rate > 0.1 && rate < 2 && sd > 0);
    const double decay = std::exp(-0.1 * rate);
    const double noise =
        (set.x_next(r, 0) - level - (set.x(r, 0) - level) * decay) / (sd * std::sqrt((1 - decay * decay) / (2 * rate)));
    mean += noise / 20000;
    square += noise * noise / 20000;
  }
  EXPECT_NEAR(mean, 0, 4.5 / std::sqrt(20000));
  EXPECT_NEAR(square, 1, 4.5 * std::sqrt(2.0 / 20000));
  // The same bits on another number of threads, and with the predictive proposal the initial state is used.
  EXPECT_TRUE(simulate(model, plan, Parallel(1), silent_progress()).x_next == set.x_next);
  plan.proposal = {{"proposal", "predictive"}};
  EXPECT_EQ(simulate(model, plan, Parallel(1), silent_progress()).size(), 15000U);
}

TEST(Plugin, OfTheFirstVersionStillLoads) {
  const Model model = load_plugin(plugin("version1_plugin"));
  EXPECT_EQ(model.simulator.order, 1U);
  EXPECT_FALSE(model.simulator.uses_step);
  EXPECT_FALSE(static_cast<bool>(model.initial_given_theta));
  SimulationPlan plan;
  plan.budget = 10;
  const TransitionSet set = simulate(model, plan, Parallel(1), silent_progress());
  for (std::size_t r = 0; r < 10; ++r) EXPECT_EQ(set.x_next(r, 0), set.x(r, 0) + set.theta(r, 0));
}

TEST(Plugin, OfTheSecondVersionStillLoads) {
  const Model model = load_plugin(plugin("version2_plugin"));
  EXPECT_EQ(model.simulator.order, 2U);
  EXPECT_EQ(model.simulator.covariates(), 0U);
  SimulationPlan plan;
  plan.budget = 10;
  const TransitionSet set = simulate(model, plan, Parallel(1), silent_progress());
  for (std::size_t r = 0; r < 10; ++r) EXPECT_EQ(set.x_next(r, 0), set.x(r, 0) - set.x(r, 1) + set.theta(r, 0));
}

TEST(Plugin, MayTakeCovariates) {
  const Model model = load_plugin(plugin("covariates_plugin"));  // x' = x + a·light + food
  EXPECT_EQ(model.simulator.covariate_names, (std::vector<std::string>{"light", "food"}));
  SimulationPlan plan;
  plan.budget = 100;
  EXPECT_TRUE(one_sentence(failure("covariates_plugin"), "the table of covariates is missing, but must be given"));
  Matrix table(2, 2);
  std::ranges::copy(std::vector<double>{0.5, 1, 1.5, 2}, table.values().begin());
  plan.covariates = {table};
  const TransitionSet set = simulate(model, plan, Parallel(1), silent_progress());
  for (std::size_t r = 0; r < 100; ++r) {
    EXPECT_EQ(set.x_next(r, 0), set.x(r, 0) + set.theta(r, 0) * set.u(r, 0) + set.u(r, 1));
  }
}

TEST(Plugin, MayDeclareAnOrderAStepAndInitialStates) {
  const Model model = load_plugin(plugin("extended_plugin"));  // x' = x^t − x^(t−1) + a, x⁰ = a, x¹ = 2a
  SimulationPlan plan;
  plan.budget = 100;
  const TransitionSet set = simulate(model, plan, Parallel(1), silent_progress());
  for (std::size_t r = 0; r < 100; ++r) EXPECT_EQ(set.x_next(r, 0), set.x(r, 0) - set.x(r, 1) + set.theta(r, 0));
  plan.records.initial = true;
  const TransitionSet initial = simulate(model, plan, Parallel(1), silent_progress());
  ASSERT_EQ(initial.size(), 50U);
  for (std::size_t r = 0; r < 50; ++r) {
    EXPECT_EQ(initial.x_next(r, 0), initial.theta(r, 0));
    EXPECT_EQ(initial.x_next(r, 1), 2 * initial.theta(r, 0));
  }
  Stream stream = Streams(1).stream("series");
  Matrix theta(1, 1);
  theta(0, 0) = 3;
  const Matrix series = simulate_series(model, theta, 2, stream).front();
  EXPECT_EQ(std::vector<double>(series.values().begin(), series.values().end()), std::vector<double>({3, 6, 6, 3}));
}

TEST(Plugin, EveryWayToBeBrokenIsOneSentence) {
  const auto missing = failure("/nonexistent/libnone.so");
  EXPECT_TRUE(one_sentence(missing, "plugin: /nonexistent/libnone.so cannot be loaded: ")) << missing;
  const auto version = failure("broken_plugin_version");
  EXPECT_TRUE(
      one_sentence(version, "is 44, but must be 3 or earlier: compile it with this catena's catena_simulator.h"))
      << version;
  const auto symbol = failure("broken_plugin_symbol");
  EXPECT_TRUE(one_sentence(symbol, "has no function catena_plugin_step, which a catena plug-in must have")) << symbol;
  const auto prior = failure("broken_plugin_prior");
  EXPECT_TRUE(one_sentence(prior, "plugin: prior family is \"benford\", but must be one of ")) << prior;
  const auto thrown = failure("broken_plugin_throw");
  EXPECT_TRUE(one_sentence(thrown, "threw an exception: the solver lost its way")) << thrown;
  const auto status = failure("broken_plugin_status");
  EXPECT_TRUE(one_sentence(status, "failed with code 3: the table of rates is missing")) << status;
  const auto nan = failure("broken_plugin_nan");
  EXPECT_TRUE(
      one_sentence(nan, "the share of transitions whose result is not finite is 1 or more, but must be at most 0.1"))
      << nan;
}

TEST(Plugin, AFileThatIsNoLibraryIsOneSentence) {
  const auto path =
      std::filesystem::temp_directory_path() / ("catena-no-library-" + std::to_string(::getpid()) + ".so");
  std::ofstream(path) << "this is no library\n";
  EXPECT_TRUE(one_sentence(failure(path.string()), "cannot be loaded: ")) << failure(path.string());
  std::filesystem::remove(path);
}

}  // namespace catena::simulate::plugin_test
