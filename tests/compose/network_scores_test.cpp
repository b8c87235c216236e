// Scores from networks: the fast sums of separable networks against the loop, Jacobians against differences, and what
// is wrong with a series.
#include "catena/compose/scores/network_scores.h"
#include "catena/compose/scores/score_source.h"

#include <gtest/gtest.h>

#include <cmath>

#include "catena/train/method.h"
#include "train/train_cases.h"

namespace catena::compose::network_scores_test {
namespace {

model::TrainedModel model_of(const std::string& network) {
  nlohmann::json settings{{"network", network}, {"width", 16}, {"decay", 0.5}, {"ensemble", 2}};
  if (network == "separable") settings["terms"] = 7;

  train::TrainingData data(train::transitions_of("gaussian_rw", 500, {{"dim", 3}}), train::Split{});
  return train::train("fnse", {.data = data,
                               .loop = {.steps = 30, .batch_size = 100, .evaluations = 1},
                               .settings = settings,
                               .streams = Streams(3),
                               .parallel = Parallel(2),
                               .progress = silent_progress(),
                               .checkpoint = {}});
}

Matrix random_matrix(std::size_t rows, std::size_t cols, std::uint64_t seed) {
  Matrix matrix(rows, cols);
  Streams(seed).stream("matrix").fill_normal(matrix.values());
  return matrix;
}

class EveryNetwork : public ::testing::TestWithParam<std::string> {
 protected:
  model::TrainedModel trained = model_of(GetParam());
  model::ScoreModel model{trained};
  ObservedSeries series{random_matrix(70, 6, 1)};
  std::unique_ptr<LocalScores> scores = network_scores(model, series);
};

TEST_P(EveryNetwork, HasJacobiansThatAgreeWithDifferences) {
  const Matrix theta = random_matrix(5, 3, 2);
  Matrix s(10, 3), jacobians(10, 9);
  const double a = 0.3, step = 1e-2;
  scores->scores_and_jacobians(theta, a, 4, 6, s, jacobians);
  Matrix plain(10, 3);
  scores->scores(theta, a, 4, 6, plain);
  for (std::size_t i = 0; i < plain.values().size(); ++i) EXPECT_NEAR(s.values()[i], plain.values()[i], 1e-5);
  for (std::size_t j = 0; j < 3; ++j) {
    Matrix up(theta), down(theta), high(10, 3), low(10, 3);
    for (std::size_t p = 0; p < 5; ++p) {
      up(p, j) += step;
      down(p, j) -= step;
    }
    scores->scores(up, a, 4, 6, high);
    scores->scores(down, a, 4, 6, low);
    for (std::size_t row = 0; row < 10; ++row) {
      for (std::size_t i = 0; i < 3; ++i) {
        // Differences of floats: 1e-6/1e-2, and the third derivative times 1e-4/6.
        EXPECT_NEAR(jacobians(row, i * 3 + j), (high(row, i) - low(row, i)) / (2 * step), 2e-3);
      }
    }
  }
}

TEST_P(EveryNetwork, SumsAsTheLoopDoes) {
  const std::size_t T = series.transitions(), n = 130;  // more than a block, and not a multiple of it
  const Matrix theta = random_matrix(n, 3, 4);
  Matrix local(T * n, 3);
  for (const double a : {0.02, 0.7}) {
    scores->scores(theta, a, 0, T, local);
    for (const std::size_t columns : {0U, 3U, 9U}) {
      LocalPrecisions precisions = columns == 0 ? Matrix() : random_matrix(T, columns, 5);
      for (std::size_t t = 0; columns == 9 && t < T; ++t) {  // symmetric, as precisions are
        for (std::size_t i = 0; i < 3; ++i) {
          for (std::size_t j = 0; j < i; ++j) precisions(t, j * 3 + i) = precisions(t, i * 3 + j);
        }
      }
      Matrix sum(n, 3), weighted(columns == 0 ? 0 : n, 3);
      (*sums_of(*scores, precisions))(theta, a, sum, weighted);
      for (std::size_t p = 0; p < n; ++p) {
        for (std::size_t i = 0; i < 3; ++i) {
          double plain = 0, product = 0;
          for (std::size_t t = 0; t < T; ++t) {
            plain += local(t * n + p, i);
            for (std::size_t j = 0; columns > 0 && j < 3; ++j) {
              const double c = columns == 9 ? precisions(t, i * 3 + j) : i == j ? precisions(t, i) : 0;
              product += c * local(t * n + p, j);
            }
          }
          // Floats: some 1e-6 of terms of size 5, 70 of them.
          EXPECT_NEAR(sum(p, i), plain, 2e-3);
          if (columns > 0) {
            EXPECT_NEAR(weighted(p, i), product, 2e-3);
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryNetwork, ::testing::Values("joint", "local", "separable"));

TEST_P(EveryNetwork, AgreesWithTheScoresOfRecords) {
  const Matrix theta = random_matrix(1, 3, 6);
  for (const double a : {0.02, 0.7}) {
    Matrix local(70, 3), records(70, 3);
    scores->scores(theta, a, 0, 70, local);
    scores_of_records(model, series, theta.row(0), a, records);
    for (std::size_t i = 0; i < local.values().size(); ++i) {
      EXPECT_NEAR(records.values()[i], local.values()[i], 1e-4 * (1 + std::abs(local.values()[i])));
    }
  }
}

TEST(SeparableNetwork, HasTheFastPathAndTheJointOneHasNot) {
  const model::TrainedModel joint = model_of("joint"), separable = model_of("separable");
  const ObservedSeries series{random_matrix(3, 6, 1)};
  EXPECT_EQ(network_scores(model::ScoreModel(joint), series)->summed({}), nullptr);
  EXPECT_NE(network_scores(model::ScoreModel(separable), series)->summed({}), nullptr);
}

TEST(LocalNetwork, LearnsScoresWithTwoModes) {
  // x^(t+1) = x + uθ + ½ε, u = ±1: with z ~ N(0, 1) the local posterior is ½N(μ, v) + ½N(−μ, v) with v = 1/5 and
  // μ = 4/5 (x^(t+1) − x), which noise leaves a mixture, ½N(±mμ, m²v + σ²). A Gaussian has no score of that kind.
  train::TrainingData data(train::transitions_of("mixture_rw", 20000, {{"dim", 1}, {"proposal_sd", 1.0}}),
                           train::Split{});
  train::LoopSettings loop{.steps = 8000, .batch_size = 500, .evaluations = 5};
  const model::TrainedModel trained =
      train::train("fnse", {.data = data,
                            .loop = loop,
                            .settings = {{"network", "local"}, {"decay", 0.1}, {"ensemble", 1}, {"centre", false}},
                            .streams = Streams(3),
                            .parallel = Parallel(2),
                            .progress = silent_progress(),
                            .checkpoint = {}});
  const model::ScoreModel model(trained);
  ObservedSeries series{Matrix(40, 2)};
  Stream stream = Streams(5).stream("series");
  std::vector<double> mu;
  for (std::size_t t = 0; t < 40; ++t) {
    const double x = stream.normal(), next = x + stream.normal() + 0.5 * stream.normal();
    float c[2];
    data.features().apply({std::span(&x, 1), std::span(&next, 1)}, c);
    series.c(t, 0) = c[0];
    series.c(t, 1) = c[1];
    mu.push_back(0.8 * (next - x));
  }
  const auto scores = network_scores(model, series);
  double error = 0, size = 0, gaussian_error = 0;
  for (const double a : {0.05, 0.2, 0.5}) {
    const double m = model.schedule.m(a), v = 0.2 * m * m + model.schedule.sigma_squared(a);
    for (std::size_t t = 0; t < 40; ++t) {
      Matrix theta(20, 1), learned(20, 1);  // where the noised posterior is: a network has never been elsewhere
      for (std::size_t p = 0; p < 20; ++p)
        theta(p, 0) = m * (p % 2 == 0 ? mu[t] : -mu[t]) + std::sqrt(v) * stream.normal();
      scores->scores(theta, a, t, t + 1, learned);
      for (std::size_t p = 0; p < 20; ++p) {
        const double at = theta(p, 0), mean = m * mu[t];
        const double exact = (mean * std::tanh(mean * at / v) - at) / v;
        const double gaussian = -at / (v + mean * mean);  // of the same variance
        error += std::pow(learned(p, 0) - exact, 2);
        gaussian_error += std::pow(gaussian - exact, 2);
        size += exact * exact;
      }
    }
  }
  EXPECT_GT(gaussian_error / size, 0.1) << "a Gaussian would do";
  EXPECT_LT(error, 0.3 * gaussian_error);  // 0.09 of it measured, as with a joint network 0.12
}

TEST(AmortisedPrecisions, AreThoseOfGaussianRwAfterTraining) {
  train::TrainingData data(train::transitions_of("gaussian_rw", 20000, {{"dim", 2}, {"proposal_sd", 1.0}}),
                           train::Split{});
  train::LoopSettings loop{.steps = 15000, .batch_size = 200, .evaluations = 5};
  loop.optimizer.learning_rate = 3e-3;
  const model::TrainedModel trained = train::train(
      "fnse", {.data = data,
               .loop = loop,
               .settings = {{"network", "separable"}, {"width", 4}, {"layers", 1}, {"decay", 0.1}, {"ensemble", 1}},
               .streams = Streams(3),
               .parallel = Parallel(2),
               .progress = silent_progress(),
               .checkpoint = {}});
  const LocalPrecisions c =
      score_sources().at("test", "fnse").precisions(trained, ObservedSeries{random_matrix(50, 4, 8)});
  // The local posterior's precision is 2 I everywhere. The net saw 20,000 transitions: a few per cent at each place.
  double sum = 0;
  for (std::size_t t = 0; t < 50; ++t) {
    sum += c(t, 0) + c(t, 3);
    EXPECT_NEAR(c(t, 1), 0, 0.5);
    EXPECT_EQ(c(t, 1), c(t, 2));
  }
  EXPECT_NEAR(sum / 100, 2, 0.1);
}

TEST(ObservedSeries, RefusesWhatDoesNotFitTheModel) {
  model::TrainedModel model;
  model.features = model::Features(train::transitions_of("gaussian_rw", 100, {{"dim", 2}}));
  const auto sentence = [&](const Matrix& series) -> std::string {
    try {
      static_cast<void>(observed_series("sample", model, series, {}));
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  Matrix bad = random_matrix(4, 2, 1);
  bad(2, 1) = std::nan("");
  EXPECT_EQ(
      sentence(bad),
      "sample: row 3 of the series is missing in 1 of 2 coordinates, but must be there or missing as a whole: "
      "a transition needs all coordinates of a state; fill in what is missing, or set partly_missing to drop what is "
      "there of it");
  bad(2, 0) = std::nan("");
  EXPECT_EQ(
      sentence(bad),
      "sample: the step from row 2 to row 4 of the series is 2, but must be what the model knows, 1; simulate with "
      "gaps up to it, or set cut_gaps");
  EXPECT_EQ(sentence(random_matrix(1, 2, 1)), "sample: the number of rows of the series is 1, but must be at least 2");
  EXPECT_EQ(sentence(random_matrix(4, 3, 1)), "sample: the number of states of the series is 3, but must be 2");
  EXPECT_EQ(sentence(random_matrix(4, 2, 1)), "");
}

TEST(ObservedSeries, CountsTransitionsOutsideTheTrainingRange) {
  model::TrainedModel model;
  model.features = model::Features(train::transitions_of("gaussian_rw", 1000, {{"dim", 1}}));
  Matrix series(4, 1);
  series(1, 0) = 1;
  series(2, 0) = 1000;
  series(3, 0) = 1001;
  const ObservedSeries observed = observed_series("sample", model, series, {});
  EXPECT_EQ(observed.outside, 2U);
  EXPECT_GT(observed.worst_excess, 50);
}

}  // namespace
}  // namespace catena::compose::network_scores_test
