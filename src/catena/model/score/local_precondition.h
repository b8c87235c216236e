/// The preconditioning of a score in the local posterior's own coordinates. With the amortised Gaussian of the local
/// posterior (model/local_gaussian.h), z | c ≈ N(μ, (LᵀL)⁻¹) and b = Lμ, noised parameters are
///
///   ξ_a = L θ_a − m b,   with covariance  V = m² I + σ² L Lᵀ,
///
/// and the score is, with a network y of numbers of size one,
///
///   s = Lᵀ V⁻¹ (m y − ξ_a),   y = y(w, σ, c),   w_i = ξ_a,i/√V_ii.                                            (1)
///
/// y = 0 is the Gaussian's own score. The paper's preconditioning (network.h) is L = √2 I and b = 0: the prior's scale
/// for every transition, however narrow its posterior. In (1) the network looks at each posterior at that posterior's
/// scale, as Karras et al. have it for data of one known scale (docs/refs.bib: karras2022).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "catena/core/array.h"
#include "catena/model/local_gaussian.h"

namespace catena::model {

/// (1) for one transition at one level.
struct LocalLevel {
  double m = 1;
  std::vector<double> l;       // L by rows
  std::vector<double> offset;  // m b
  std::vector<double> gain;    // Lᵀ V⁻¹ by rows
  std::vector<double> scale;   // 1/√V_ii

  std::size_t size() const { return offset.size(); }
  /// ξ_a
  void local(std::span<const double> theta_a, std::span<double> xi) const;
};

/// L and b of one transition.
class LocalCoordinates {
 public:
  /// From what the Gaussian's network gives (nn/gaussian.h).
  void set(std::span<const double> outputs, std::size_t parameters);

  /// What a score network sees beside c: log L_ii and μ, 2d numbers.
  void features(std::span<float> values) const;
  /// Reuses what `level` has allocated.
  void at(double m, double sigma, LocalLevel& level) const;

 private:
  std::vector<double> l_, b_;
};

/// The same for all lanes of a block at once, each at a level of its own: training.
class LocalLanes {
 public:
  /// `condition` has c in its first features; what LocalCoordinates adds is written behind them.
  void read(const LocalGaussianNetwork& gaussian, Block condition);
  /// (1) at the lanes' m and σ: w of θ_a into `variable`.
  void at(std::span<const float> m, std::span<const float> sigma, ConstBlock theta_a, Block variable);
  double xi(std::size_t i, std::size_t lane) const { return xi_[i * stride_ + lane]; }
  /// Lᵀ V⁻¹
  double gain(std::size_t i, std::size_t j, std::size_t lane) const { return gain_[(i * d_ + j) * stride_ + lane]; }

 private:
  double* row(std::vector<double>& values, std::size_t i, std::size_t j) const {
    return &values[(i * d_ + j) * stride_];
  }

  std::size_t d_ = 0, lanes_ = 0, stride_ = 0;
  LaneBlock outputs_;
  std::vector<double> l_, b_, r_, gain_, xi_, sum_;  // matrices by rows, a number for each lane
};

/// How many features LocalCoordinates adds to those of c.
constexpr std::size_t local_features(std::size_t parameters) { return 2 * parameters; }

}  // namespace catena::model
