// Records of every shape from a simulator whose results can be recomputed: x^(t+1) = a x^t + b x^(t−1) + θ + t/100, no
// noise.
#include "catena/simulate/records/record.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "catena/core/progress.h"
#include "catena/simulate/transitions/transitions.h"

namespace catena::simulate::record_test {
namespace {

constexpr double a = 0.5, b = 0.25;

struct PlainStepper {
  void step(const StepInput& input, Stream&, StateBlock next) const {
    for (std::size_t l = 0; l < next.lanes; ++l) {
      const double before = input.state.features > 1 ? input.state(1, l) : 0;
      const double dt = input.step == nullptr ? 1 : input.step[l];
      next(0, l) = a * input.state(0, l) + b * before + dt * input.theta(0, l) + 0.01 * input.time[l];
    }
  }
};

Model model_of_order(std::size_t order) {
  Model model;
  model.prior = prior::Prior::standard({"theta"});
  model.simulator = make_simulator("plain", {"theta"}, {"x"}, PlainStepper{}, /*uses_time=*/true);
  model.simulator.order = order;
  model.initial_state = fixed_state(std::vector<double>(order, 1.0));
  prior::Prior proposal;
  proposal.add({"x"}, prior::normal(0, 1));
  model.proposal = {{"proposal", "fixed"}, {"states", proposal.to_json()}, {"times", 7}};
  model.fixed_proposal = model.proposal;
  return model;
}

TransitionSet made(const Model& model, const RecordPlan& records, std::uint64_t budget,
                   const nlohmann::json& proposal = nullptr) {
  SimulationPlan plan;
  plan.budget = budget;
  plan.records = records;
  plan.proposal = proposal;
  return simulate(model, plan, Parallel(2), silent_progress());
}

std::string sentence(const std::function<void()>& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Records, OfHigherOrderHaveTheLatestStateFirst) {
  const TransitionSet set = made(model_of_order(2), {}, 3000);
  ASSERT_EQ(set.size(), 3000U);
  EXPECT_EQ(set.shape(), (RecordShape{.states = 1, .order = 2, .block = 1, .time = true}));
  for (std::size_t r = 0; r < set.size(); ++r) {
    EXPECT_DOUBLE_EQ(set.x_next(r, 0), a * set.x(r, 0) + b * set.x(r, 1) + set.theta(r, 0) + 0.01 * set.time(r, 0));
  }
}

TEST(Records, OfBlocksHoldTheirStatesInOrderAndCostThemAll) {
  const TransitionSet set = made(model_of_order(2), {.block = 3, .steps = {}}, 3001);
  ASSERT_EQ(set.size(), 1000U);
  EXPECT_EQ(set.provenance["inner_steps"], 3000);
  for (std::size_t r = 0; r < set.size(); ++r) {
    double last = set.x(r, 0), before = set.x(r, 1);
    for (std::size_t j = 0; j < 3; ++j) {
      const double t = set.time(r, 0) + static_cast<double>(j);
      const double next = a * last + b * before + set.theta(r, 0) + 0.01 * t;
      EXPECT_DOUBLE_EQ(set.x_next(r, j), next);
      before = last;
      last = next;
    }
  }
}

TEST(Records, OverGapsAreSoManyInnerStepsWhichTheBudgetCounts) {
  // Steps 2, 3, 4, 2, 3, …: 9 inner steps for three records.
  for (const char* proposal : {"fixed", "rollout"}) {
    const TransitionSet set =
        made(model_of_order(1), {.varying_steps = true, .steps = {2, 4}}, 9 * 700 + 6, {{"proposal", proposal}});
    ASSERT_EQ(set.size(), 2102U);
    EXPECT_EQ(set.provenance["inner_steps"], 9 * 700 + 5);
    for (std::size_t r = 0; r < set.size(); ++r) {
      ASSERT_EQ(set.step(r, 0), static_cast<double>(2 + r % 3));
      double x = set.x(r, 0);
      for (double k = 0; k < set.step(r, 0); ++k) x = a * x + set.theta(r, 0) + 0.01 * (set.time(r, 0) + k);
      ASSERT_DOUBLE_EQ(set.x_next(r, 0), x) << proposal << " " << r;
    }
  }
}

TEST(Records, OfASimulatorWithItsOwnStepAreDrawnFromTheRange) {
  Model model = model_of_order(1);
  EXPECT_EQ(sentence([&] { made(model, {.varying_steps = true, .steps = {0.5, 2}}, 100); }),
            "simulate: the range of steps is 0.5..2, but must be whole numbers: this simulator does not declare a step "
            "of its own");
  model.simulator.uses_step = true;
  const TransitionSet set = made(model, {.varying_steps = true, .steps = {0.5, 2}}, 1000);
  ASSERT_EQ(set.size(), 1000U);
  double least = 2, most = 0.5;
  for (std::size_t r = 0; r < set.size(); ++r) {
    least = std::min(least, set.step(r, 0));
    most = std::max(most, set.step(r, 0));
    EXPECT_DOUBLE_EQ(set.x_next(r, 0), a * set.x(r, 0) + set.step(r, 0) * set.theta(r, 0) + 0.01 * set.time(r, 0));
  }
  EXPECT_GE(least, 0.5);
  EXPECT_LT(least, 0.52);  // 1,000 uniform draws: all above with chance (1 − 0.02/1.5)^1000 = 1.5e-6
  EXPECT_GT(most, 1.98);
  EXPECT_LE(most, 2);
}

TEST(Records, OfInitialStatesNeedASimulatorThatDeclaresThem) {
  Model model = model_of_order(2);
  EXPECT_EQ(sentence([&] { made(model, {.initial = true, .steps = {}}, 10); }),
            "simulate: the initial state of this simulator is independent of theta, but must be declared as a function "
            "of theta to be learned");
  model.initial_given_theta = [](ConstStateBlock theta, Stream&, StateBlock window) {
    for (std::size_t l = 0; l < window.lanes; ++l) {
      window(0, l) = 2 * theta(0, l);  // the latest, x¹
      window(1, l) = theta(0, l);      // x⁰
    }
  };
  const TransitionSet set = made(model, {.initial = true, .steps = {}}, 2000);
  ASSERT_EQ(set.size(), 1000U);  // two states each
  EXPECT_TRUE(set.shape().initial());
  for (std::size_t r = 0; r < set.size(); ++r) {
    EXPECT_EQ(set.x_next(r, 0), set.theta(r, 0));
    EXPECT_EQ(set.x_next(r, 1), 2 * set.theta(r, 0));
  }
}

TEST(Records, RefuseWhatAChainCannotDo) {
  EXPECT_EQ(sentence([] { made(model_of_order(2), {.varying_steps = true, .steps = {1, 2}}, 10); }),
            "simulate: the order of the chain is 2, but must be 1 where steps vary: over a gap, earlier states are not "
            "enough");
  EXPECT_EQ(sentence([] { made(model_of_order(1), {.block = 2, .varying_steps = true, .steps = {}}, 10); }),
            "simulate: block is 2, but must be 1 where steps vary");
  EXPECT_EQ(sentence([] { made(model_of_order(1), {.block = 20, .steps = {}}, 10); }),
            "simulate: budget is 10, but must be enough for one record");
}

TEST(Records, SurviveTheirFileInEveryShape) {
  Model model = model_of_order(1);
  model.initial_given_theta = [](ConstStateBlock theta, Stream& stream, StateBlock window) {
    stream.fill_normal({window.feature(0), window.lanes});
    for (std::size_t l = 0; l < window.lanes; ++l) window(0, l) += theta(0, l);
  };
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / "records.nc";
  const std::vector<RecordPlan> plans{
      {}, {.block = 4, .steps = {}}, {.initial = true, .steps = {}}, {.varying_steps = true, .steps = {1, 3}}};
  for (const RecordPlan& records : plans) {
    SimulationPlan plan;
    plan.budget = 3000;
    plan.records = records;
    const TransitionSet set = simulate(model, plan, Parallel(1), silent_progress());
    simulate_to_file(path, model, plan, Parallel(2), silent_progress());
    const TransitionSet read = read_transitions(path);
    EXPECT_EQ(read.shape(), set.shape());
    EXPECT_TRUE(read.z == set.z && read.x == set.x && read.x_next == set.x_next && read.time == set.time &&
                read.step == set.step);
  }
  std::filesystem::remove(path);
}

TEST(Steps, AreParsedAsARange) {
  EXPECT_EQ(parse_steps("f", "--gaps", "2..5"), (StepRange{2, 5}));
  EXPECT_EQ(parse_steps("f", "--gaps", "0.5"), (StepRange{0.5, 0.5}));
  for (const char* wrong : {"5..2", "0..1", "..", "a..b", "1...2", ""}) {
    EXPECT_NE(sentence([&] { static_cast<void>(parse_steps("f", "--gaps", wrong)); }), "") << wrong;
  }
}

TEST(Times, OfAFixedProposalComeFromAnyDistribution) {
  const Model model = model_of_order(1);
  const auto times = [&](const nlohmann::json& at) {
    const TransitionSet set = made(model, {}, 2000, {{"proposal", "fixed"}, {"at_times", at}});
    return std::vector<double>(set.time.values().begin(), set.time.values().end());
  };
  for (const double t : times({3, 5})) EXPECT_TRUE(t == 3 || t == 4 || t == 5);
  for (const double t : times({{"values", {0.5, 8}}})) EXPECT_TRUE(t == 0.5 || t == 8);
  double sum = 0;
  for (const double t : times({{"family", "uniform"}, {"low", 2}, {"high", 4}})) {
    EXPECT_TRUE(t > 2 && t < 4);
    sum += t;
  }
  EXPECT_NEAR(sum / 2000, 3, 4.5 * 2 / std::sqrt(12.0 * 2000));  // false alarms: 7e-6
  EXPECT_EQ(sentence([&] { times("soon"); }),
            "fixed proposal: times is \"soon\", but must be a whole number of times, [LOW, HIGH], {\"values\": …} or "
            "{\"family\": …}");
}

}  // namespace
}  // namespace catena::simulate::record_test
