#include "catena/evaluate/c2st/c2st.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "catena/core/errors.h"
#include "evaluate/sample_pairs.h"
#include "evaluate/scikit_learn_scores.h"

namespace catena::evaluate::c2st_test {
namespace {

using testing::sample_pair;

TEST(C2st, OfTheForestAgreesWithScikitLearnInTwoDimensions) { testing::compare_with_scikit_learn("forest", {2}); }

TEST(C2st, OfThePerceptronAgreesWithScikitLearnInTwoDimensions) { testing::compare_with_scikit_learn("mlp", {2}); }

// The right answers of 2,000 rows would be binomial with a deviation of 0.011 if folds were independent; fresh samples
// and seeds keep the ten runs apart. 0.015 is 4.2 standard errors of the mean of ten (false alarm 3e-5).
TEST(C2st, OfEqualDistributionsIsOneHalf) {
  double sum = 0;
  for (std::uint64_t run = 1; run <= 10; ++run) {
    Matrix a(1000, 3), b(1000, 3);
    Streams(run).stream("a").fill_normal(a.values());
    Streams(run).stream("b").fill_normal(b.values());
    sum += c2st(a, b, Classifier::forest, Streams(run), Parallel(2));
  }
  EXPECT_NEAR(sum / 10, 0.5, 0.015);
}

TEST(C2st, OfSetsFarApartIsOneOrCloseToIt) {
  Matrix a(100, 2), b(100, 2);
  Streams(1).stream("a").fill_normal(a.values());
  Streams(1).stream("b").fill_normal(b.values());
  for (double& x : b.values()) x += 100;
  EXPECT_EQ(c2st(a, b, Classifier::forest, Streams(1), Parallel(1)), 1.0);
  // The perceptron keeps the weights of the first epoch that is right on the few held-out rows, though not on all
  // others: scikit-learn's scores of eight such pairs of samples lie between 0.915 and 1.
  EXPECT_GE(c2st(a, b, Classifier::mlp, Streams(1), Parallel(1)), 0.9);
}

TEST(C2st, IsTheSameForAnyNumberOfThreads) {
  const auto [a, b] = sample_pair("shifted", 3, 200);
  for (const Classifier classifier : {Classifier::forest, Classifier::mlp}) {
    const double on_one = c2st(a, b, classifier, Streams(4), Parallel(1));
    EXPECT_EQ(on_one, c2st(a, b, classifier, Streams(4), Parallel(2)));
    EXPECT_EQ(on_one, c2st(a, b, classifier, Streams(4), Parallel(5)));
    EXPECT_EQ(on_one, c2st(a, b, classifier, Streams(4), Parallel(1)));
  }
}

TEST(C2st, ScoresAConstantParameterAndRepeatedDraws) {
  // A chain that stands still repeats draws; a fixed parameter has no spread. Neither may break the z-scores or trees.
  Matrix a(60, 2), b(60, 2);
  for (std::size_t r = 0; r < 60; ++r) {
    a(r, 0) = b(r, 0) = std::floor(static_cast<double>(r) / 10);
    a(r, 1) = b(r, 1) = 3;
  }
  for (const Classifier classifier : {Classifier::forest, Classifier::mlp}) {
    const double score = c2st(a, b, classifier, Streams(1), Parallel(1));
    EXPECT_GE(score, 0.2);
    EXPECT_LE(score, 0.8);
  }
}

template <class Call>
std::string sentence_of(const Call& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(C2st, RefusesSamplesItCannotUseInOneSentence) {
  const Parallel parallel(1);
  const auto score = [&](const Matrix& a, const Matrix& b) {
    return sentence_of([&] { c2st(a, b, Classifier::forest, Streams(1), parallel); });
  };
  EXPECT_EQ(score(Matrix(19, 2), Matrix(30, 2)), "c2st: the number of draws in A is 19, but must be at least 20");
  EXPECT_EQ(score(Matrix(30, 2), Matrix(0, 2)), "c2st: the number of draws in B is 0, but must be at least 20");
  EXPECT_EQ(score(Matrix(30, 2), Matrix(30, 3)), "c2st: the number of parameters in B is 3, but must be 2, as in A");
  EXPECT_EQ(score(Matrix(30, 0), Matrix(30, 0)), "c2st: the number of parameters in A is 0, but must be at least 1");
  Matrix with_nan(30, 2);
  with_nan(7, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(score(Matrix(30, 2), with_nan), "c2st: B[7, 1] is nan, but must be finite");
}

}  // namespace
}  // namespace catena::evaluate::c2st_test
