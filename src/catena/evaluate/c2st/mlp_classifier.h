/// A small multilayer perceptron for two classes, trained as scikit-learn's MLPClassifier trains it with the settings
/// that `sbi` gives it for the C2ST (c2st.h): two hidden layers of 10·d rectified linear units, Adam (Kingma and Ba
/// 2015, docs/refs.bib: kingma2015), minibatches, weight decay, and a stop once a held-out tenth is no longer
/// classified better. Apart from catena's own networks (nn/), because these rules are a yardstick that must not change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "catena/core/array.h"
#include "catena/core/random.h"

namespace catena::evaluate {

/// scikit-learn's and sbi's settings.
struct MlpSettings {
  std::size_t hidden_per_feature = 10;
  std::size_t max_epochs = 1000;
  std::size_t patience = 50;  ///< epochs without a better validation accuracy before it stops
  double tolerance = 1e-4;    ///< a gain below it is none
  std::size_t batch_size = 200;
  double learning_rate = 1e-3;
  double weight_decay = 1e-4;  ///< alpha: a penalty of alpha/2·|W|² per minibatch, the biases left out
  double validation_share = 0.1;
};

class MlpClassifier {
 public:
  /// One example per lane; labels are 0 or 1, at least 20 of them. Draws the weights, the split and the shuffles from
  /// `stream`, in this order.
  static MlpClassifier train(ConstBlock examples, std::span<const std::uint8_t> labels, const MlpSettings& settings,
                             Stream& stream);

  /// The share of examples whose predicted class is their label.
  double accuracy(ConstBlock examples, std::span<const std::uint8_t> labels) const;

  std::size_t epochs() const { return epochs_; }

 private:
  MlpClassifier(std::size_t features, std::size_t hidden);

  // Parameters lie in one array, W₁ W₂ w₃ b₁ b₂ b₃; the weights come first because only they decay. W is
  // [outputs × inputs].
  std::size_t weight1() const { return 0; }
  std::size_t weight2() const { return features_ * hidden_; }
  std::size_t weight3() const { return weight2() + hidden_ * hidden_; }
  std::size_t bias1() const { return weight3() + hidden_; }
  std::size_t bias2() const { return bias1() + hidden_; }
  std::size_t bias3() const { return bias2() + hidden_; }
  std::size_t size() const { return bias3() + 1; }

  /// What a pass through the network leaves behind, and the gradient on its way back.
  struct Pass {
    Pass(std::size_t hidden, std::size_t lanes)
        : first(hidden, lanes), second(hidden, lanes), logit(1, lanes), delta1(hidden, lanes), delta2(hidden, lanes) {}
    LaneBlock first, second, logit, delta1, delta2;
  };
  void initialise(Stream& stream);
  void forward(ConstBlock examples, Pass& pass) const;
  double accuracy(ConstBlock examples, std::span<const std::uint8_t> labels, Pass& pass) const;
  /// Gradient of the summed cross-entropy.
  void gradient(ConstBlock examples, std::span<const std::uint8_t> labels, Pass& pass, std::span<float> out) const;

  std::size_t features_;
  std::size_t hidden_;
  std::size_t epochs_ = 0;
  AlignedVector<float> parameters_;
};

}  // namespace catena::evaluate
