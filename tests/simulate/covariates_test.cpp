// Where covariates come from, how columns are told apart, and what transition sets, paths and files make of them.

#include "catena/simulate/covariates.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "catena/core/errors.h"
#include "catena/simulate/paths.h"
#include "catena/simulate/transitions/transitions.h"

namespace catena::simulate::covariates_test {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Matrix matrix(std::size_t cols, std::vector<double> values) {
  Matrix made(values.size() / cols, cols);
  std::ranges::copy(values, made.values().begin());
  return made;
}

template <class Call>
std::string sentence(const Call& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos && text.find('\n') == std::string::npos;
}

/// x' = 2x + θ + 10 u_1 + u_2, without noise: what a record holds can be computed.
Model driven() {
  Model model;
  model.simulator.name = "driven";
  model.simulator.parameter_names = {"a"};
  model.simulator.state_names = {"x"};
  model.simulator.covariate_names = {"temp", "dose"};
  model.simulator.step = [](const StepInput& input, Stream&, StateBlock next) {
    for (std::size_t l = 0; l < next.lanes; ++l) {
      next(0, l) = 2 * input.state(0, l) + input.theta(0, l) + 10 * input.covariates(0, l) + input.covariates(1, l);
    }
  };
  model.prior = prior::Prior::standard({"a"});
  model.initial_state = fixed_state({0.5});
  prior::Prior states;
  states.add({"x"}, prior::normal(0, 1));
  model.proposal = {{"proposal", "fixed"}, {"states", states.to_json()}};
  return model;
}

/// 20 rows: temp is no whole number, dose is 0, 1, 2, …, 19.
Matrix table() {
  Matrix rows(20, 2);
  for (std::size_t r = 0; r < 20; ++r) {
    rows(r, 0) = 30.5 + static_cast<double>(r);
    rows(r, 1) = static_cast<double>(r);
  }
  return rows;
}

TransitionSet made(const Model& model, SimulationPlan plan) {
  plan.budget = 3000;
  plan.seed = 4;
  return simulate(model, plan, Parallel(2), silent_progress());
}

}  // namespace

TEST(CovariateTables, LeaveOutRowsWithMissingValuesAndRefuseWhatIsNoTable) {
  const std::vector<std::string> names{"temp", "dose"};
  const Matrix whole = matrix(2, {1, 2, nan, 3, 4, 5}), none = matrix(2, {nan, 1}),
               infinite = matrix(2, {1, std::numeric_limits<double>::infinity()});
  const std::vector<ConstMatrixView> views{whole, none};
  const std::vector<Matrix> cleaned = covariate_tables("f", names, views);
  ASSERT_EQ(cleaned.size(), 1U);
  EXPECT_TRUE(cleaned.front() == matrix(2, {1, 2, 4, 5}));
  const auto of = [&](const Matrix& one, const std::vector<std::string>& columns) {
    const ConstMatrixView view = one;
    return sentence([&] { covariate_tables("f", columns, {&view, 1}); });
  };
  EXPECT_TRUE(
      says(of(none, names), "f: the number of rows with all covariates (temp, dose) is 0, but must be at least 1"));
  EXPECT_TRUE(says(of(infinite, names), "f: the covariate dose in row 1 is inf, but must be finite"));
  EXPECT_TRUE(says(of(whole, {"temp"}), "the number of columns of a table of covariates is 2, but must be 1"));
  EXPECT_TRUE(says(of(whole, {}), "f: a table of covariates is given, but must be left out"));
}

