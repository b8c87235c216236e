#include "catena/nn/kernels/optimizer_kernels.h"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "catena/nn/kernels/optimizer_kernels.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace catena::nn::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void AdamStepKernel(const kernels::AdamStep& s, std::span<const float> gradient, std::span<const float> trainable,
                    std::span<const float> decay, std::span<float> weights, std::span<float> mean,
                    std::span<float> square, std::span<float> averaged) {
  const hn::ScalableTag<float> d;
  const auto set = [&](float value) { return hn::Set(d, value); };
  for (std::size_t i = 0; i < weights.size(); i += hn::Lanes(d)) {
    const auto g = hn::Mul(hn::Load(d, &gradient[i]), set(s.gradient_factor));
    const auto m = hn::MulAdd(set(s.beta1), hn::Load(d, &mean[i]), hn::Mul(set(1 - s.beta1), g));
    const auto v = hn::MulAdd(set(s.beta2), hn::Load(d, &square[i]), hn::Mul(set(1 - s.beta2), hn::Mul(g, g)));
    hn::Store(m, d, &mean[i]);
    hn::Store(v, d, &square[i]);
    const auto root = hn::Add(hn::Sqrt(hn::Mul(v, set(s.square_factor))), set(s.epsilon));
    const auto w = hn::Load(d, &weights[i]);
    const auto direction = hn::MulAdd(hn::Load(d, &decay[i]), w, hn::Div(hn::Mul(m, set(s.mean_factor)), root));
    const auto next = hn::NegMulAdd(hn::Mul(set(s.rate), hn::Load(d, &trainable[i])), direction, w);
    hn::Store(next, d, &weights[i]);
    const auto average = hn::Load(d, &averaged[i]);
    hn::Store(hn::MulAdd(set(s.average_step), hn::Sub(next, average), average), d, &averaged[i]);
  }
}

double SumOfSquares(std::span<const float> values) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> half;
  const std::size_t n = hn::Lanes(d);
  auto even = hn::Zero(d), odd = hn::Zero(d);  // two chains: one alone would wait for its own last sum
  for (std::size_t i = 0; i < values.size(); i += 2 * n) {
    const auto a = hn::PromoteTo(d, hn::Load(half, &values[i]));
    const auto b = hn::PromoteTo(d, hn::Load(half, &values[i + n]));
    even = hn::MulAdd(a, a, even);
    odd = hn::MulAdd(b, b, odd);
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
}

void SumParts(std::span<const float* const> parts, std::size_t begin, std::size_t end, float* sum) {
  const hn::ScalableTag<float> d;
  for (std::size_t i = begin; i < end; i += hn::Lanes(d)) {
    auto total = hn::Load(d, parts[0] + i);
    for (std::size_t k = 1; k < parts.size(); ++k) total = hn::Add(total, hn::Load(d, parts[k] + i));
    hn::Store(total, d, sum + i);
  }
}

}  // namespace catena::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace catena::nn {
HWY_EXPORT(AdamStepKernel);
HWY_EXPORT(SumOfSquares);
HWY_EXPORT(SumParts);

namespace kernels {

void adam_step(const AdamStep& step, std::span<const float> gradient, std::span<const float> trainable,
               std::span<const float> decay, std::span<float> weights, std::span<float> mean, std::span<float> square,
               std::span<float> averaged) {
  HWY_DYNAMIC_DISPATCH(AdamStepKernel)(step, gradient, trainable, decay, weights, mean, square, averaged);
}
double sum_of_squares(std::span<const float> values) { return HWY_DYNAMIC_DISPATCH(SumOfSquares)(values); }
void sum_parts(std::span<const float* const> parts, std::size_t begin, std::size_t end, float* sum) {
  HWY_DYNAMIC_DISPATCH(SumParts)(parts, begin, end, sum);
}

}  // namespace kernels
}  // namespace catena::nn
#endif
