#include "catena/evaluate/mlp_classifier.h"

#include <cblas.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "catena/core/check.h"

namespace catena::evaluate {

namespace {

using ArrayMap = Eigen::Map<Eigen::ArrayXf>;
using ConstArrayMap = Eigen::Map<const Eigen::ArrayXf>;
using RowMajorMap = Eigen::Map<Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

blasint blas(std::size_t n) { return static_cast<blasint>(n); }
Eigen::Index index(std::size_t n) { return static_cast<Eigen::Index>(n); }

/// C = A·B, all row-major; a transposed factor is given as it lies in memory.
void multiply(CBLAS_TRANSPOSE transpose_a, CBLAS_TRANSPOSE transpose_b, std::size_t rows, std::size_t cols,
              std::size_t inner, const float* a, std::size_t stride_a, const float* b, std::size_t stride_b, float* c) {
  cblas_sgemm(CblasRowMajor, transpose_a, transpose_b, blas(rows), blas(cols), blas(inner), 1.0F, a, blas(stride_a), b,
              blas(stride_b), 0.0F, c, blas(cols));
}

struct ValidationSplit {
  std::vector<std::size_t> train, validation;
};

/// ⌈share·n⌉ rows for validation, the classes in proportion: each gets the whole part of its due, and the row that is
/// then left over goes to the class with the larger remainder (by lot between equal ones).
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
  while (counts[0] + counts[1] < static_cast<std::size_t>(wanted)) {
    const bool tie = remainder[0] == remainder[1];
    const std::size_t winner = tie ? stream.integer(2) : (remainder[1] > remainder[0] ? 1 : 0);
    ++counts[winner];
    remainder[winner] = 0;
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

/// Rows picked from a set, copied together.
struct Batch {
  AlignedVector<float> values;
  std::vector<std::uint8_t> labels;
  std::size_t features = 0;

  FeatureView view() const { return {values.data(), labels.size(), features}; }
  void gather(FeatureView rows, std::span<const std::uint8_t> from_labels, std::span<const std::size_t> picked) {
    features = rows.cols;
    values.resize(picked.size() * features);
    labels.resize(picked.size());
    for (std::size_t i = 0; i < picked.size(); ++i) {
      std::copy_n(rows.row(picked[i]).begin(), features, values.begin() + static_cast<std::ptrdiff_t>(i * features));
      labels[i] = from_labels[picked[i]];
    }
  }
};

/// Adam: m ← β₁m + (1−β₁)g,  v ← β₂v + (1−β₂)g²,  w ← w − η √(1−β₂ᵗ)/(1−β₁ᵗ) · m/(√v + ε).
class Adam {
 public:
  Adam(std::size_t size, double learning_rate) : learning_rate_(learning_rate), mean_(size), square_(size) {}

  void step(AlignedVector<float>& parameters, const AlignedVector<float>& gradient) {
    constexpr double beta1 = 0.9, beta2 = 0.999;  // Kingma and Ba's, and scikit-learn's
    constexpr float epsilon = 1e-8F;
    ++steps_;
    const double rate = learning_rate_ * std::sqrt(1 - std::pow(beta2, steps_)) / (1 - std::pow(beta1, steps_));
    ArrayMap w(parameters.data(), index(parameters.size())), m(mean_.data(), w.size()), v(square_.data(), w.size());
    const ConstArrayMap g(gradient.data(), w.size());
    m = static_cast<float>(beta1) * m + static_cast<float>(1 - beta1) * g;
    v = static_cast<float>(beta2) * v + static_cast<float>(1 - beta2) * g.square();
    w -= static_cast<float>(rate) * m / (v.sqrt() + epsilon);
  }

 private:
  double learning_rate_;
  int steps_ = 0;
  AlignedVector<float> mean_, square_;
};

}  // namespace

MlpClassifier::MlpClassifier(std::size_t features, std::size_t hidden) : features_(features), hidden_(hidden) {
  parameters_.resize(size());
}

/// Glorot and Bengio's range for weights and, as scikit-learn does, for biases: ±√(6 / (inputs + outputs)).
void MlpClassifier::initialise(Stream& stream) {
  struct Layer {
    std::size_t weight, bias, inputs, outputs;
  };
  for (const Layer& layer : {Layer{weight1(), bias1(), features_, hidden_}, Layer{weight2(), bias2(), hidden_, hidden_},
                             Layer{weight3(), bias3(), hidden_, 1}}) {
    const double bound = std::sqrt(6.0 / static_cast<double>(layer.inputs + layer.outputs));
    const auto draw = [&](std::size_t at, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) {
        parameters_[at + i] = static_cast<float>(bound * (2 * stream.uniform() - 1));
      }
    };
    draw(layer.weight, layer.inputs * layer.outputs);
    draw(layer.bias, layer.outputs);
  }
}

/// h₁ = max(0, x W₁ + b₁),  h₂ = max(0, h₁ W₂ + b₂),  logit = h₂ w₃ + b₃.
void MlpClassifier::forward(FeatureView rows, Activations& out) const {
  const std::size_t n = rows.rows;
  out.first.resize(n * hidden_);
  out.second.resize(n * hidden_);
  out.logit.resize(n);
  const float* p = parameters_.data();
  const auto rectify = [&](AlignedVector<float>& layer, std::size_t bias) {
    RowMajorMap h(layer.data(), index(n), index(hidden_));
    const ConstArrayMap b(p + bias, index(hidden_));
    for (Eigen::Index r = 0; r < h.rows(); ++r) h.row(r) = (h.row(r) + b.transpose()).max(0.0F);
  };
  multiply(CblasNoTrans, CblasNoTrans, n, hidden_, features_, rows.data, rows.stride, p + weight1(), hidden_,
           out.first.data());
  rectify(out.first, bias1());
  multiply(CblasNoTrans, CblasNoTrans, n, hidden_, hidden_, out.first.data(), hidden_, p + weight2(), hidden_,
           out.second.data());
  rectify(out.second, bias2());
  std::fill(out.logit.begin(), out.logit.end(), p[bias3()]);
  cblas_sgemv(CblasRowMajor, CblasNoTrans, blas(n), blas(hidden_), 1.0F, out.second.data(), blas(hidden_),
              p + weight3(), 1, 1.0F, out.logit.data(), 1);
}

/// δ₃ = σ(logit) − y,  δ₂ = δ₃ w₃ᵀ ⊙ [h₂ > 0],  δ₁ = δ₂ W₂ᵀ ⊙ [h₁ > 0];  ∂W = (inputᵀ δ + α W)/n,  ∂b = Σ δ / n.
/// δ₃ and δ₂ overwrite the logits and h₂, which are used up by then.
void MlpClassifier::gradient(FeatureView rows, std::span<const std::uint8_t> labels, const MlpSettings& settings,
                             Activations& activations, AlignedVector<float>& out) const {
  forward(rows, activations);
  const std::size_t n = rows.rows;
  const float* p = parameters_.data();
  float* g = out.data();
  AlignedVector<float>& delta3 = activations.logit;
  for (std::size_t i = 0; i < n; ++i) {
    delta3[i] = 1.0F / (1.0F + std::exp(-delta3[i])) - static_cast<float>(labels[i]);
  }
  RowMajorMap h1(activations.first.data(), index(n), index(hidden_));
  RowMajorMap h2(activations.second.data(), index(n), index(hidden_));
  const ConstArrayMap w3(p + weight3(), index(hidden_));

  cblas_sgemv(CblasRowMajor, CblasTrans, blas(n), blas(hidden_), 1.0F, h2.data(), blas(hidden_), delta3.data(), 1, 0.0F,
              g + weight3(), 1);
  g[bias3()] = ConstArrayMap(delta3.data(), index(n)).sum();

  ArrayMap g_b2(g + bias2(), index(hidden_));
  g_b2.setZero();
  for (Eigen::Index r = 0; r < h2.rows(); ++r) {
    h2.row(r) = (h2.row(r) > 0.0F).select(delta3[static_cast<std::size_t>(r)] * w3.transpose(), 0.0F);
    g_b2 += h2.row(r).transpose();
  }
  multiply(CblasTrans, CblasNoTrans, hidden_, hidden_, n, h1.data(), hidden_, h2.data(), hidden_, g + weight2());

  // δ₂ W₂ᵀ needs a place of its own: h₁ is still wanted for its signs.
  AlignedVector<float>& back = activations.back;
  back.resize(n * hidden_);
  multiply(CblasNoTrans, CblasTrans, n, hidden_, hidden_, h2.data(), hidden_, p + weight2(), hidden_, back.data());
  RowMajorMap delta1(back.data(), index(n), index(hidden_));
  ArrayMap g_b1(g + bias1(), index(hidden_));
  g_b1.setZero();
  for (Eigen::Index r = 0; r < h1.rows(); ++r) {
    delta1.row(r) = (h1.row(r) > 0.0F).select(delta1.row(r), 0.0F);
    g_b1 += delta1.row(r).transpose();
  }
  multiply(CblasTrans, CblasNoTrans, features_, hidden_, n, rows.data, rows.stride, back.data(), hidden_, g + weight1());

  const auto weights = index(bias1());
  ArrayMap(g, weights) += settings.weight_decay * ConstArrayMap(p, weights);
  ArrayMap(g, index(size())) /= static_cast<float>(n);
}

MlpClassifier MlpClassifier::train(FeatureView rows, std::span<const std::uint8_t> labels, const MlpSettings& settings,
                                   Stream& stream) {
  CATENA_ASSERT(labels.size() == rows.rows && rows.rows >= 20);
  MlpClassifier network(rows.cols, settings.hidden_per_feature * rows.cols);
  network.initialise(stream);
  const ValidationSplit split = stratified_split(labels, settings.validation_share, stream);
  Batch training, validation, batch;
  training.gather(rows, labels, split.train);
  validation.gather(rows, labels, split.validation);
  const std::size_t n = split.train.size();
  const std::size_t batch_size = std::min(settings.batch_size, n);

  Adam adam(network.size(), settings.learning_rate);
  AlignedVector<float> gradient(network.size()), best_parameters = network.parameters_;
  Activations activations;
  double best_accuracy = -std::numeric_limits<double>::infinity();
  std::size_t without_gain = 0;
  while (network.epochs_ < settings.max_epochs && without_gain <= settings.patience) {
    const std::vector<std::size_t> order = stream.permutation(n);
    for (std::size_t begin = 0; begin < n; begin += batch_size) {
      batch.gather(training.view(), training.labels,
                   std::span(order).subspan(begin, std::min(batch_size, n - begin)));
      network.gradient(batch.view(), batch.labels, settings, activations, gradient);
      adam.step(network.parameters_, gradient);
    }
    ++network.epochs_;
    const double accuracy = network.accuracy(validation.view(), validation.labels);
    without_gain = accuracy < best_accuracy + settings.tolerance ? without_gain + 1 : 0;
    if (accuracy > best_accuracy) {
      best_accuracy = accuracy;
      best_parameters = network.parameters_;
    }
  }
  network.parameters_ = std::move(best_parameters);
  return network;
}

std::vector<std::uint8_t> MlpClassifier::predict(FeatureView rows) const {
  Activations activations;
  forward(rows, activations);
  std::vector<std::uint8_t> labels(rows.rows);
  for (std::size_t i = 0; i < rows.rows; ++i) labels[i] = activations.logit[i] > 0 ? 1 : 0;
  return labels;
}

double MlpClassifier::accuracy(FeatureView rows, std::span<const std::uint8_t> labels) const {
  const std::vector<std::uint8_t> predicted = predict(rows);
  std::size_t right = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) right += predicted[i] == labels[i] ? 1 : 0;
  return static_cast<double>(right) / static_cast<double>(labels.size());
}

}  // namespace catena::evaluate