TEST(CovariatePool, DrawsEveryRowEquallyOftenWithATenthOfTheSpreadAsNoise) {
  const std::vector<Matrix> tables{table()};
  const CovariatePool pool(tables);
  constexpr std::size_t lanes = 4000;
  std::vector<std::size_t> at(lanes), count(20);
  StateLanes u(2, lanes);
  Stream stream = Streams(7).stream("pool");
  pool.begin(stream, at);
  pool.fill(stream, at, u);
  const double sd = std::sqrt((20.0 * 20 - 1) / 12);  // of 0, …, 19
  double mean = 0, square = 0;
  for (std::size_t l = 0; l < lanes; ++l) {
    ++count[at[l]];
    EXPECT_EQ(u(1, l), static_cast<double>(at[l]));  // whole numbers stay
    const double noise = (u(0, l) - 30.5 - static_cast<double>(at[l])) / (0.1 * sd);
    mean += noise / lanes;
    square += noise * noise / lanes;
  }
  // 4.5 standard errors, 22 checks: a false alarm in 7,000 seeds.
  for (const std::size_t n : count) EXPECT_NEAR(static_cast<double>(n), 200, 4.5 * std::sqrt(200 * 0.95));
  EXPECT_NEAR(mean, 0, 4.5 / std::sqrt(lanes));
  EXPECT_NEAR(square, 1, 4.5 * std::sqrt(2.0 / lanes));
}

TEST(CovariatePool, MakesNoNegativeValueWhereNoneIs) {
  const std::vector<Matrix> positive{matrix(1, {0, 0.1, 9.5})}, signed_values{matrix(1, {0, -0.1, 9.5})};
  constexpr std::size_t lanes = 64;
  const std::vector<std::size_t> at(lanes, 0);
  StateLanes u(1, lanes);
  const auto lowest = [&](const std::vector<Matrix>& tables) {
    Stream stream = Streams(7).stream("pool");
    CovariatePool(tables).fill(stream, at, u);
    double low = 0;
    for (std::size_t l = 0; l < lanes; ++l) low = std::min(low, u(0, l));
    return low;
  };
  EXPECT_EQ(lowest(positive), 0);
  EXPECT_LT(lowest(signed_values), 0);
}

TEST(CovariatePool, ACovariateThatNeverVariesStaysWhatItIs) {
  const std::vector<Matrix> tables{matrix(1, {0.3, 0.3, 0.3})};
  StateLanes u(1, 16);
  Stream stream = Streams(7).stream("pool");
  const std::vector<std::size_t> at(16, 1);
  CovariatePool(tables).fill(stream, at, u);
  for (std::size_t l = 0; l < 16; ++l) EXPECT_EQ(u(0, l), 0.3);
}

