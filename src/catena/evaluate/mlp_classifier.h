/// A small multilayer perceptron for two classes, trained as scikit-learn's MLPClassifier trains it with the settings
/// that `sbi` gives it for the C2ST (c2st.h): two hidden layers of 10·d rectified linear units, Adam (Kingma and Ba
/// 2015, docs/refs.bib: kingma2015), minibatches, weight decay, and a stop once a held-out tenth is no longer
/// classified better. Apart from catena's own networks (nn/), because these rules are a yardstick that must not change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/random.h"
#include "catena/evaluate/forest.h"

namespace catena::evaluate {

/// scikit-learn's and sbi's settings.
struct MlpSettings {
  std::size_t hidden_per_feature = 10;
  std::size_t max_epochs = 1000;
  std::size_t patience = 50;  ///< epochs without a better validation accuracy before it stops
  double tolerance = 1e-4;    ///< a gain below it is none
  std::size_t batch_size = 200;
  float learning_rate = 1e-3F;
  float weight_decay = 1e-4F;  ///< alpha: a penalty of alpha/2·|W|² per minibatch, the biases left out
  double validation_share = 0.1;
};

class MlpClassifier {
 public:
  /// labels are 0 or 1, one per row; at least 20 rows. Draws the split, the weights and the shuffles from `stream`.
  static MlpClassifier train(FeatureView rows, std::span<const std::uint8_t> labels, const MlpSettings& settings,
                             Stream& stream);

  /// 0 or 1 for each row.
  std::vector<std::uint8_t> predict(FeatureView rows) const;
  /// The share of rows whose prediction is their label.
  double accuracy(FeatureView rows, std::span<const std::uint8_t> labels) const;

  std::size_t epochs() const { return epochs_; }

 private:
  MlpClassifier(std::size_t features, std::size_t hidden);

  // Parameters lie in one array, W₁ W₂ w₃ b₁ b₂ b₃, so that one loop updates them all; the weights come first because
  // only they decay. W is [inputs × outputs].
  std::size_t weight1() const { return 0; }
  std::size_t weight2() const { return features_ * hidden_; }
  std::size_t weight3() const { return weight2() + hidden_ * hidden_; }
  std::size_t bias1() const { return weight3() + hidden_; }
  std::size_t bias2() const { return bias1() + hidden_; }
  std::size_t bias3() const { return bias2() + hidden_; }
  std::size_t size() const { return bias3() + 1; }

  /// Activations of the hidden layers, [rows × hidden] each, and the logits; memory that batches share.
  struct Activations {
    AlignedVector<float> first, second, logit;
    AlignedVector<float> back;  // the gradient on its way back through W₂
  };
  void initialise(Stream& stream);
  void forward(FeatureView rows, Activations& out) const;
  /// Gradient of the mean cross-entropy plus the penalty.
  void gradient(FeatureView rows, std::span<const std::uint8_t> labels, const MlpSettings& settings,
                Activations& activations, AlignedVector<float>& out) const;

  std::size_t features_;
  std::size_t hidden_;
  std::size_t epochs_ = 0;
  AlignedVector<float> parameters_;
};

}  // namespace catena::evaluate
