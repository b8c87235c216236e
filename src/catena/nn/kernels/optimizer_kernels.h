/// The vectorised loops of the optimiser.
#pragma once

#include <span>

namespace catena::nn::kernels {

struct AdamStep {
  float gradient_factor, beta1, beta2, mean_factor, square_factor, epsilon, rate, average_step;
};

/// All arrays are 64-byte aligned and as long as the weights, a multiple of 16.
void adam_step(const AdamStep& step, std::span<const float> gradient, std::span<const float> trainable,
               std::span<const float> decay, std::span<float> weights, std::span<float> mean, std::span<float> square,
               std::span<float> averaged);

/// Σ g², in doubles; a multiple of 16 values.
double sum_of_squares(std::span<const float> values);

/// sum[i] = Σ_k parts[k][i] in the order of k, for i in [begin, end); end and begin are multiples of 16.
void sum_parts(std::span<const float* const> parts, std::size_t begin, std::size_t end, float* sum);

}  // namespace catena::nn::kernels
