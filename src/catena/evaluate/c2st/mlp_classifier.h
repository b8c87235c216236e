/// A small multilayer perceptron for two classes, trained as scikit-learn's MLPClassifier trains it with the settings
/// that `sbi` gives it for the C2ST (c2st.h): two hidden layers of 10·d rectified linear units, Adam (Kingma and Ba
/// 2015, docs/refs.bib: kingma2015), minibatches, weight decay, and a stop once a held-out tenth is no longer
/// classified better. The network is one of nn/; the rules of its training are a yardstick that must not change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "catena/core/array.h"
#include "catena/core/random.h"
#include "catena/nn/execute.h"
#include "catena/nn/graph.h"

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
  MlpClassifier(std::size_t features, std::size_t hidden, Stream& stream);

  double accuracy(ConstBlock examples, std::span<const std::uint8_t> labels, nn::Workspace& workspace) const;

  nn::Graph graph_;
  nn::Value examples_, logit_;
  AlignedVector<float> weights_;
  std::size_t epochs_ = 0;
};

}  // namespace catena::evaluate