TEST(CovariatePool, WalksThroughEachTableInTheOrderOfTimeAndBeginsAgain) {
  const std::vector<Matrix> tables{matrix(1, {1, 2, 3}), matrix(1, {7, 8})};
  const CovariatePool pool(tables);
  std::vector<std::size_t> at{0, 3};
  StateLanes u(2, 2);  // two steps of one covariate
  Stream stream = Streams(1).stream("pool");
  std::vector<double> first, second;
  for (int k = 0; k < 3; ++k) {
    pool.fill(stream, at, u);
    for (std::size_t j = 0; j < 2; ++j) first.push_back(u(j, 0)), second.push_back(u(j, 1));
    pool.go_on(at, 2);
  }
  EXPECT_EQ(first, std::vector<double>({1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(second, std::vector<double>({7, 8, 7, 8, 7, 8}));
}

TEST(Columns, AreToldApartByTheirNamesInAnyOrder) {
  files::Series series{.names = {"dose", "x", "temp"}, .values = matrix(3, {1, 2, 3, 4, 5, 6})};
  tell_columns_apart("f", "s.csv", {"x"}, {"temp", "dose"}, series);
  EXPECT_TRUE(series.values == matrix(1, {2, 5}));
  EXPECT_TRUE(series.covariates == matrix(2, {3, 1, 6, 4}));
  EXPECT_EQ(series.names, std::vector<std::string>{"x"});
  EXPECT_EQ(series.covariate_names, (std::vector<std::string>{"temp", "dose"}));
  EXPECT_TRUE(covariate_columns("f", "t.csv", {"b"}, {.names = {"a", "b"}, .values = matrix(2, {1, 2, 3, 4})}) ==
              matrix(1, {2, 4}));

  const auto of = [](std::vector<std::string> names) {
    files::Series one{.names = std::move(names), .values = matrix(3, {1, 2, 3})};
    return sentence([&] { tell_columns_apart("f", "s.csv", {"x"}, {"temp", "dose"}, one); });
  };
  EXPECT_TRUE(says(of({"x", "temp", "moon"}), "f: the column moon of s.csv is unknown, but must be a state (x) or a"));
  EXPECT_TRUE(says(of({}), "f: s.csv has no names for its columns, but must have them"));
  files::Series two{.names = {"x", "temp"}, .values = matrix(2, {1, 2})};
  EXPECT_TRUE(says(sentence([&] { tell_columns_apart("f", "s.csv", {"x"}, {"temp", "dose"}, two); }),
                   "f: s.csv has no column dose, but must have the covariates: temp, dose"));
}

TEST(Covariates, ArePartOfEveryTransition) {
  const Matrix rows = table();
  SimulationPlan plan;
  plan.covariates = {rows};
  const TransitionSet set = made(driven(), plan);
  ASSERT_EQ(set.u.cols(), 2U);
  EXPECT_EQ(set.covariate_names, (std::vector<std::string>{"temp", "dose"}));
  EXPECT_EQ(set.shape().covariates, 2U);
  for (std::size_t r = 0; r < set.size(); ++r) {
    EXPECT_NEAR(set.x_next(r, 0), 2 * set.x(r, 0) + set.theta(r, 0) + 10 * set.u(r, 0) + set.u(r, 1), 1e-10);
  }
  EXPECT_EQ(set.provenance["covariates"]["rows"], 20);
}

TEST(Covariates, OfABlockAreThoseOfEachOfItsSteps) {
  const Matrix rows = table();
  SimulationPlan plan;
  plan.covariates = {rows};
  plan.records.block = 3;
  const TransitionSet set = made(driven(), plan);
  ASSERT_EQ(set.u.cols(), 6U);
  for (std::size_t r = 0; r < set.size(); ++r) {
    double x = set.x(r, 0);
    for (std::size_t j = 0; j < 3; ++j) {
      x = 2 * x + set.theta(r, 0) + 10 * set.u(r, 2 * j) + set.u(r, 2 * j + 1);
      EXPECT_NEAR(set.x_next(r, j), x, 1e-9);
      if (j == 0) continue;
      EXPECT_EQ(set.u(r, 2 * j + 1), std::fmod(set.u(r, 2 * j - 1) + 1, 20));  // in the order of time
    }
  }
}

TEST(Covariates, OfARolloutFollowEachOtherInTime) {
  const Matrix rows = table();
  SimulationPlan plan;
  plan.covariates = {rows};
  plan.proposal = {{"proposal", "rollout"}, {"length", 3}};
  plan.lanes = 48;  // sixteen lanes of three rounds each
  const TransitionSet set = made(driven(), plan);
  for (std::size_t l = 0; l < 16; ++l) {
    for (std::size_t round = 1; round < 3; ++round) {
      EXPECT_EQ(set.u(16 * round + l, 1), std::fmod(set.u(16 * (round - 1) + l, 1) + 1, 20));
      EXPECT_EQ(set.x(16 * round + l, 0), set.x_next(16 * (round - 1) + l, 0));
    }
  }
}

TEST(Covariates, OfSimulatedSeriesAreTheRowsOfTheTableInTheirOrder) {
  Model model = driven();
  const std::vector<Matrix> tables{matrix(2, {1, 0, 2, 0})};
  Matrix theta(1, 1);
  Stream stream = Streams(1).stream("series");
  const Matrix series = simulate_series(model, theta, 3, stream, tables).front();
  // 0.5 → 1 + 10 → 22 + 20 → 84 + 10
  EXPECT_TRUE(series == matrix(1, {0.5, 11, 42, 94}));
  EXPECT_TRUE(says(sentence([&] { simulate_series(model, theta, 3, stream); }),
                   "simulate: the table of covariates is missing, but must be given, with the columns temp, dose"));
}

TEST(Covariates, ComeFromTheTargetOrTheModelWhereNobodyGivesThem) {
  Model model = driven();
  const Matrix states = matrix(1, {1, 2, 3}), own = matrix(2, {5, 5, 5, 5, 5, 5});
  SimulationPlan plan;
  plan.proposal = {{"proposal", "target"}};
  plan.target = {{.states = states, .covariates = own}};
  EXPECT_EQ(made(model, plan).u(0, 0), 5);
  plan.target = {{.states = states}};
  EXPECT_TRUE(says(sentence([&] { made(model, plan); }), "simulate: the table of covariates is missing"));
  model.covariates = matrix(2, {8, 9});
  EXPECT_EQ(made(model, plan).u(0, 1), 9);
  model.simulator.covariate_names.clear();
  plan.covariates = {own};
  EXPECT_TRUE(says(sentence([&] { made(model, plan); }), "a table of covariates is given, but must be left out"));
}

TEST(Covariates, OverWholeStepsAreRefusedButAStepOfItsOwnHoldsThem) {
  const Matrix rows = table();
  Model model = driven();
  SimulationPlan plan;
  plan.covariates = {rows};
  plan.records.varying_steps = true;
  plan.records.steps = {1, 3};
  EXPECT_TRUE(says(sentence([&] { made(model, plan); }),
                   "simulate: the range of steps is 1..3, but must be left out where the step takes covariates"));
  model.simulator.uses_step = true;
  model.simulator.step = [](const StepInput& input, Stream&, StateBlock next) {
    for (std::size_t l = 0; l < next.lanes; ++l) {
      next(0, l) = input.state(0, l) + input.step[l] * input.covariates(0, l);
    }
  };
  const TransitionSet set = made(model, plan);
  for (std::size_t r = 0; r < set.size(); ++r) {
    EXPECT_NEAR(set.x_next(r, 0), set.x(r, 0) + set.step(r, 0) * set.u(r, 0), 1e-12);
  }
}

TEST(Covariates, SurviveInFiles) {
  const auto folder = std::filesystem::temp_directory_path() / ("catena-covariates-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const Matrix rows = table();
  SimulationPlan plan;
  plan.covariates = {rows};
  for (const std::size_t block : {1, 2}) {
    plan.records.block = block;
    const TransitionSet set = made(driven(), plan);
    write_transitions(folder / "set.nc", set);
    const TransitionSet read = read_transitions(folder / "set.nc");
    EXPECT_TRUE(read.u == set.u);
    EXPECT_EQ(read.covariate_names, set.covariate_names);
    EXPECT_EQ(read.shape(), set.shape());
    plan.budget = 3000;
    plan.seed = 4;
    simulate_to_file(folder / "made.nc", driven(), plan, Parallel(2), silent_progress());
    EXPECT_TRUE(read_transitions(folder / "made.nc").u == set.u);
  }
  std::filesystem::remove_all(folder);
  // Another table is another plan, which does not go on with a file of this one.
  Matrix other = rows;
  other(3, 0) += 1;
  const nlohmann::json first = made(driven(), plan).provenance;
  plan.covariates = {other};
  EXPECT_NE(made(driven(), plan).provenance["covariates"], first["covariates"]);
}

TEST(Paths, NeedTheCovariatesOfEveryRowFromWhichTheyGoOn) {
  const Matrix states = matrix(1, {1, 2, nan, 4, 5});
  Matrix u = matrix(1, {10, 20, nan, 40, nan});
  const std::vector<std::string> names{"temp"};
  const auto of = [&](const PathSettings& settings, const KnownSteps& known = {}) {
    const SeriesView view{.states = states, .covariates = u, .covariate_names = names};
    return paths_of("f", {&view, 1}, 1, known, settings, 1);
  };
  const std::vector<Path> cut = of({.cut_gaps = true});
  ASSERT_EQ(cut.size(), 2U);
  EXPECT_TRUE(cut[0].covariates == matrix(1, {10, 20}));
  EXPECT_EQ(cut[1].covariates(0, 0), 40);
  const char* const gap = "f: the step from row 2 to row 4 of the series is 2, but must be from one row to the next";
  EXPECT_TRUE(says(sentence([&] { of({}); }), gap));
  EXPECT_TRUE(says(sentence([&] { of({}, {1, 3, true}); }), gap));  // even by a model of longer steps
  u(0, 0) = nan;
  EXPECT_TRUE(says(sentence([&] { of({.cut_gaps = true}); }),
                   "f: the covariate temp in row 1 of the series is missing, but must be finite"));
}

}  // namespace catena::simulate::covariates_test
