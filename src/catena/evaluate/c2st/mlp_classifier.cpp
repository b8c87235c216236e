#include "catena/evaluate/c2st/mlp_classifier.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "catena/core/check.h"
#include "catena/evaluate/c2st/mlp_kernels.h"

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

/// Some of the examples of a set, copied together.
struct Examples {
  Examples(std::size_t features, std::size_t count) : values(features, count), labels(count) {}

  void gather(ConstBlock from, std::span<const std::uint8_t> from_labels, std::span<const std::size_t> picked) {
    for (std::size_t f = 0; f < from.features; ++f) {
      const float* source = from.feature(f);
      float* to = values.view().feature(f);
      for (std::size_t i = 0; i < picked.size(); ++i) to[i] = source[picked[i]];
    }
    for (std::size_t i = 0; i < picked.size(); ++i) labels[i] = from_labels[picked[i]];
  }

  LaneBlock values;
  std::vector<std::uint8_t> labels;
};

}  // namespace

MlpClassifier::MlpClassifier(std::size_t features, std::size_t hidden) : features_(features), hidden_(hidden) {
  parameters_.resize(size());
}

/// Glorot and Bengio's range for weights and, as in scikit-learn, for biases: ±√(6 / (inputs + outputs)).
void MlpClassifier::initialise(Stream& stream) {
  struct Layer {
    std::size_t weight, bias, inputs, outputs;
  };
  for (const Layer& layer : {Layer{weight1(), bias1(), features_, hidden_}, Layer{weight2(), bias2(), hidden_, hidden_},
                             Layer{weight3(), bias3(), hidden_, 1}}) {
    const double bound = std::sqrt(6.0 / static_cast<double>(layer.inputs + layer.outputs));
    const auto draw = [&](std::size_t at, std::size_t count) {
      for (std::size_t i = at; i < at + count; ++i) {
        parameters_[i] = static_cast<float>(bound * (2 * stream.uniform() - 1));
      }
    };
    draw(layer.weight, layer.inputs * layer.outputs);
    draw(layer.bias, layer.outputs);
  }
}

/// h₁ = max(0, W₁ x + b₁),  h₂ = max(0, W₂ h₁ + b₂),  logit = w₃ h₂ + b₃.
void MlpClassifier::forward(ConstBlock examples, Pass& pass) const {
  const float* p = parameters_.data();
  kernels::dense(p + weight1(), p + bias1(), examples, true, pass.first);
  kernels::dense(p + weight2(), p + bias2(), pass.first, true, pass.second);
  kernels::dense(p + weight3(), p + bias3(), pass.second, false, pass.logit);
}

/// δ₃ = σ(logit) − y,  δ₂ = w₃ᵀδ₃ ⊙ [h₂ > 0],  δ₁ = W₂ᵀδ₂ ⊙ [h₁ > 0];  ∂W = δ·inputᵀ,  ∂b = Σ δ.
void MlpClassifier::gradient(ConstBlock examples, std::span<const std::uint8_t> labels, Pass& pass,
                             std::span<float> out) const {
  forward(examples, pass);
  const float* p = parameters_.data();
  float* g = out.data();
  const Block delta3 = pass.logit;
  for (std::size_t l = 0; l < labels.size(); ++l) {
    delta3(0, l) = 1.0F / (1.0F + std::exp(-delta3(0, l))) - static_cast<float>(labels[l]);
  }
  for (std::size_t l = labels.size(); l < delta3.stride; ++l) delta3(0, l) = 0;  // padding must not count
  kernels::dense_gradient(delta3, pass.second, g + weight3(), g + bias3());
  kernels::dense_back(p + weight3(), delta3, pass.second, pass.delta2);
  kernels::dense_gradient(pass.delta2, pass.first, g + weight2(), g + bias2());
  kernels::dense_back(p + weight2(), pass.delta2, pass.first, pass.delta1);
  kernels::dense_gradient(pass.delta1, examples, g + weight1(), g + bias1());
}

