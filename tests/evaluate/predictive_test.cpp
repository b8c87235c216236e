#include "catena/evaluate/predictive.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "catena/core/errors.h"

namespace catena::evaluate::predictive_test {
namespace {

/// x' = x + θ + 0.1 ε, and the time in a second state.
struct Drift {
  void step(const simulate::StepInput& input, Stream& stream, StateBlock next) const {
    for (std::size_t l = 0; l < next.lanes; ++l) {
      next(0, l) = input.state(0, l) + input.theta(0, l) + 0.1 * stream.normal();
      next(1, l) = input.time[l];
    }
  }
};

class Predictive : public ::testing::Test {
 protected:
  static constexpr std::size_t draws = 500, rows = 5;
  simulate::Simulator simulator =
      simulate::make_simulator("drift", {"theta"}, {"x", "time"}, Drift{}, /*uses_time=*/true);
  Matrix theta{draws, 1}, observed{rows, 2};
  std::vector<double> times{10, 11, 12, 13, 14};
  double step_length = 1;
  std::size_t horizon = 0;

  Predictive() {
    for (std::size_t k = 0; k < draws; ++k) theta(k, 0) = static_cast<double>(k % 3);
    for (std::size_t t = 0; t < rows; ++t) observed(t, 0) = 100.0 * static_cast<double>(t);
  }
  PredictiveSeries run(int threads = 2) const {
    return predict(simulator, theta, {observed, times}, {.step_length = step_length, .horizon = horizon}, Streams(3),
                   Parallel(threads));
  }
};

TEST_F(Predictive, RunsOnFromTheFirstObservedState) {
  const PredictiveSeries series = run();
  ASSERT_EQ(series.run.size(), draws);
  for (std::size_t k = 0; k < draws; ++k) {
    for (std::size_t t = 0; t < rows; ++t) {
      // Six standard deviations of the sum of t normals, 2,000 checks: false alarms 4e-6.
      EXPECT_NEAR(series.run[k](t, 0), static_cast<double>(t) * theta(k, 0),
                  0.6 * std::sqrt(static_cast<double>(t)) + 1e-12);
      EXPECT_EQ(series.run[k](t, 1), t == 0 ? 0 : times[t - 1]);
    }
  }
}

TEST_F(Predictive, StartsEveryStepFromTheObservedState) {
  const PredictiveSeries series = run();
  for (std::size_t k = 0; k < draws; ++k) {
    EXPECT_EQ(series.one_step[k](0, 0), 0);
    for (std::size_t t = 1; t < rows; ++t) {
      EXPECT_NEAR(series.one_step[k](t, 0), observed(t - 1, 0) + theta(k, 0), 0.6);
    }
  }
}

TEST_F(Predictive, StepsOverWhatIsMissing) {
  observed(2, 0) = std::numeric_limits<double>::quiet_NaN();
  const PredictiveSeries series = run();
  for (std::size_t k = 0; k < draws; ++k) {
    EXPECT_NEAR(series.one_step[k](3, 0), observed(1, 0) + 2 * theta(k, 0), 0.9);
  }
}

TEST_F(Predictive, MakesAsManyStepsAsTheTimesAreApart) {
  times = {10, 12, 13, 16, 17};
  step_length = 0.5;  // the simulator makes two steps in the time of 1
  const PredictiveSeries series = run();
  const std::vector<double> steps{4, 2, 6, 2};
  double all = 0;
  for (std::size_t t = 0; t < steps.size(); ++t) {
    all += steps[t];
    for (std::size_t k = 0; k < draws; ++k) {
      // Six standard deviations of the sum of that many normals, 4,000 checks: false alarms 8e-6.
      EXPECT_NEAR(series.run[k](t + 1, 0), all * theta(k, 0), 0.6 * std::sqrt(all));
      EXPECT_NEAR(series.one_step[k](t + 1, 0), observed(t, 0) + steps[t] * theta(k, 0), 0.6 * std::sqrt(steps[t]));
      EXPECT_EQ(series.run[k](t + 1, 1), times[t] + steps[t] - 1);
    }
  }
}

TEST_F(Predictive, ForecastsFromTheLastStateThatIsKnown) {
  horizon = 3;
  observed(4, 0) = std::numeric_limits<double>::quiet_NaN();
  const PredictiveSeries series = run();
  horizon = 0;
  const PredictiveSeries without = run();
  EXPECT_EQ(series.run, without.run);
  EXPECT_EQ(series.one_step, without.one_step);
  EXPECT_TRUE(without.forecast.empty());
  EXPECT_EQ(series.forecast_times, (std::vector<double>{15, 16, 17}));
  for (std::size_t k = 0; k < draws; ++k) {
    for (std::size_t h = 0; h < 3; ++h) {
      // Six standard deviations of the sum of h + 2 normals, 1,500 checks: false alarms 3e-6.
      const auto steps = static_cast<double>(h + 2);
      EXPECT_NEAR(series.forecast[k](h, 0), observed(3, 0) + steps * theta(k, 0), 0.6 * std::sqrt(steps));
      EXPECT_EQ(series.forecast[k](h, 1), 14.0 + static_cast<double>(h));
    }
  }
}

TEST_F(Predictive, CarriesAllStatesOfAChainOfHigherOrder) {
  struct Sum {  // x' = x + the state before it
    void step(const simulate::StepInput& input, Stream&, StateBlock next) const {
      for (std::size_t l = 0; l < next.lanes; ++l) next(0, l) = input.state(0, l) + input.state(1, l);
    }
  };
  simulate::Simulator sum = simulate::make_simulator("sum", {"theta"}, {"x"}, Sum{}, false);
  sum.order = 2;
  Matrix fibonacci(4, 1);
  for (std::size_t t = 0; t < 4; ++t) fibonacci(t, 0) = std::vector<double>{1, 1, 10, 20}[t];
  const PredictiveSeries series = predict(sum, theta, {fibonacci}, {.horizon = 2}, Streams(1), Parallel(1));
  EXPECT_EQ(series.run[7].values()[2], 2);
  EXPECT_EQ(series.run[7].values()[3], 3);
  EXPECT_EQ(series.one_step[7].values()[2], 2);
  EXPECT_EQ(series.one_step[7].values()[3], 11);
  EXPECT_EQ(series.forecast[7].values()[0], 30);
  EXPECT_EQ(series.forecast[7].values()[1], 50);
}

TEST_F(Predictive, StartsWhereItIsTold) {
  Matrix starts(draws, 2);
  for (std::size_t k = 0; k < draws; ++k) starts(k, 0) = 1000.0 + static_cast<double>(k);
  observed(0, 0) = std::numeric_limits<double>::quiet_NaN();
  const PredictiveSeries series =
      predict(simulator, theta, {observed, times}, {.starts = starts}, Streams(3), Parallel(2));
  for (std::size_t k = 0; k < draws; ++k) {
    EXPECT_EQ(series.run[k](0, 0), starts(k, 0));
    EXPECT_NEAR(series.run[k](1, 0), starts(k, 0) + theta(k, 0), 0.6);
  }
}

TEST_F(Predictive, DoesNotDependOnThreads) {
  const PredictiveSeries one = run(1), three = run(3);
  EXPECT_EQ(one.run, three.run);
  EXPECT_EQ(one.one_step, three.one_step);
}

TEST_F(Predictive, RefusesASeriesWithoutAStart) {
  observed(0, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(run(), InputError);
}

TEST_F(Predictive, IsAGroupThatArvizOpens) {
  horizon = 3;
  const auto groups = predictive_groups(run(), {observed, times}, simulator.state_names);
  const files::Group& group = groups.front();
  EXPECT_EQ(group.name, "posterior_predictive");
  EXPECT_EQ(group.variable("series").dimensions, (std::vector<std::string>{"chain", "draw", "time", "state"}));
  EXPECT_EQ(std::get<std::vector<double>>(group.variable("one_step").values).size(), draws * rows * 2);
  EXPECT_EQ(std::get<std::vector<double>>(group.variable("time").values), times);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[1].name, "predictions");
  EXPECT_EQ(std::get<std::vector<double>>(groups[1].variable("time").values), (std::vector<double>{15, 16, 17}));
  EXPECT_EQ(std::get<std::vector<double>>(groups[1].variable("series").values).size(), draws * horizon * 2);
}

/// x' = x + θ u, exactly.
struct Driven {
  void step(const simulate::StepInput& input, Stream&, StateBlock next) const {
    for (std::size_t l = 0; l < next.lanes; ++l) {
      next(0, l) = input.state(0, l) + input.theta(0, l) * input.covariates(0, l);
    }
  }
};

class DrivenPrediction : public ::testing::Test {
 protected:
  simulate::Simulator simulator = simulate::make_simulator("driven", {"theta"}, {"x"}, Driven{});
  Matrix theta{3, 1}, observed{4, 1}, u{4, 1}, ahead{2, 1};
  std::vector<double> times = {};
  std::size_t horizon = 0;

