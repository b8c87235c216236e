#include "catena/evaluate/c2st/forest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace catena::evaluate::forest_test {
namespace {

struct Data {
  std::size_t features;
  std::vector<float> values;
  std::vector<std::uint8_t> labels;
  FeatureView view() const { return {values.data(), labels.size(), features}; }
};

/// Values on a grid of `levels` steps, so that ties are frequent.
Data grid_data(std::size_t rows, std::size_t features, std::size_t levels, std::uint64_t seed) {
  Stream stream = Streams(seed).stream("grid");
  Data data{features, {}, {}};
  for (std::size_t r = 0; r < rows; ++r) {
    data.labels.push_back(static_cast<std::uint8_t>(stream.integer(2)));
    for (std::size_t f = 0; f < features; ++f) {
      data.values.push_back(static_cast<float>(stream.integer(levels)) - static_cast<float>(data.labels.back()));
    }
  }
  return data;
}

/// The slow twin: sorts in every node, takes the Gini impurity by its definition, compares it as an exact fraction and
/// keeps the bootstrap sample as repeated rows. It asks the stream for the same numbers in the same order.
class SlowTree {
 public:
  SlowTree(const Data& data, Stream& stream) : data_(data), stream_(stream), order_(data.features) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < data.labels.size(); ++i) rows.push_back(stream.integer(data.labels.size()));
    root_ = grow(rows);
  }

  double probability(std::span<const float> row) const {
    const Node* node = root_.get();
    while (node->left) node = row[node->feature] <= node->threshold ? node->left.get() : node->right.get();
    return node->probability;
  }

 private:
  struct Node {
    double probability = 0;
    std::size_t feature = 0;
    double threshold = 0;
    std::unique_ptr<Node> left, right;
  };

  float value(std::size_t row, std::size_t f) const { return data_.values[row * data_.features + f]; }

  std::unique_ptr<Node> grow(std::vector<std::size_t> rows) {
    auto node = std::make_unique<Node>();
    const std::int64_t n = static_cast<std::int64_t>(rows.size());
    const auto count_ones = [&](auto begin, auto end) {
      return std::count_if(begin, end, [&](std::size_t r) { return data_.labels[r] == 1; });
    };
    const std::int64_t ones = count_ones(rows.begin(), rows.end());
    node->probability = static_cast<double>(ones) / static_cast<double>(n);
    if (ones == 0 || ones == n) return node;
    // Σ over sides of weight × impurity / 2 = l₀l₁/l + r₀r₁/r, as a fraction.
    std::int64_t best_top = 0, best_bottom = 0;
    const auto candidates = static_cast<std::size_t>(std::sqrt(static_cast<double>(data_.features)));
    bool varying = false;
    for (std::size_t tried = 0; tried < data_.features && (tried < candidates || !varying); ++tried) {
      std::swap(order_[tried], order_[tried + stream_.integer(data_.features - tried)]);
      const std::size_t f = order_[tried];
      std::stable_sort(rows.begin(), rows.end(), [&](auto i, auto j) { return value(i, f) < value(j, f); });
      for (std::int64_t l = 1; l < n; ++l) {
        const float low = value(rows[static_cast<std::size_t>(l - 1)], f);
        const float high = value(rows[static_cast<std::size_t>(l)], f);
        if (low == high) continue;
        varying = true;
        const std::int64_t l1 = count_ones(rows.begin(), rows.begin() + l), r1 = ones - l1, r = n - l;
        const std::int64_t top = (l - l1) * l1 * r + (r - r1) * r1 * l, bottom = l * r;
        if (best_bottom == 0 || top * best_bottom < best_top * bottom) {
          best_top = top;
          best_bottom = bottom;
          node->feature = f;
          node->threshold = (static_cast<double>(low) + static_cast<double>(high)) / 2;
        }
      }
    }
    if (best_bottom == 0) return node;
    std::vector<std::size_t> left, right;
    for (const std::size_t r : rows) (value(r, node->feature) <= node->threshold ? left : right).push_back(r);
    node->left = grow(left);
    node->right = grow(right);
    return node;
  }

  const Data& data_;
  Stream& stream_;
  std::vector<std::size_t> order_;
  std::unique_ptr<Node> root_;
};

TEST(Forest, GrowsTheSameTreesAsItsSlowTwin) {
  std::uint64_t seed = 0;
  for (const std::size_t features : {1, 2, 4, 5, 9}) {
    for (const std::size_t levels : {2, 5, 1000}) {
      for (const std::size_t rows : {2, 17, 60}) {
        const Data data = grid_data(rows, features, levels, ++seed);
        const Data questions = grid_data(200, features, levels, 1000 + seed);
        Stream stream = Streams(seed).stream("tree", 0);
        Stream same_stream = stream;
        const Tree tree = Tree::grow(ForestData(data.view(), data.labels), stream);
        const SlowTree twin(data, same_stream);
        for (std::size_t q = 0; q < 200; ++q) {
          ASSERT_EQ(tree.probability(questions.view().row(q)), twin.probability(questions.view().row(q)))
              << "features " << features << ", levels " << levels << ", rows " << rows;
        }
        EXPECT_EQ(stream.bits(), same_stream.bits());  // both asked for as many numbers
      }
    }
  }
}

TEST(Forest, SplitsHalfWayAndKeepsEqualRowsTogether) {
  // Two values; three rows of each: whatever the bootstrap sample, the only threshold is 1.5, and the leaf at 2 holds
  // both labels because no feature can part them.
  const Data data{1, {1, 1, 1, 2, 2, 2}, {0, 0, 0, 1, 0, 1}};
  const ForestData sorted(data.view(), data.labels);
  double votes = 0;
  for (std::size_t i = 0; i < 400; ++i) {
    Stream stream = Streams(5).stream("tree", i);
    const Tree tree = Tree::grow(sorted, stream);
    ASSERT_LE(tree.size(), 3);
    const float below = 1.49F, above = 1.51F;
    if (tree.size() == 3) {
      EXPECT_EQ(tree.probability({&below, 1}), 0);
    }
    votes += tree.probability({&above, 1});
  }
  // About two in three: the share of label 1 at value 2. Each vote has a deviation below 1/2, so that 0.1 is four
  // standard errors of 400 trees (false alarm 6e-5).
  EXPECT_NEAR(votes / 400, 2.0 / 3, 0.1);
}

TEST(Forest, VotesAddUpOverBlocksOfTrees) {
  const Data data = grid_data(50, 3, 20, 7);
  const ForestData sorted(data.view(), data.labels);
  std::vector<double> once(50), in_two(50);
  add_votes(sorted, data.view(), 0, 6, Streams(3), once);
  add_votes(sorted, data.view(), 0, 2, Streams(3), in_two);
  add_votes(sorted, data.view(), 2, 4, Streams(3), in_two);
  EXPECT_EQ(once, in_two);
}

}  // namespace
}  // namespace catena::evaluate::forest_test
