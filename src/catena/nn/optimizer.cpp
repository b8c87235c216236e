#include "catena/nn/optimizer.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "catena/nn/kernels/optimizer_kernels.h"

namespace catena::nn {

double one_cycle(std::int64_t step, std::int64_t steps, double peak) {
  constexpr double warm_up = 0.3;
  constexpr double first = 1.0 / 25;
  constexpr double last = 1e-4;
  const double position = static_cast<double>(step) / static_cast<double>(std::max<std::int64_t>(1, steps - 1));
  const auto cosine = [](double from, double to, double share) {
    return to + 0.5 * (from - to) * (1 + std::cos(std::numbers::pi * std::clamp(share, 0.0, 1.0)));
  };
  if (position < warm_up) return peak * cosine(first, 1, position / warm_up);
  return peak * cosine(1, last, (position - warm_up) / (1 - warm_up));
}

Optimizer::Optimizer(const Graph& graph, const OptimizerConfig& config) : config_(config) {
  check_config("optimizer", config);
  trainable_.assign(graph.parameter_count(), 0.0F);
  decay_.assign(graph.parameter_count(), 0.0F);
  for (const ParameterInfo& info : graph.parameters()) {
    if (!info.trainable) continue;
    std::fill_n(trainable_.begin() + static_cast<std::ptrdiff_t>(info.offset), info.size(), 1.0F);
    if (!info.decays) continue;
    std::fill_n(decay_.begin() + static_cast<std::ptrdiff_t>(info.offset), info.size(),
                static_cast<float>(config.weight_decay));
  }
}

OptimizerState Optimizer::init(AlignedVector<float> weights) const {
  CATENA_ASSERT(weights.size() == trainable_.size());
  OptimizerState state;
  state.mean.assign(weights.size(), 0.0F);
  state.square.assign(weights.size(), 0.0F);
  state.averaged = weights;
  state.weights = std::move(weights);
  return state;
}

OptimizerInfo Optimizer::step(OptimizerState& state, std::span<const float> gradient, double rate) const {
  OptimizerInfo info;
  info.gradient_norm = std::sqrt(kernels::sum_of_squares(gradient));
  info.finite = std::isfinite(info.gradient_norm);
  if (!info.finite) return info;
  info.clipped = info.gradient_norm > config_.clip_norm;
  ++state.step;
  const auto t = static_cast<double>(state.step);
  kernels::AdamStep adam;
  adam.gradient_factor = static_cast<float>(info.clipped ? config_.clip_norm / info.gradient_norm : 1);
  adam.beta1 = static_cast<float>(config_.beta1);
  adam.beta2 = static_cast<float>(config_.beta2);
  adam.mean_factor = static_cast<float>(1 / (1 - std::pow(config_.beta1, t)));
  adam.square_factor = static_cast<float>(1 / (1 - std::pow(config_.beta2, t)));
  adam.epsilon = static_cast<float>(config_.epsilon);
  adam.rate = static_cast<float>(rate);
  // An average that starts short and lengthens: the first weights are forgotten as quickly as in a plain mean.
  adam.average_step = static_cast<float>(1 - std::min(config_.average_decay, (1 + t) / (10 + t)));
  kernels::adam_step(adam, gradient, trainable_, decay_, state.weights, state.mean, state.square, state.averaged);
  return info;
}

}  // namespace catena::nn
