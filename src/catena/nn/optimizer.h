/// AdamW (Loshchilov and Hutter 2019), the one-cycle cosine schedule (Smith and Topin 2019), clipping of the gradient's
/// norm and an exponential moving average of the weights.
#pragma once

#include <cstdint>
#include <span>

#include "catena/core/array.h"
#include "catena/core/config.h"
#include "catena/nn/graph.h"

namespace catena::nn {

struct OptimizerConfig {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 1e-4;
  double clip_norm = 10;
  double average_decay = 0.999;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.learning_rate, "learning_rate", "largest step of AdamW", positive());
    visit(c.beta1, "beta1", "decay of AdamW's mean of gradients", between(0.0, 0.9999));
    visit(c.beta2, "beta2", "decay of AdamW's mean of squared gradients", between(0.0, 0.999999));
    visit(c.epsilon, "epsilon", "added to AdamW's root", positive());
    visit(c.weight_decay, "weight_decay", "decoupled decay of the weight matrices", not_negative());
    visit(c.clip_norm, "clip_norm", "gradients with a larger norm are shortened to it", positive());
    visit(c.average_decay, "average_decay", "decay of the moving average of the weights (0: none)",
          between(0.0, 0.999999));
  }
};

/// Learning rate at one step of `steps`: a cosine from peak/25 up to the peak over the first 30 %, then a cosine down
/// to peak/10⁴.
double one_cycle(std::int64_t step, std::int64_t steps, double peak);

/// Everything that the next step needs: saved in a checkpoint, it continues with the same bits.
struct OptimizerState {
  AlignedVector<float> weights;
  AlignedVector<float> mean;      // m of AdamW
  AlignedVector<float> square;    // v of AdamW
  AlignedVector<float> averaged;  // moving average of the weights
  std::int64_t step = 0;
};

/// What a report needs of one step.
struct OptimizerInfo {
  double gradient_norm = 0;
  bool clipped = false;
  bool finite = true;  // false: the gradient was not finite and the step was left out
};

class Optimizer {
 public:
  Optimizer(const Graph& graph, const OptimizerConfig& config);

  OptimizerState init(AlignedVector<float> weights) const;

  /// With ĝ = g·min(1, clip/‖g‖):  m ← β₁m + (1−β₁)ĝ,  v ← β₂v + (1−β₂)ĝ²,
  /// w ← w − rate (m̂/(√v̂ + ε) + λ w),  average ← average + (1−κ)(w − average), where κ grows to average_decay.
  OptimizerInfo step(OptimizerState& state, std::span<const float> gradient, double rate) const;

 private:
  OptimizerConfig config_;
  AlignedVector<float> trainable_;  // 1 or 0 per weight
  AlignedVector<float> decay_;      // λ or 0 per weight
};

}  // namespace catena::nn
