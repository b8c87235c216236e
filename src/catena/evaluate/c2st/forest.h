/// A random forest for two classes, as scikit-learn's RandomForestClassifier grows it with its default settings
/// (Breiman 2001, docs/refs.bib: breiman2001): trees on bootstrap samples, Gini impurity, ⌊√d⌋ candidate features a
/// node, grown until every leaf is pure, and a vote that averages the leaves' class shares. For the C2ST (c2st.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/random.h"

namespace catena::evaluate {

/// Rows of 32-bit features, as both classifiers of the C2ST see them (scikit-learn's trees, too, compare floats).
using FeatureView = BasicMatrixView<const float>;

/// The rows that a forest learns from, each feature sorted once; all trees of the forest share it.
class ForestData {
 public:
  /// labels are 0 or 1, one per row.
  ForestData(FeatureView rows, std::span<const std::uint8_t> labels);

  std::size_t rows() const { return labels_.size(); }
  std::size_t features() const { return features_; }
  std::uint8_t label(std::size_t row) const { return labels_[row]; }
  /// Feature f of every row.
  const float* values(std::size_t f) const { return values_.data() + f * rows(); }
  /// The rows in ascending order of feature f.
  std::span<const std::uint32_t> order(std::size_t f) const { return {order_.data() + f * rows(), rows()}; }

 private:
  std::size_t features_;
  std::vector<std::uint8_t> labels_;
  std::vector<float> values_;         // [feature][row]
  std::vector<std::uint32_t> order_;  // [feature][rank]
};

/// One tree. Nodes stand in preorder: the left child of node i is node i + 1.
class Tree {
 public:
  /// Draws from `stream`: the bootstrap sample (one integer per row), then, in preorder and for each node that is not
  /// pure, the order in which features are tried.
  static Tree grow(const ForestData& data, Stream& stream);

  /// The share of class 1 in the leaf that `row` falls into.
  double probability(std::span<const float> row) const {
    const Node* node = nodes_.data();
    while (node->feature >= 0) {
      const double x = row[static_cast<std::size_t>(node->feature)];
      node = x <= node->value ? node + 1 : nodes_.data() + node->right;
    }
    return node->value;
  }
  std::size_t size() const { return nodes_.size(); }

 private:
  struct Node {
    double value = 0;           // inside: rows with feature ≤ value go left; in a leaf: the share of class 1
    std::int32_t feature = -1;  // −1 marks a leaf
    std::uint32_t right = 0;
  };
  std::vector<Node> nodes_;

  friend class TreeGrower;
};

/// Adds the votes of `trees` trees, numbered from first_tree, for every row of `rows` to `votes`. Tree i draws from
/// streams.stream("tree", i), so that blocks of trees may be grown in parallel.
void add_votes(const ForestData& data, FeatureView rows, std::size_t first_tree, std::size_t trees,
               const Streams& streams, std::span<double> votes);

}  // namespace catena::evaluate
