/// What a Markov chain samples: an unnormalised log density in z-space, evaluated for many chains in one call, so that
/// a network behind it works on full lane blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "catena/core/array.h"
#include "catena/core/parallel.h"
#include "catena/core/ranks/ranks.h"

namespace catena::sample {

/// One chain a row. A value that is not finite counts as density zero, so a target may return NaN where its network
/// does; it never gets a point that is not finite.
class Target {
 public:
  virtual ~Target() = default;

  virtual std::size_t dimension() const = 0;
  virtual bool has_gradient() const { return false; }

  /// out[i] = log density of row i of z.
  virtual void log_density(ConstMatrixView z, std::span<double> out) const = 0;
  /// And its gradient in row i of `gradient`; asked for only where has_gradient().
  virtual void log_density_and_gradient(ConstMatrixView z, std::span<double> out, MatrixView gradient) const;

  /// How many terms its likelihood is a sum of: the transitions of a series.
  virtual std::size_t terms() const { return 1; }
  /// Whether its cost grows with them.
  virtual bool costs_grow() const { return false; }
  /// The posterior given only some of the terms, spread over all of them; null if there is no such thing.
  virtual std::unique_ptr<Target> thinned(std::size_t /*terms*/) const { return nullptr; }
};

/// A target given by functions of one point, worked in parallel: exact densities, and tests.
class PointTarget final : public Target {
 public:
  using Density = std::function<double(std::span<const double> z)>;
  using DensityAndGradient = std::function<double(std::span<const double> z, std::span<double> gradient)>;

  PointTarget(std::size_t dimension, Density density, Parallel parallel = Parallel(1));
  PointTarget(std::size_t dimension, DensityAndGradient density, Parallel parallel = Parallel(1));

  std::size_t dimension() const override { return dimension_; }
  bool has_gradient() const override { return with_gradient_ != nullptr; }
  void log_density(ConstMatrixView z, std::span<double> out) const override;
  void log_density_and_gradient(ConstMatrixView z, std::span<double> out, MatrixView gradient) const override;

 private:
  std::size_t dimension_;
  Density density_;
  DensityAndGradient with_gradient_;
  Parallel parallel_;
};

/// log N(z; 0, I) up to its constant: the prior in z-space.
double log_prior(std::span<const double> z);

/// base^(1−β) × target^β: the bridge from the prior, or from another base, to the target, 0 < β ≤ 1.
class TemperedTarget final : public Target {
 public:
  /// `base` null: the prior. Without gradient for another one.
  TemperedTarget(const Target& target, double beta, const Target* base = nullptr)
      : target_(target), beta_(beta), base_(base) {}

  double beta() const { return beta_; }
  void set_beta(double beta) { beta_ = beta; }

  std::size_t dimension() const override { return target_.dimension(); }
  bool has_gradient() const override { return target_.has_gradient() && base_ == nullptr; }
  void log_density(ConstMatrixView z, std::span<double> out) const override;
  void log_density_and_gradient(ConstMatrixView z, std::span<double> out, MatrixView gradient) const override;

 private:
  const Target& target_;
  double beta_;
  const Target* base_;
};

/// A target that all ranks are asked for the same points of: each works on a part of them, then all have all values.
/// The bits are those of one rank, since a value does not depend on the points beside it.
class SharedTarget final : public Target {
 public:
  SharedTarget(const Target& target, Ranks& ranks) : target_(target), ranks_(ranks) {}

  std::size_t dimension() const override { return target_.dimension(); }
  bool has_gradient() const override { return target_.has_gradient(); }
  void log_density(ConstMatrixView z, std::span<double> out) const override;
  void log_density_and_gradient(ConstMatrixView z, std::span<double> out, MatrixView gradient) const override;
  std::size_t terms() const override { return target_.terms(); }
  bool costs_grow() const override { return target_.costs_grow(); }
  std::unique_ptr<Target> thinned(std::size_t terms) const override;

 private:
  SharedTarget(std::unique_ptr<Target> owned, Ranks& ranks)
      : owned_(std::move(owned)), target_(*owned_), ranks_(ranks) {}
  bool pays(std::size_t points) const;

  std::unique_ptr<Target> owned_;
  const Target& target_;
  Ranks& ranks_;
};

/// What was asked of a target.
struct TargetCounts {
  std::uint64_t evaluations = 0;  // points, with or without gradient
  std::uint64_t gradients = 0;    // of them, with gradient
  std::uint64_t not_finite = 0;   // of them, counted as density zero
  std::uint64_t calls = 0;
};

/// The target as kernels see it: the density is finite or −∞, the gradient finite (0 where the density is zero), and
/// all is counted. For one thread at a time.
class CountedTarget final : public Target {
 public:
  explicit CountedTarget(const Target& target) : target_(target) {}

  const TargetCounts& counts() const { return counts_; }

  std::size_t dimension() const override { return target_.dimension(); }
  bool has_gradient() const override { return target_.has_gradient(); }
  void log_density(ConstMatrixView z, std::span<double> out) const override;
  void log_density_and_gradient(ConstMatrixView z, std::span<double> out, MatrixView gradient) const override;
  std::size_t terms() const override { return target_.terms(); }
  bool costs_grow() const override { return target_.costs_grow(); }
  /// Not counted here.
  std::unique_ptr<Target> thinned(std::size_t terms) const override { return target_.thinned(terms); }

 private:
  const Target& target_;
  mutable TargetCounts counts_;
};

}  // namespace catena::sample
