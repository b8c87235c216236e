#include "catena/evaluate/c2st/mlp_classifier.h"

#include <gtest/gtest.h>

#include <vector>

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
