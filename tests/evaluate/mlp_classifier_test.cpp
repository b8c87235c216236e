#include "catena/evaluate/c2st/mlp_classifier.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "catena/evaluate/c2st/mlp_kernels.h"

namespace catena::evaluate::mlp_classifier_test {
namespace {

LaneBlock random_block(std::size_t features, std::size_t lanes, std::uint64_t seed) {
  LaneBlock block(features, lanes);
  Stream stream = Streams(seed).stream("block");
  for (std::size_t f = 0; f < features; ++f) {
    for (std::size_t l = 0; l < lanes; ++l) block(f, l) = static_cast<float>(stream.normal());
  }
  return block;
}

std::vector<float> random_floats(std::size_t count, std::uint64_t seed) {
  std::vector<float> values(count);
  Streams(seed).stream("floats").fill_normal(std::span(values));
  return values;
}

// A sum of k products of numbers below `size` carries a rounding error of at most k·size²·2⁻²⁴ in single precision.
double sum_tolerance(std::size_t terms) { return static_cast<double>(terms) * 25 * 0x1p-24; }  // |normals| < 5

TEST(MlpKernels, MatchTheirSlowTwinsForEveryShape) {
  for (const std::size_t outputs : {1, 4, 5, 10, 13}) {
    for (const std::size_t inputs : {1, 3, 10, 16}) {
      for (const std::size_t lanes : {1, 16, 40, 200}) {
        const LaneBlock in = random_block(inputs, lanes, 1), delta = random_block(outputs, lanes, 2);
        const std::vector<float> weights = random_floats(outputs * inputs, 3), bias = random_floats(outputs, 4);
        LaneBlock out(outputs, lanes), back(inputs, lanes);
        std::vector<float> weight_gradient(outputs * inputs), bias_gradient(outputs);
        for (const bool rectify : {false, true}) {
          kernels::dense(weights.data(), bias.data(), in, rectify, out);
          for (std::size_t o = 0; o < outputs; ++o) {
            for (std::size_t l = 0; l < lanes; ++l) {
              double sum = bias[o];
              for (std::size_t i = 0; i < inputs; ++i) sum += double{weights[o * inputs + i]} * in(i, l);
              ASSERT_NEAR(out(o, l), rectify ? std::max(0.0, sum) : sum, sum_tolerance(inputs + 1));
            }
          }
        }
        kernels::dense_back(weights.data(), delta, in, back);
        for (std::size_t i = 0; i < inputs; ++i) {
          for (std::size_t l = 0; l < lanes; ++l) {
            double sum = 0;
            for (std::size_t o = 0; o < outputs; ++o) sum += double{weights[o * inputs + i]} * delta(o, l);
            ASSERT_NEAR(back(i, l), in(i, l) > 0 ? sum : 0, sum_tolerance(outputs));
          }
        }
        kernels::dense_gradient(delta, in, weight_gradient.data(), bias_gradient.data());
        for (std::size_t o = 0; o < outputs; ++o) {
          double bias_sum = 0;
          for (std::size_t l = 0; l < lanes; ++l) bias_sum += delta(o, l);
          ASSERT_NEAR(bias_gradient[o], bias_sum, sum_tolerance(lanes));
          for (std::size_t i = 0; i < inputs; ++i) {
            double sum = 0;
            for (std::size_t l = 0; l < lanes; ++l) sum += double{delta(o, l)} * in(i, l);
            ASSERT_NEAR(weight_gradient[o * inputs + i], sum, sum_tolerance(lanes));
          }
        }
      }
    }
  }
}

TEST(MlpKernels, AdamMatchesItsFormula) {
  const kernels::AdamStep step{0.01F, 0.9F, 0.999F, 1e-8F, 0.5F, 0.1F};
  const std::vector<float> gradient = random_floats(37, 1);
  std::vector<float> mean = random_floats(37, 2), square = random_floats(37, 3), parameters = random_floats(37, 4);
  for (float& v : square) v = v * v;
  const std::vector<float> mean0 = mean, square0 = square, parameters0 = parameters;
  kernels::adam(step, gradient, mean, square, parameters);
  for (std::size_t i = 0; i < 37; ++i) {
    const double g = 0.5 * gradient[i] + 0.1 * parameters0[i];
    const double m = 0.9 * mean0[i] + 0.1 * g;
    const double v = 0.999 * square0[i] + 0.001 * g * g;
    EXPECT_NEAR(mean[i], m, 1e-6);
    EXPECT_NEAR(square[i], v, 1e-5);
    EXPECT_NEAR(parameters[i], parameters0[i] - 0.01 * m / (std::sqrt(v) + 1e-8), 1e-5);
  }
}

TEST(MlpClassifier, LearnsWhatNoLineCanSeparate) {
  // Exclusive or of two signs: a linear classifier is right half of the time, the network nearly always.
  const std::size_t n = 1000;
  LaneBlock examples = random_block(2, n, 9);
  std::vector<std::uint8_t> labels(n);
  for (std::size_t l = 0; l < n; ++l) labels[l] = (examples(0, l) > 0) != (examples(1, l) > 0) ? 1 : 0;
  Stream stream = Streams(1).stream("mlp");
  const MlpClassifier network = MlpClassifier::train(examples, labels, MlpSettings{}, stream);
  LaneBlock fresh = random_block(2, n, 10);
  for (std::size_t l = 0; l < n; ++l) labels[l] = (fresh(0, l) > 0) != (fresh(1, l) > 0) ? 1 : 0;
  EXPECT_GT(network.accuracy(fresh, labels), 0.95);
}

TEST(MlpClassifier, StopsOncePatienceIsUsedUp) {
  // Labels that have nothing to do with the examples: accuracy on the held-out tenth soon stops rising.
  const LaneBlock examples = random_block(2, 300, 1);
  std::vector<std::uint8_t> labels(300);
  Stream label_stream = Streams(2).stream("labels");
  for (std::uint8_t& label : labels) label = static_cast<std::uint8_t>(label_stream.integer(2));
  Stream stream = Streams(3).stream("mlp");
  MlpSettings settings;
  settings.patience = 5;
  const MlpClassifier network = MlpClassifier::train(examples, labels, settings, stream);
  EXPECT_GT(network.epochs(), 6U);  // the first epoch always gains
  EXPECT_LT(network.epochs(), 300U);
  settings.max_epochs = 3;
  Stream again = Streams(3).stream("mlp");
  EXPECT_EQ(MlpClassifier::train(examples, labels, settings, again).epochs(), 3U);
}

}  // namespace
}  // namespace catena::evaluate::mlp_classifier_test
