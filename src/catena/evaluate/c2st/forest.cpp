#include "catena/evaluate/c2st/forest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "catena/core/check.h"

namespace catena::evaluate {

namespace {

// Values closer than this count as one value (scikit-learn's FEATURE_THRESHOLD; like there, the sum is a float).
constexpr float same_value = 1e-7F;

bool differ(float low, float high) { return high > low + same_value; }

/// Weight of a set of rows and, of it, the weight of class 1, in one word, so that one addition sums both.
struct Weight {
  std::uint64_t packed = 0;
  std::uint32_t all() const { return static_cast<std::uint32_t>(packed >> 32); }
  std::uint32_t ones() const { return static_cast<std::uint32_t>(packed); }
  bool pure() const { return ones() == 0 || ones() == all(); }
};

struct Split {
  double score = -1;  // any true split scores at least 0
  std::size_t feature = 0;
  std::size_t position = 0;  // rows before it, in the order of the feature, go left
  Weight left;
};

}  // namespace

ForestData::ForestData(FeatureView rows, std::span<const std::uint8_t> labels)
    : features_(rows.cols),
      labels_(labels.begin(), labels.end()),
      values_(rows.rows * rows.cols),
      order_(values_.size()) {
  CATENA_ASSERT(labels.size() == rows.rows && rows.rows > 0 && rows.rows < std::numeric_limits<std::uint32_t>::max());
  for (std::size_t f = 0; f < features_; ++f) {
    float* column = values_.data() + f * rows.rows;
    for (std::size_t r = 0; r < rows.rows; ++r) column[r] = rows(r, f);
    const auto begin = order_.begin() + static_cast<std::ptrdiff_t>(f * rows.rows);
    const auto end = begin + static_cast<std::ptrdiff_t>(rows.rows);
    std::iota(begin, end, 0U);
    std::stable_sort(begin, end, [&](std::uint32_t i, std::uint32_t j) { return column[i] < column[j]; });
  }
}

/// Grows one tree. Each node owns the same range of positions in d arrays, one per feature, that list its rows in the
/// order of that feature; a split divides each array stably, so that nothing is ever sorted again.
class TreeGrower {
 public:
  TreeGrower(const ForestData& data, Stream& stream)
      : data_(data),
        stream_(stream),
        candidates_(
            std::max<std::size_t>(1, static_cast<std::size_t>(std::sqrt(static_cast<double>(data.features()))))),
        weights_(data.rows()),
        goes_left_(data.rows()),
        feature_order_(data.features()) {
    std::iota(feature_order_.begin(), feature_order_.end(), std::size_t{0});
    draw_bootstrap();
  }

  Tree grow() {
    struct Task {
      std::size_t begin, end;
      Weight weight;
      std::size_t parent;  // whose `right` is to be set; none for a left child
    };
    constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    Tree tree;
    tree.nodes_.reserve(rows_);
    std::vector<Task> tasks{{0, rows_, total_, none}};
    while (!tasks.empty()) {
      const Task task = tasks.back();
      tasks.pop_back();
      if (task.parent != none) tree.nodes_[task.parent].right = static_cast<std::uint32_t>(tree.nodes_.size());
      Tree::Node& node = tree.nodes_.emplace_back();
      const Split split = task.weight.pure() ? Split{} : best_split(task.begin, task.end, task.weight);
      if (split.score < 0) {
        node.value = static_cast<double>(task.weight.ones()) / task.weight.all();
        continue;
      }
      const std::size_t middle = task.begin + split.position;
      node.feature = static_cast<std::int32_t>(split.feature);
      node.value = threshold(split.feature, middle);
      const Weight right{task.weight.packed - split.left.packed};
      if (!split.left.pure() || !right.pure()) divide(task.begin, middle, task.end, split.feature);
      tasks.push_back({middle, task.end, right, tree.nodes_.size() - 1});
      tasks.push_back({task.begin, middle, split.left, none});
    }
    return tree;
  }

 private:
  void draw_bootstrap() {
    std::vector<std::uint32_t> counts(data_.rows());
    for (std::size_t i = 0; i < data_.rows(); ++i) ++counts[stream_.integer(data_.rows())];
    for (std::size_t r = 0; r < data_.rows(); ++r) {
      weights_[r].packed = (std::uint64_t{counts[r]} << 32) | (data_.label(r) != 0 ? counts[r] : 0);
      total_.packed += weights_[r].packed;
      rows_ += counts[r] > 0 ? 1 : 0;
    }
    sorted_.resize(data_.features() * rows_);
    scratch_.resize(rows_);
    for (std::size_t f = 0; f < data_.features(); ++f) {
      std::uint32_t* out = sorted(f);
      for (const std::uint32_t row : data_.order(f)) {
        if (counts[row] > 0) *out++ = row;
      }
    }
  }

