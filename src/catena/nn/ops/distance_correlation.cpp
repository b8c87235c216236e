// The squared distance correlation of two vectors x and y over the n lanes of a block (szekely2007), the same number in
// every lane:
//
//   a_ij = ‖x_i − x_j‖,   ā_i = (1/n) Σ_j a_ij,   ā = (1/n) Σ_i ā_i,   A_ij = a_ij − ā_i − ā_j + ā;   b, B likewise of
//   y V²(x, y) = (1/n²) Σ_ij A_ij B_ij = (1/n²) Σ_ij a_ij b_ij + ā b̄ − (2/n) Σ_i ā_i b̄_i R² = V²(x, y)/√(V²(x, x) V²(y,
//   y)),   0 where x or y is the same in all lanes
//
// The second form of V² needs one row of distances at a time. Its derivatives, with A centred on both sides:
//
//   ∂R²/∂a_ij = (1/n²) ( B_ij/√(V²(x, x) V²(y, y)) − R² A_ij/V²(x, x) ),   ∂a_ij/∂x_i = (x_i − x_j)/a_ij

#include <algorithm>
#include <cmath>

#include "catena/nn/kernels/distance_kernels.h"
#include "catena/nn/ops/ops.h"

namespace catena::nn::ops {

namespace {

/// V² is a difference of sums of this size; below it is nothing but rounding.
constexpr double least_variance = 1e-9;

/// What the way back needs, as `saved` keeps it: two rows of means, and a row that begins with five numbers.
enum SavedRow : std::size_t { means_of_x, means_of_y, numbers, saved_rows };
enum Number : std::size_t { covariance, variance_of_x, variance_of_y, mean_of_x, mean_of_y };

void distance_correlation_shape(ShapeCall& call) {
  expect("distance_correlation", call, 2, 0);
  check::equal("distance_correlation", "the input's lanes per value", call.inputs[0]->lanes.group, std::size_t{1});
  call.shape = 1;
  call.saved_features = saved_rows;
  call.scratch_features = 3;  // a row of a, one of b, one of weights
}

bool has_correlation(double variance_x, double variance_y) { return variance_x > 0 && variance_y > 0; }

void distance_correlation_forward(const ForwardCall& call) {
  const ConstBlock x = call.inputs[0], y = call.inputs[1];
  const std::size_t lanes = x.lanes;
  const auto n = static_cast<double>(lanes);
  float *a = call.scratch_rows.feature(0), *b = call.scratch_rows.feature(1);
  double mean_a = 0, mean_b = 0;                 // ā, b̄
  double mean_ab = 0, mean_aa = 0, mean_bb = 0;  // (1/n²) Σ_ij a_ij b_ij, …
  double rows_ab = 0, rows_aa = 0, rows_bb = 0;  // (1/n) Σ_i ā_i b̄_i, …
  for (std::size_t i = 0; i < lanes; ++i) {
    kernels::distances_from(x, i, a);
    kernels::distances_from(y, i, b);
    double row_a = 0, row_b = 0, ab = 0, aa = 0, bb = 0;
    for (std::size_t j = 0; j < lanes; ++j) {
      const double p = a[j], q = b[j];
      row_a += p;
      row_b += q;
      ab += p * q;
      aa += p * p;
      bb += q * q;
    }
    row_a /= n;
    row_b /= n;
    mean_a += row_a / n;
    mean_b += row_b / n;
    mean_ab += ab / (n * n);
    mean_aa += aa / (n * n);
    mean_bb += bb / (n * n);
    rows_ab += row_a * row_b / n;
    rows_aa += row_a * row_a / n;
    rows_bb += row_b * row_b / n;
    if (!call.derivatives) continue;
    call.saved(means_of_x, i) = static_cast<float>(row_a);
    call.saved(means_of_y, i) = static_cast<float>(row_b);
  }
  const auto variance = [](double mean_squares, double mean, double rows) {
    const double value = mean_squares + mean * mean - 2 * rows;
    return value > least_variance * mean_squares ? value : 0.0;
  };
  const double v_xx = variance(mean_aa, mean_a, rows_aa), v_yy = variance(mean_bb, mean_b, rows_bb);
  const double v_xy = mean_ab + mean_a * mean_b - 2 * rows_ab;
  const double r = has_correlation(v_xx, v_yy) ? v_xy / std::sqrt(v_xx * v_yy) : 0;
  std::fill_n(call.output.data, padded_lanes(lanes), static_cast<float>(r));
  if (!call.derivatives) return;
  float* kept = call.saved.feature(numbers);
  kept[covariance] = static_cast<float>(v_xy);
  kept[variance_of_x] = static_cast<float>(v_xx);
  kept[variance_of_y] = static_cast<float>(v_yy);
  kept[mean_of_x] = static_cast<float>(mean_a);
  kept[mean_of_y] = static_cast<float>(mean_b);
}

/// What the derivative in one of the two needs of it and of the other one.
struct Side {
  ConstBlock x;
  const float* means;
  double mean, variance;
};

/// gradient += seed ∂R²/∂x, lane by lane: the weights of lane i pull all others, and a_ij stands in R² twice.
void add_gradient(const Side& x, const Side& y, double seed, double r, Block rows, Block gradient) {
  const std::size_t lanes = x.x.lanes;
  const auto n = static_cast<double>(lanes);
  float *a = rows.feature(0), *b = rows.feature(1), *weight = rows.feature(2);
  const auto of_b = static_cast<float>(2 * seed / (n * n * std::sqrt(x.variance * y.variance)));
  const auto of_a = static_cast<float>(2 * seed * r / (n * n * x.variance));
  const auto mean_a = static_cast<float>(x.mean), mean_b = static_cast<float>(y.mean);
  for (std::size_t i = 0; i < lanes; ++i) {
    kernels::distances_from(x.x, i, a);
    kernels::distances_from(y.x, i, b);
    const float left_a = x.means[i] - mean_a, left_b = y.means[i] - mean_b;
    for (std::size_t j = 0; j < lanes; ++j) {
      const float centred_a = a[j] - x.means[j] - left_a, centred_b = b[j] - y.means[j] - left_b;
      weight[j] = a[j] > 0 ? (of_b * centred_b - of_a * centred_a) / a[j] : 0.0F;
    }
    kernels::add_differences_from(x.x, i, weight, gradient);
  }
}

void distance_correlation_reverse(const ReverseCall& call) {
  const std::size_t lanes = call.inputs[0].lanes;
  const float* kept = call.saved.feature(numbers);
  double seed = 0;
  for (std::size_t l = 0; l < lanes; ++l) seed += call.output_gradient(0, l);
  const Side sides[2] = {{call.inputs[0], call.saved.feature(means_of_x), kept[mean_of_x], kept[variance_of_x]},
                         {call.inputs[1], call.saved.feature(means_of_y), kept[mean_of_y], kept[variance_of_y]}};
  for (std::size_t k = 0; k < 2; ++k) {
    const Block gradient = call.input_gradients[k];
    if (gradient.data == nullptr) continue;
    if (!call.accumulate[k]) zero(gradient);
    if (!has_correlation(kept[variance_of_x], kept[variance_of_y])) continue;
    add_gradient(sides[k], sides[1 - k], seed, call.output(0, 0), call.scratch_rows, gradient);
  }
}

}  // namespace

Operation distance_correlation() {
  return {"distance_correlation",       "y = V²(x, y)/√(V²(x, x) V²(y, y)) over the lanes",
          distance_correlation_shape,   distance_correlation_forward,
          distance_correlation_reverse, nullptr};
}

}  // namespace catena::nn::ops
