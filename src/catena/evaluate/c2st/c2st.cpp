#include "catena/evaluate/c2st/c2st.h"

#include <cstdint>
#include <numeric>
#include <vector>

#include "catena/evaluate/c2st/forest.h"
#include "catena/evaluate/c2st/mlp_classifier.h"
#include "catena/evaluate/metric.h"
#include "catena/evaluate/moments.h"
#include "catena/evaluate/samples.h"

namespace catena::evaluate {

namespace {

constexpr std::size_t folds = 5;
constexpr std::size_t trees = 100;
constexpr std::size_t trees_per_block = 5;  // of one parallel task; a fold's votes are added block by block

/// Rows with their labels: 0 for the first set, 1 for the second.
struct Labelled {
  std::size_t features = 0;
  AlignedVector<float> values;
  std::vector<std::uint8_t> labels;

  FeatureView view() const { return {values.data(), labels.size(), features}; }
  LaneBlock lanes() const {
    LaneBlock block(features, labels.size());
    for (std::size_t r = 0; r < labels.size(); ++r) {
      for (std::size_t f = 0; f < features; ++f) block(f, r) = values[r * features + f];
    }
    return block;
  }
  void append(std::span<const float> row, std::uint8_t label) {
    values.insert(values.end(), row.begin(), row.end());
    labels.push_back(label);
  }
};

struct Fold {
  Labelled train, test;
};

/// (x − mean of A) / standard deviation of A, parameter by parameter; a deviation below 1e-14 counts as 1, as in sbi.
Labelled z_scored(ConstMatrixView a, ConstMatrixView b) {
  auto [mean, deviation] = moments(a);
  for (double& sd : deviation) sd = sd < 1e-14 ? 1 : sd;
  Labelled result;
  result.features = a.cols;
  std::vector<float> row(a.cols);
  for (std::uint8_t label = 0; label < 2; ++label) {
    const ConstMatrixView sample = label == 0 ? a : b;
    for (std::size_t r = 0; r < sample.rows; ++r) {
      for (std::size_t c = 0; c < a.cols; ++c) row[c] = static_cast<float>((sample(r, c) - mean[c]) / deviation[c]);
      result.append(row, label);
    }
  }
  return result;
}

/// A random order cut into five stretches, the first ones longer by one row where the number does not divide.
std::vector<Fold> cut(const Labelled& all, Stream stream) {
  const std::size_t n = all.labels.size();
  const std::vector<std::size_t> order = stream.permutation(n);
  std::vector<std::size_t> fold_of(n);
  for (std::size_t k = 0, begin = 0; k < folds; ++k) {
    const std::size_t end = begin + n / folds + (k < n % folds ? 1 : 0);
    for (std::size_t i = begin; i < end; ++i) fold_of[order[i]] = k;
    begin = end;
  }
  std::vector<Fold> result(folds);
  for (std::size_t k = 0; k < folds; ++k) {
    result[k].train.features = result[k].test.features = all.features;
    for (std::size_t i = 0; i < n; ++i) {
      (fold_of[i] == k ? result[k].test : result[k].train).append(all.view().row(i), all.labels[i]);
    }
  }
  return result;
}

std::vector<double> forest_accuracies(const std::vector<Fold>& cuts, const Streams& streams, const Parallel& parallel) {
  std::vector<ForestData> data;
  for (const Fold& fold : cuts) data.emplace_back(fold.train.view(), fold.train.labels);
  constexpr std::size_t blocks = trees / trees_per_block;
  std::vector<std::vector<double>> votes(folds * blocks);
  parallel.for_each(votes.size(), [&](std::size_t task) {
    const std::size_t k = task / blocks;
    votes[task].assign(cuts[k].test.labels.size(), 0.0);
    add_votes(data[k], cuts[k].test.view(), task % blocks * trees_per_block, trees_per_block, streams.child("fold", k),
              votes[task]);
  });
  std::vector<double> accuracies;
  for (std::size_t k = 0; k < folds; ++k) {
    const std::vector<std::uint8_t>& labels = cuts[k].test.labels;
    std::size_t right = 0;
    for (std::size_t r = 0; r < labels.size(); ++r) {
      double sum = 0;
      for (std::size_t block = 0; block < blocks; ++block) sum += votes[k * blocks + block][r];
      const std::uint8_t predicted = 2 * sum > trees ? 1 : 0;  // a drawn vote is the first class, as in scikit-learn
      right += predicted == labels[r] ? 1 : 0;
    }
    accuracies.push_back(static_cast<double>(right) / static_cast<double>(labels.size()));
  }
  return accuracies;
}

std::vector<double> mlp_accuracies(const std::vector<Fold>& cuts, const Streams& streams, const Parallel& parallel) {
  std::vector<double> accuracies(folds);
  parallel.for_each(folds, [&](std::size_t k) {
    Stream stream = streams.stream("mlp", k);
    const auto network = MlpClassifier::train(cuts[k].train.lanes(), cuts[k].train.labels, MlpSettings{}, stream);
    accuracies[k] = network.accuracy(cuts[k].test.lanes(), cuts[k].test.labels);
  });
  return accuracies;
}

}  // namespace

double c2st(ConstMatrixView a, ConstMatrixView b, Classifier classifier, const Streams& streams,
            const Parallel& parallel) {
  check_samples("c2st", a, b, 20);
  const Streams own = streams.child("c2st");
  const std::vector<Fold> cuts = cut(z_scored(a, b), own.stream("folds"));
  const std::vector<double> accuracies =
      classifier == Classifier::forest ? forest_accuracies(cuts, own, parallel) : mlp_accuracies(cuts, own, parallel);
  return std::accumulate(accuracies.begin(), accuracies.end(), 0.0) / static_cast<double>(folds);
}

Metric c2st_metric() {
  return {"c2st", "how often a random forest tells A from B: 0.5 never, 1 always",
          [](ConstMatrixView a, ConstMatrixView b, const Streams& streams, const Parallel& parallel) -> nlohmann::json {
            return c2st(a, b, Classifier::forest, streams, parallel);
          }};
}

Metric c2st_mlp_metric() {
  return {"c2st_mlp", "the same with a multilayer perceptron",
          [](ConstMatrixView a, ConstMatrixView b, const Streams& streams, const Parallel& parallel) -> nlohmann::json {
            return c2st(a, b, Classifier::mlp, streams, parallel);
          }};
}

}  // namespace catena::evaluate
