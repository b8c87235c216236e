#include "catena/evaluate/c2st/mlp_classifier.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "catena/core/check.h"
#include "catena/nn/layers.h"
#include "catena/nn/optimizer.h"

namespace catena::evaluate {

namespace {

struct ValidationSplit {
  std::vector<std::size_t> train, validation;
};

/// ⌈share·n⌉ examples for validation, the classes in proportion: each gets the whole part of its due, and the one that
/// is then left over goes to the class with the larger remainder (by lot between equal ones).
ValidationSplit stratified_split(std::span<const std::uint8_t> labels, double share, Stream& stream) {
  std::array<std::vector<std::size_t>, 2> members;
  for (std::size_t i = 0; i < labels.size(); ++i) members[labels[i]].push_back(i);
  const auto n = static_cast<double>(labels.size());
  const double wanted = std::ceil(share * n);
  std::array<std::size_t, 2> counts{};
  std::array<double, 2> remainder{};
  for (std::size_t c = 0; c < 2; ++c) {
    const double due = wanted * static_cast<double>(members[c].size()) / n;
    counts[c] = static_cast<std::size_t>(due);
    remainder[c] = due - std::floor(due);
  }
  if (counts[0] + counts[1] < static_cast<std::size_t>(wanted)) {
    const bool tie = remainder[0] == remainder[1];
    ++counts[tie ? stream.integer(2) : (remainder[1] > remainder[0] ? 1 : 0)];
  }
  ValidationSplit split;
  for (std::size_t c = 0; c < 2; ++c) {
    const std::vector<std::size_t> order = stream.permutation(members[c].size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      (i < counts[c] ? split.validation : split.train).push_back(members[c][order[i]]);
    }
  }
  return split;
}

/// Some of the examples of a set into the lanes of a block.
void gather(ConstBlock from, std::span<const std::size_t> picked, Block to) {
  for (std::size_t f = 0; f < from.features; ++f) {
    const float* source = from.feature(f);
    for (std::size_t i = 0; i < picked.size(); ++i) to(f, i) = source[picked[i]];
  }
}

/// Glorot and Bengio's range for weights and, as in scikit-learn, for biases: ±√(6 / (inputs + outputs)).
AlignedVector<float> glorot_weights(const nn::Graph& graph, Stream& stream) {
  AlignedVector<float> weights(graph.parameter_count());
  double bound = 0;
  for (const nn::ParameterInfo& info : graph.parameters()) {  // of each layer the matrix, then the bias
    if (info.decays) bound = std::sqrt(6.0 / static_cast<double>(info.rows + info.cols));
    for (std::size_t i = 0; i < info.size(); ++i) {
      weights[info.offset + i] = static_cast<float>(bound * (2 * stream.uniform() - 1));
    }
  }
  return weights;
}

/// The gradient of α/2·|W|²: scikit-learn's decay is part of the loss, AdamW's is not.
void add_penalty(const nn::Graph& graph, std::span<const float> weights, double alpha, std::span<float> gradient) {
  const auto factor = static_cast<float>(alpha);
  for (const nn::ParameterInfo& info : graph.parameters()) {
    if (!info.decays) continue;
    for (std::size_t i = info.offset; i < info.offset + info.size(); ++i) gradient[i] += factor * weights[i];
  }
}

}  // namespace

/// h₁ = max(0, W₁ x + b₁),  h₂ = max(0, W₂ h₁ + b₂),  logit = w₃ h₂ + b₃.
MlpClassifier::MlpClassifier(std::size_t features, std::size_t hidden, Stream& stream)
    : examples_(graph_.input("examples", features)),
      logit_(nn::mlp(graph_, "classifier", examples_, hidden, 2, 1, "relu")),
      weights_(glorot_weights(graph_, stream)) {}

MlpClassifier MlpClassifier::train(ConstBlock examples, std::span<const std::uint8_t> labels,
                                   const MlpSettings& settings, Stream& stream) {
  CATENA_ASSERT(labels.size() == examples.lanes && labels.size() >= 20);
  MlpClassifier network(examples.features, settings.hidden_per_feature * examples.features, stream);
  const ValidationSplit split = stratified_split(labels, settings.validation_share, stream);
  const std::size_t n = split.train.size();
  const std::size_t batch_size = std::min(settings.batch_size, n);
  LaneBlock validation(examples.features, split.validation.size());
  gather(examples, split.validation, validation);
  std::vector<std::uint8_t> validation_labels;
  for (const std::size_t i : split.validation) validation_labels.push_back(labels[i]);

  // The cross-entropy: log(1 + e^logit) − y·logit.
  nn::Graph graph = network.graph_;
  const nn::Value label = graph.input("label", 1);
  const nn::Value loss =
      nn::subtract(graph, graph.apply("softplus", {network.logit_}), nn::multiply(graph, label, network.logit_));
  nn::Workspace workspace(graph, batch_size, nn::Purpose::training());
  nn::Workspace validation_workspace(network.graph_, split.validation.size(), nn::Purpose::inference());
  const nn::Optimizer adam(graph, {.learning_rate = settings.learning_rate,
                                   .weight_decay = 0,
                                   .clip_norm = std::numeric_limits<double>::max(),
                                   .average_decay = 0});
  nn::OptimizerState state = adam.init(network.weights_);

  AlignedVector<float> gradient(graph.parameter_count());
  double best_accuracy = -std::numeric_limits<double>::infinity();
  AlignedVector<float> best_weights = network.weights_;
  std::size_t without_gain = 0;
  std::vector<std::size_t> picked(n);
  while (network.epochs_ < settings.max_epochs && without_gain <= settings.patience) {
    const std::vector<std::size_t> order = stream.permutation(n);
    for (std::size_t i = 0; i < n; ++i) picked[i] = split.train[order[i]];
    for (std::size_t begin = 0; begin < n; begin += batch_size) {
      const std::size_t count = std::min(batch_size, n - begin);
      const auto batch = std::span(picked).subspan(begin, count);
      gather(examples, batch, workspace.value(network.examples_, count));
      const Block y = workspace.value(label, count);
      for (std::size_t l = 0; l < count; ++l) y(0, l) = static_cast<float>(labels[batch[l]]);
      workspace.forward(state.weights, count);
      std::fill_n(workspace.gradient(loss, count).data, count, 1.0F / static_cast<float>(count));
      workspace.reverse(state.weights, count, loss, gradient);
      add_penalty(graph, state.weights, settings.weight_decay / static_cast<double>(count), gradient);
      adam.step(state, gradient, settings.learning_rate);
    }
    ++network.epochs_;
    network.weights_ = state.weights;
    const double accuracy = network.accuracy(validation, validation_labels, validation_workspace);
    without_gain = accuracy < best_accuracy + settings.tolerance ? without_gain + 1 : 0;
    if (accuracy > best_accuracy) {
      best_accuracy = accuracy;
      best_weights = network.weights_;
    }
  }
  network.weights_ = std::move(best_weights);
  return network;
}

double MlpClassifier::accuracy(ConstBlock examples, std::span<const std::uint8_t> labels,
                               nn::Workspace& workspace) const {
  const std::size_t n = labels.size();
  const Block input = workspace.value(examples_, n);
  for (std::size_t f = 0; f < examples.features; ++f) std::copy_n(examples.feature(f), n, input.feature(f));
  workspace.forward(weights_, n);
  const ConstBlock logit = workspace.value(logit_, n);
  std::size_t right = 0;
  for (std::size_t l = 0; l < n; ++l) right += (logit(0, l) > 0) == (labels[l] != 0) ? 1 : 0;
  return static_cast<double>(right) / static_cast<double>(n);
}

double MlpClassifier::accuracy(ConstBlock examples, std::span<const std::uint8_t> labels) const {
  nn::Workspace workspace(graph_, labels.size(), nn::Purpose::inference());
  return accuracy(examples, labels, workspace);
}

}  // namespace catena::evaluate