MlpClassifier MlpClassifier::train(ConstBlock examples, std::span<const std::uint8_t> labels,
                                   const MlpSettings& settings, Stream& stream) {
  CATENA_ASSERT(labels.size() == examples.lanes && labels.size() >= 20);
  MlpClassifier network(examples.features, settings.hidden_per_feature * examples.features);
  network.initialise(stream);
  const ValidationSplit split = stratified_split(labels, settings.validation_share, stream);
  const std::size_t n = split.train.size();
  const std::size_t batch_size = std::min(settings.batch_size, n);
  const std::size_t rest = n % batch_size;
  Examples validation(examples.features, split.validation.size());
  validation.gather(examples, labels, split.validation);

  // An epoch ends with a shorter minibatch where the number does not divide: two sizes of memory.
  struct Minibatch {
    Minibatch(const MlpClassifier& network, std::size_t count)
        : examples(network.features_, count), pass(network.hidden_, count) {}
    Examples examples;
    Pass pass;
  };
  Minibatch full(network, batch_size), last(network, rest);
  Pass validation_pass(network.hidden_, split.validation.size());

  AlignedVector<float> gradient(network.size()), mean(network.size()), square(network.size());
  AlignedVector<float> best_parameters = network.parameters_;
  double best_accuracy = -std::numeric_limits<double>::infinity();
  std::size_t without_gain = 0;
  double beta1_power = 1, beta2_power = 1;  // β₁ᵗ, β₂ᵗ after t steps
  std::vector<std::size_t> picked(n);
  while (network.epochs_ < settings.max_epochs && without_gain <= settings.patience) {
    const std::vector<std::size_t> order = stream.permutation(n);
    for (std::size_t i = 0; i < n; ++i) picked[i] = split.train[order[i]];
    for (std::size_t begin = 0; begin < n; begin += batch_size) {
      const std::size_t count = std::min(batch_size, n - begin);
      Minibatch& batch = count == batch_size ? full : last;
      batch.examples.gather(examples, labels, std::span(picked).subspan(begin, count));
      network.gradient(batch.examples.values, batch.examples.labels, batch.pass, gradient);

      constexpr double beta1 = 0.9, beta2 = 0.999;  // Kingma and Ba's, and scikit-learn's
      beta1_power *= beta1;
      beta2_power *= beta2;
      const double rate = settings.learning_rate * std::sqrt(1 - beta2_power) / (1 - beta1_power);
      const auto step = [&](std::size_t from, std::size_t size, double decay) {
        const kernels::AdamStep adam{
            static_cast<float>(rate),         static_cast<float>(beta1),
            static_cast<float>(beta2),        1e-8F,
            1.0F / static_cast<float>(count), static_cast<float>(decay / static_cast<double>(count))};
        kernels::adam(adam, std::span(gradient).subspan(from, size), std::span(mean).subspan(from, size),
                      std::span(square).subspan(from, size), std::span(network.parameters_).subspan(from, size));
      };
      step(0, network.bias1(), settings.weight_decay);
      step(network.bias1(), network.size() - network.bias1(), 0);
    }
    ++network.epochs_;
    const double accuracy = network.accuracy(validation.values, validation.labels, validation_pass);
    without_gain = accuracy < best_accuracy + settings.tolerance ? without_gain + 1 : 0;
    if (accuracy > best_accuracy) {
      best_accuracy = accuracy;
      best_parameters = network.parameters_;
    }
  }
  network.parameters_ = std::move(best_parameters);
  return network;
}

double MlpClassifier::accuracy(ConstBlock examples, std::span<const std::uint8_t> labels, Pass& pass) const {
  forward(examples, pass);
  std::size_t right = 0;
  for (std::size_t l = 0; l < labels.size(); ++l) right += (pass.logit(0, l) > 0) == (labels[l] != 0) ? 1 : 0;
  return static_cast<double>(right) / static_cast<double>(labels.size());
}

double MlpClassifier::accuracy(ConstBlock examples, std::span<const std::uint8_t> labels) const {
  Pass pass(hidden_, labels.size());
  return accuracy(examples, labels, pass);
}

}  // namespace catena::evaluate
