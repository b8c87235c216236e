#include "catena/sample/mcmc/target.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "catena/core/check.h"
#include "catena/core/ranks/bytes.h"

namespace catena::sample {

namespace {

constexpr std::size_t points_per_block = 8;
constexpr double impossible = -std::numeric_limits<double>::infinity();

}  // namespace

void Target::log_density_and_gradient(ConstMatrixView, std::span<double>, MatrixView) const {
  throw InternalError("the gradient of a target without one was asked for; please report this");
}

PointTarget::PointTarget(std::size_t dimension, Density density, Parallel parallel)
    : dimension_(dimension), density_(std::move(density)), parallel_(std::move(parallel)) {}

PointTarget::PointTarget(std::size_t dimension, DensityAndGradient density, Parallel parallel)
    : dimension_(dimension), with_gradient_(std::move(density)), parallel_(std::move(parallel)) {
  density_ = [with_gradient = with_gradient_, dimension](std::span<const double> z) {
    std::vector<double> gradient(dimension);
    return with_gradient(z, gradient);
  };
}

void PointTarget::log_density(ConstMatrixView z, std::span<double> out) const {
  parallel_.for_blocks(z.rows, points_per_block, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) out[i] = density_(z.row(i));
  });
}

void PointTarget::log_density_and_gradient(ConstMatrixView z, std::span<double> out, MatrixView gradient) const {
  parallel_.for_blocks(z.rows, points_per_block, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) out[i] = with_gradient_(z.row(i), gradient.row(i));
  });
}

double log_prior(std::span<const double> z) { return -0.5 * std::inner_product(z.begin(), z.end(), z.begin(), 0.0); }

void TemperedTarget::log_density(ConstMatrixView z, std::span<double> out) const {
  target_.log_density(z, out);
  if (base_ != nullptr && beta_ < 1) {
    std::vector<double> base(z.rows);
    base_->log_density(z, base);
    for (std::size_t i = 0; i < z.rows; ++i) out[i] = beta_ * out[i] + (1 - beta_) * base[i];
    return;
  }
  for (std::size_t i = 0; i < z.rows; ++i) out[i] = beta_ * out[i] + (1 - beta_) * log_prior(z.row(i));
}

void TemperedTarget::log_density_and_gradient(ConstMatrixView z, std::span<double> out, MatrixView gradient) const {
  target_.log_density_and_gradient(z, out, gradient);
  for (std::size_t i = 0; i < z.rows; ++i) {
    out[i] = beta_ * out[i] + (1 - beta_) * log_prior(z.row(i));
    for (std::size_t j = 0; j < z.cols; ++j) gradient(i, j) = beta_ * gradient(i, j) - (1 - beta_) * z(i, j);
  }
}

/// A message takes as long as some dozens of terms.
bool SharedTarget::pays(std::size_t points) const {
  return points >= 2 * static_cast<std::size_t>(ranks_.size()) && points * target_.terms() >= 256 && ranks_.shared();
}

void SharedTarget::log_density(ConstMatrixView z, std::span<double> out) const {
  if (!pays(z.rows)) return target_.log_density(z, out);
  const auto [begin, end] = ranks_.mine(z.rows);
  target_.log_density(z.slice_rows(begin, end), out.subspan(begin, end - begin));
  const std::vector<std::string> all =
      ranks_.all_gather(BytesWriter().put_all(std::span<const double>(out.subspan(begin, end - begin))).take());
  for (int r = 0; r < ranks_.size(); ++r) {
    const auto [from, to] = ranks_.part(z.rows, r);
    BytesReader(all[static_cast<std::size_t>(r)]).get_all(out.subspan(from, to - from));
  }
}

void SharedTarget::log_density_and_gradient(ConstMatrixView z, std::span<double> out, MatrixView gradient) const {
  if (!pays(z.rows)) return target_.log_density_and_gradient(z, out, gradient);
  const auto [begin, end] = ranks_.mine(z.rows);
  target_.log_density_and_gradient(z.slice_rows(begin, end), out.subspan(begin, end - begin),
                                   gradient.slice_rows(begin, end));
  BytesWriter mine;
  for (std::size_t i = begin; i < end; ++i) mine.put(out[i]).put_all(std::span<const double>(gradient.row(i)));
  const std::vector<std::string> all = ranks_.all_gather(mine.take());
  for (int r = 0; r < ranks_.size(); ++r) {
    const auto [from, to] = ranks_.part(z.rows, r);
    BytesReader bytes(all[static_cast<std::size_t>(r)]);
    for (std::size_t i = from; i < to; ++i) {
      out[i] = bytes.get<double>();
      bytes.get_all(gradient.row(i));
    }
  }
}

std::unique_ptr<Target> SharedTarget::thinned(std::size_t terms) const {
  auto some = target_.thinned(terms);
  return some ? std::unique_ptr<Target>(new SharedTarget(std::move(some), ranks_)) : nullptr;
}

void CountedTarget::log_density(ConstMatrixView z, std::span<double> out) const {
  if (z.rows == 0) return;
  target_.log_density(z, out);
  counts_.evaluations += z.rows;
  ++counts_.calls;
  for (double& value : out.first(z.rows)) {
    if (std::isfinite(value)) continue;
    value = impossible;
    ++counts_.not_finite;
  }
}

void CountedTarget::log_density_and_gradient(ConstMatrixView z, std::span<double> out, MatrixView gradient) const {
  if (z.rows == 0) return;
  target_.log_density_and_gradient(z, out, gradient);
  counts_.evaluations += z.rows;
  counts_.gradients += z.rows;
  ++counts_.calls;
  for (std::size_t i = 0; i < z.rows; ++i) {
    const auto slope = gradient.row(i);
    if (std::isfinite(out[i]) && std::ranges::all_of(slope, [](double value) { return std::isfinite(value); })) {
      continue;
    }
    out[i] = impossible;
    std::ranges::fill(slope, 0.0);
    ++counts_.not_finite;
  }
}

}  // namespace catena::sample
