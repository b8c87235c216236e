/// Proposals of Markov chains that are learned from a cloud of earlier points and stay fixed while the chains run.
/// Used by the kernel `cloud` and by the chains of exact references (evaluate/reference/chain.h).
#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <span>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/random.h"
#include "catena/sample/mcmc/kernels/cloud_shape.h"
#include "catena/sample/mcmc/start/modes.h"

namespace catena::sample {

/// Roberts et al. (1997, docs/refs.bib: roberts1997): 2.38/√d standard deviations is the best step of a random walk on
/// a Gaussian; √2 less for a difference of two points.
inline constexpr double best_walk_scale = 2.38;

/// A cloud of at most this many points is as good as a larger one.
inline constexpr std::size_t largest_cloud = 4096;

/// A ring or another bent shape takes some dozen components.
inline constexpr std::size_t most_pieces = 32;

/// The cloud is seen as a mixture g = Σ_j w_j t(μ_j, L_j L_jᵀ) of at most `most_modes` multivariate t (modes.h).
///
/// Steps within a mode choose it by what they are at: j with probability r_j(θ) = w_j t_j(θ)/g(θ), then a step that is
/// as likely as its reverse. Such a pair keeps detailed balance if it is accepted with π(θ') r_j(θ')/(π(θ) r_j(θ)).
class CloudProposals {
 public:
  explicit CloudProposals(Matrix cloud, std::size_t most_modes = 1);

  const std::vector<Mode>& modes() const { return modes_.all; }

  // Each moves the point and returns log q(θ | θ') − log q(θ' | θ).

  /// θ + scale · L_j ε
  double random_walk(std::span<double> point, double scale, Stream& stream) const;
  /// θ + scale · (z_a − z_b) for two points of mode j (ter Braak and Vrugt 2008, docs/refs.bib: terbraak2008).
  double difference(std::span<double> point, double scale, Stream& stream) const;
  /// θ + (z_a − z_b) for any two points of the cloud: from mode to mode.
  double jump(std::span<double> point, Stream& stream) const;
  /// A draw from g.
  double independent(std::span<double> point, Stream& stream) const;

  /// One of these, all of which are needed: a random walk of a random scale, since posteriors have narrow places; a
  /// difference, now and then a jump; an independent draw.
  double propose(std::span<double> point, Stream& stream) const;

  /// log g up to a constant.
  double log_independent(std::span<const double> point) const;

 private:
  double log_term(std::size_t mode, std::span<const double> point) const;  ///< log w_j t_j, up to the same constant
  std::size_t mode_at(std::span<const double> point, Stream& stream) const;
  double log_share(std::size_t mode, std::span<const double> point) const;  ///< log r_j
  template <class Move>
  double within_mode(std::span<double> point, Stream& stream, const Move& move) const;
  /// + scale · (z_a − z_b) + a little of the mode's noise, so that chains can reach every point and not only a lattice.
  void add_difference(std::span<double> point, double scale, std::size_t a, std::size_t b, const CloudShape& shape,
                      Stream& stream) const;

  Matrix cloud_;
  Modes modes_;
  CloudShape narrowest_;                           // of the modes
  std::vector<std::vector<std::size_t>> members_;  // the points of each mode
};

/// Points with those of the start below them, so that a light mode that no chain happens to be in is not forgotten.
Matrix joined(ConstMatrixView points, ConstMatrixView start);

}  // namespace catena::sample
