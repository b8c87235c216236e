#include "catena/simulate/proposal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "catena/core/errors.h"
#include "catena/simulate/source.h"
#include "simulate/walk_model.h"

namespace catena::simulate::proposal_test {

namespace {

constexpr std::size_t draws = 20000;

ProposalPtr make(const Model& model, const nlohmann::json& description, const std::vector<Matrix>& target = {}) {
  std::vector<SeriesView> views;
  for (const Matrix& series : target) views.push_back({.states = series, .times = {}, .names = {}});
  return make_proposal("test", description, {model, Streams(2), views});
}

/// A proposal of every kind, for tests that walk the registry.
ProposalPtr make_any(const Model& model, std::string_view name) {
  std::vector<Matrix> target(1, Matrix(4, model.simulator.states()));
  return make(model, {{"proposal", name}}, target);
}

}  // namespace

TEST(EveryProposal, IsMadeFromItsNameAndDescribesItself) {
  const Model model = walk_model(2);
  for (const ProposalEntry& entry : proposals()) {
    const ProposalPtr proposal = make_any(model, entry.name);
    EXPECT_EQ(proposal->to_json()["proposal"], entry.name);
    for (const FieldInfo& field : entry.settings) {
      if (field.default_value.empty()) continue;  // short for another setting, under whose name it is described
      EXPECT_TRUE(proposal->to_json().contains(field.name)) << field.name;
    }
    StateLanes x(2, 100);
    Stream stream = Streams(1).stream("draw"), again = stream;
    proposal->draw(stream, x, nullptr);
    StateLanes same(2, 100);
    proposal->draw(again, same, nullptr);
    for (std::size_t l = 0; l < 100; ++l) {
      EXPECT_EQ(x(0, l), same(0, l));
      EXPECT_TRUE(std::isfinite(x(1, l)));
    }
    EXPECT_THROW(make(model, {{"proposal", entry.name}, {"no_such_setting", 1}}, {Matrix(4, 2)}), InputError)
        << entry.name;
  }
  EXPECT_THROW(make(model, {{"proposal", "none such"}}), InputError);
  EXPECT_THROW(make(model, nlohmann::json::array()), InputError);
}

TEST(FixedProposal, HasTheDistributionOfEachCoordinateAndOfTime) {
  const Model model = walk_model(2);
  prior::Prior states;
  states.add({"x_1"}, prior::normal(3, 2));
  states.add({"x_2"}, prior::uniform(-1, 4));
  const ProposalPtr proposal = make(model, {{"proposal", "fixed"}, {"states", states.to_json()}, {"times", 5}});
  StateLanes x(2, draws);
  AlignedVector<double> time(padded_lanes(draws));
  Stream stream = Streams(5).stream("fixed");
  proposal->draw(stream, x, time.data());
  double mean = 0, square = 0, low = 10, high = -10;
  std::vector<int> times(5);
  std::vector<int> cells(10);
  for (std::size_t l = 0; l < draws; ++l) {
    mean += x(0, l) / draws;
    square += (x(0, l) - 3) * (x(0, l) - 3) / draws;
    low = std::min(low, x(1, l)), high = std::max(high, x(1, l));
    ++cells[static_cast<std::size_t>((x(1, l) + 1) * 2)];
    ++times.at(static_cast<std::size_t>(time[l]));
  }
  EXPECT_NEAR(mean, 3, 4.5 * 2 / std::sqrt(draws));
  EXPECT_NEAR(square, 4, 4.5 * 4 * std::sqrt(2.0 / draws));
  EXPECT_GT(low, -1);
  EXPECT_LT(high, 4);
  for (const int count : cells) EXPECT_NEAR(count, draws / 10.0, 4.5 * std::sqrt(draws * 0.09));
  for (const int count : times) EXPECT_NEAR(count, draws / 5.0, 4.5 * std::sqrt(draws * 0.16));
}

TEST(PredictiveProposal, PoolsTheStatesOfItsSeries) {
  const Model model = walk_model(1);
  const ProposalPtr proposal = make(model, {{"proposal", "predictive"}, {"series", 3}, {"length", 4}, {"noise", 0.0}});
  EXPECT_EQ(proposal->cost(), 12U);
  StateLanes x(1, draws);
  Stream stream = Streams(5).stream("predictive");
  proposal->draw(stream, x, nullptr);
  std::vector<double> values(&x(0, 0), &x(0, 0) + draws);
  std::ranges::sort(values);
  std::vector<int> counts;
  for (std::size_t l = 0; l < draws; ++l) {
    if (l == 0 || values[l] != values[l - 1]) counts.push_back(0);
    ++counts.back();
  }
  ASSERT_EQ(counts.size(), 15U);  // 3 × (4 + 1) states, each with the same chance
  for (const int count : counts) EXPECT_NEAR(count, draws / 15.0, 4.5 * std::sqrt(draws / 15.0));
}

TEST(TargetProposal, AddsNoiseButNotBelowZeroWhereStatesAreNonNegative) {
  const Model model = walk_model(2);
  Matrix series(2, 2);
  series(0, 0) = 0.1, series(0, 1) = 5;
  series(1, 0) = std::nan(""), series(1, 1) = 7;  // a row with a missing value is left out
  const ProposalPtr proposal = make(model, {{"proposal", "target"}, {"noise", 0.2}, {"non_negative", true}}, {series});
  EXPECT_EQ(proposal->to_json()["pooled_states"], 1);
  EXPECT_EQ(proposal->cost(), 0U);
  StateLanes x(2, draws);
  Stream stream = Streams(6).stream("target");
  proposal->draw(stream, x, nullptr);
  std::size_t kept = 0;
  double mean = 0, square = 0;
  for (std::size_t l = 0; l < draws; ++l) {
    EXPECT_GE(x(0, l), 0);
    kept += x(0, l) == 0.1 ? 1U : 0U;
    mean += x(1, l) / draws;
    square += (x(1, l) - 5) * (x(1, l) - 5) / draws;
  }
  // P(0.1 + 0.2 ε < 0) = Φ(−½) = 0.3085
  EXPECT_NEAR(static_cast<double>(kept) / draws, 0.30853753872598694, 4.5 * std::sqrt(0.3085 * 0.6915 / draws));
  EXPECT_NEAR(mean, 5, 4.5 * 0.2 / std::sqrt(draws));
  EXPECT_NEAR(square, 0.04, 4.5 * 0.04 * std::sqrt(2.0 / draws));
}

TEST(TargetProposal, DrawsPositiveStatesAroundPositiveOnes) {
  const Model model = walk_model(2);
  Matrix series(2, 2);
  std::ranges::fill(series.values(), 0.1);
  const auto smallest = [&] {
    StateLanes x(2, 1000);
    Stream stream = Streams(6).stream("target");
    make(model, {{"proposal", "target"}, {"noise", 0.2}}, {series})->draw(stream, x, nullptr);
    double least = x(0, 0);
    for (std::size_t l = 0; l < 1000; ++l) least = std::min({least, x(0, l), x(1, l)});
    return least;
  };
  EXPECT_GT(smallest(), 0);
  series(1, 1) = -0.1;
  EXPECT_LT(smallest(), 0);
}

/// A pool of 0, 1, 2, 3 has the variance 5/4 and the quartiles 1 and 3; noise adds (ρ 2/1.349)² e^(2κ²) in these units.
TEST(TargetProposal, HasNoiseInThePoolsOwnUnits) {
  const Model model = walk_model(2);
  Matrix series(4, 2);
  for (std::size_t r = 0; r < 4; ++r) series(r, 0) = static_cast<double>(r), series(r, 1) = 10 * static_cast<double>(r);
  for (const double tail : {0.0, 0.3}) {
    const ProposalPtr proposal =
        make(model, {{"proposal", "target"}, {"noise", 0.0}, {"relative_noise", 0.5}, {"tail", tail}}, {series});
    StateLanes x(2, draws);
    Stream stream = Streams(7).stream("target");
    proposal->draw(stream, x, nullptr);
    const double expected = 1.25 + std::pow(0.5 * 2 / 1.349, 2) * std::exp(2 * tail * tail);
    for (const std::size_t i : {0U, 1U}) {
      const double unit = i == 0 ? 1 : 10;
      double square = 0, fourth = 0;
      for (std::size_t l = 0; l < draws; ++l) {
        const double off = x(i, l) / unit - 1.5;
        square += off * off / draws;
        fourth += off * off * off * off / draws;
      }
      EXPECT_NEAR(square, expected, 4.5 * std::sqrt((fourth - square * square) / draws));
    }
  }
}

TEST(RolloutProposal, CarriesStatesOnWithAFreshThetaEachTime) {
  WalkStepper stepper;
  stepper.not_finite_above = 2;
  Model model = walk_model(1, stepper);
  model.simulator.uses_time = true;
  const ProposalPtr proposal = make(model, {{"proposal", "rollout"}, {"length", 40}});
  const TransitionSource source(model, proposal, Streams(7));
  EXPECT_EQ(source.lanes(), 16U);
  EXPECT_EQ(source.block_rows(), 640U);
  Matrix z(640, 1), theta(640, 1), x(640, 1), x_next(640, 1), time(640, 1);
  TransitionLanes lanes(model, source.lanes());
  const std::size_t invalid = source.make_block(0, lanes, {z, theta, x, x_next, time, {}, {}});
  std::size_t restarts = 0, repeated = 0;
  for (std::size_t r = 16; r < 640; ++r) {  // lane by lane, 16 rows later
    const double before = x_next(r - 16, 0);
    if (std::isfinite(before)) {
      EXPECT_EQ(x(r, 0), before);
      EXPECT_EQ(time(r, 0), time(r - 16, 0) + 1);
    } else {
      ++restarts;
      EXPECT_EQ(time(r, 0), 0);
      EXPECT_GT(x(r, 0), 0);  // an initial state: uniform on (0, 1)
      EXPECT_LT(x(r, 0), 1);
    }
    repeated += theta(r, 0) == theta(r - 16, 0) ? 1U : 0U;
  }
  EXPECT_EQ(repeated, 0U);
  EXPECT_GT(restarts, 0U);
  EXPECT_GE(invalid, restarts);
  // A shorter last block is the beginning of the whole one.
  Matrix z2(100, 1), theta2(100, 1), x2(100, 1), next2(100, 1), time2(100, 1);
  source.make_block(0, lanes, {z2, theta2, x2, next2, time2, {}, {}});
  for (std::size_t r = 0; r < 96; ++r) EXPECT_EQ(x2(r, 0), x(r, 0));
}

TEST(DefaultProposal, IsTheModelsOwnOrTheRecipeOfTheTablesForAShareOfTheBudget) {
  Model model = walk_model(1);
  EXPECT_EQ(default_proposal(model, 10'000), model.proposal);
  model.proposal = nullptr;
  const auto recipe = [&](std::uint64_t budget) {
    const nlohmann::json json = default_proposal(model, budget);
    EXPECT_EQ(json["proposal"], "predictive");
    EXPECT_EQ(json["relative_noise"], 0.5);
    return std::pair(json["series"].get<int>(), json["length"].get<int>());
  };
  EXPECT_EQ(recipe(10'000), std::pair(20, 50));    // benchmarks/sweeps/table-10k.json
  EXPECT_EQ(recipe(100'000), std::pair(50, 100));  // table-100k.json
  EXPECT_EQ(recipe(1'000'000), std::pair(50, 100));
  EXPECT_EQ(recipe(2'000), std::pair(4, 50));
  EXPECT_EQ(recipe(100), std::pair(1, 10));
  EXPECT_EQ(recipe(5), std::pair(1, 1));
  model.simulator.uses_time = true;
  EXPECT_EQ(recipe(10'000), std::pair(10, 100));
  model.initial_state = nullptr;
  EXPECT_EQ(default_proposal(model, 10'000), model.fixed_proposal);
  model.fixed_proposal = nullptr;
  EXPECT_THROW(default_proposal(model, 10'000), InputError);
}

}  // namespace catena::simulate::proposal_test