  std::uint32_t* sorted(std::size_t f) { return sorted_.data() + f * rows_; }

  /// Features are tried in random order until ⌊√d⌋ were looked at and one of them, at least, was not constant.
  Split best_split(std::size_t begin, std::size_t end, Weight weight) {
    Split best;
    bool found_varying = false;
    for (std::size_t tried = 0; tried < data_.features() && (tried < candidates_ || !found_varying); ++tried) {
      const std::size_t other = tried + stream_.integer(data_.features() - tried);
      std::swap(feature_order_[tried], feature_order_[other]);
      const std::size_t f = feature_order_[tried];
      const std::uint32_t* rows = sorted(f);
      const float* values = data_.values(f);
      if (!differ(values[rows[begin]], values[rows[end - 1]])) continue;
      found_varying = true;
      scan(f, begin, end, weight, best);
    }
    return best;
  }

  /// With two classes the weighted decrease of the Gini impurity is, up to a factor that all splits of a node share,
  ///     (w₁ᴸ w − w₁ wᴸ)² / (wᴸ wᴿ),
  /// w the weight, w₁ that of class 1, L and R the sides. Both terms are integers (exact in a double below some
  /// 20,000 rows), so that equally good splits score the same bits and the first one found wins.
  void scan(std::size_t f, std::size_t begin, std::size_t end, Weight weight, Split& best) {
    const std::uint32_t* rows = sorted(f) + begin;
    const float* values = data_.values(f);
    const std::size_t count = end - begin;
    const std::int64_t all = weight.all();
    const std::int64_t ones = weight.ones();
    Weight left;
    float value = values[rows[0]];
    for (std::size_t i = 0; i + 1 < count; ++i) {
      left.packed += weights_[rows[i]].packed;
      const float next = values[rows[i + 1]];
      const bool splits = differ(value, next);
      value = next;
      const std::int64_t left_all = left.all();
      const auto gap = static_cast<double>(std::int64_t{left.ones()} * all - ones * left_all);
      const double score = gap * gap / static_cast<double>(left_all * (all - left_all));
      if (score > best.score && splits) best = {score, f, i + 1, left};
    }
  }

  /// Half-way between the neighbours; the lower one itself where rounding would reach the upper one.
  double threshold(std::size_t f, std::size_t middle) {
    const double low = data_.values(f)[sorted(f)[middle - 1]];
    const double high = data_.values(f)[sorted(f)[middle]];
    const double half_way = low / 2 + high / 2;
    return half_way < high ? half_way : low;
  }

  void divide(std::size_t begin, std::size_t middle, std::size_t end, std::size_t split_feature) {
    const std::uint32_t* split_rows = sorted(split_feature);
    for (std::size_t i = begin; i < middle; ++i) goes_left_[split_rows[i]] = 1;
    for (std::size_t i = middle; i < end; ++i) goes_left_[split_rows[i]] = 0;
    for (std::size_t f = 0; f < data_.features(); ++f) {
      if (f == split_feature) continue;
      std::uint32_t* rows = sorted(f);
      std::size_t left = begin;
      std::size_t right = 0;
      for (std::size_t i = begin; i < end; ++i) {  // no branch: both places are written, one of them advances
        const std::uint32_t row = rows[i];
        const std::size_t is_left = goes_left_[row];
        rows[left] = row;
        scratch_[right] = row;
        left += is_left;
        right += 1 - is_left;
      }
      std::copy_n(scratch_.begin(), right, rows + left);
    }
  }

  const ForestData& data_;
  Stream& stream_;
  std::size_t candidates_;  // features to look at in a node
  std::size_t rows_ = 0;    // different rows in the bootstrap sample
  Weight total_;
  std::vector<Weight> weights_;  // how often the bootstrap sample holds a row
  std::vector<std::uint8_t> goes_left_;
  std::vector<std::size_t> feature_order_;
  std::vector<std::uint32_t> sorted_;  // [feature][position]
  std::vector<std::uint32_t> scratch_;
};

Tree Tree::grow(const ForestData& data, Stream& stream) { return TreeGrower(data, stream).grow(); }

void add_votes(const ForestData& data, FeatureView rows, std::size_t first_tree, std::size_t trees,
               const Streams& streams, std::span<double> votes) {
  CATENA_ASSERT(rows.cols == data.features() && votes.size() == rows.rows);
  for (std::size_t i = first_tree; i < first_tree + trees; ++i) {
    Stream stream = streams.stream("tree", i);
    const Tree tree = Tree::grow(data, stream);
    for (std::size_t r = 0; r < rows.rows; ++r) votes[r] += tree.probability(rows.row(r));
  }
}

}  // namespace catena::evaluate