  DrivenPrediction() {
    simulator.covariate_names = {"u"};
    for (std::size_t k = 0; k < 3; ++k) theta(k, 0) = static_cast<double>(k);
    for (std::size_t t = 0; t < 4; ++t) u(t, 0) = std::pow(10.0, static_cast<double>(t));
    for (std::size_t t = 0; t < 4; ++t) observed(t, 0) = static_cast<double>(t);
    ahead(0, 0) = 1e4, ahead(1, 0) = 1e5;
  }
  PredictiveSeries run(ConstMatrixView beyond = {}) const {
    return predict(simulator, theta, {.states = observed, .times = times, .covariates = u},
                   {.horizon = horizon, .covariates = beyond}, Streams(3), Parallel(1));
  }
  std::string sentence(ConstMatrixView beyond = {}) const {
    try {
      run(beyond);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }
};

TEST_F(DrivenPrediction, TakesTheCovariatesOfEachRowAndThoseOfTheStepsAhead) {
  horizon = 3;
  const PredictiveSeries series = run(ahead);
  for (std::size_t k = 0; k < 3; ++k) {
    const auto factor = static_cast<double>(k);
    EXPECT_EQ(series.run[k](3, 0), 111 * factor);
    EXPECT_EQ(series.one_step[k](3, 0), 2 + 100 * factor);
    EXPECT_EQ(series.forecast[k](0, 0), 3 + 1e3 * factor);
    EXPECT_EQ(series.forecast[k](2, 0), 3 + 1.11e5 * factor);
  }
  EXPECT_EQ(series.forecast_times, (std::vector<double>{4, 5, 6}));
}

TEST_F(DrivenPrediction, ForecastsFromTheLastObservedStateOverRowsThatHaveCovariatesAlone) {
  observed(2, 0) = observed(3, 0) = std::numeric_limits<double>::quiet_NaN();
  horizon = 3;
  const PredictiveSeries series = run();
  ASSERT_EQ(series.one_step[2].rows(), 4U);
  EXPECT_EQ(series.forecast[2](0, 0), 1 + 2 * 10);
  EXPECT_EQ(series.forecast[2](2, 0), 1 + 2 * 1110);
  EXPECT_EQ(series.forecast_times, (std::vector<double>{2, 3, 4}));
}

TEST_F(DrivenPrediction, SaysWhichCovariatesAreMissing) {
  horizon = 3;
  EXPECT_EQ(sentence(),
            "predict: the number of rows of covariates beyond the last observed state is 0, but must be 2 or "
            "more, for 3 steps ahead: give them as covariates, or rows of the series without states (u)");
  horizon = 0;
  times = {0, 1, 2, 4};
  EXPECT_NE(sentence().find("the step to row 4 of the series is 2 steps of the simulator, but must be one"),
            std::string::npos);
  times = {};
  u(1, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(sentence(),
            "predict: the covariate u in row 2 is nan, but must be finite: the step from that row depends on it");
  u = Matrix(4, 0);
  EXPECT_EQ(sentence(),
            "predict: the table of covariates of the series is missing, but must be given for every row: u");
}

}  // namespace
}  // namespace catena::evaluate::predictive_test
