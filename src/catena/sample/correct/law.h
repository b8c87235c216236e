/// The law of a series' statistic S given z, learned from simulated records (docs/theory/correction.md):
///
///   S | z ~ N( T μ(z), T V(z) (1 + T h(z)) ),
///
/// with μ and V polynomials and h(z) = φ(z)ᵀ P φ(z)/v the noise of the regression behind μ, so that the corrected
/// posterior
///
///   p(z | S) ∝ p(z) N( S; T μ(z), T V(z) (1 + T h(z)) )
///
/// is the one that has the coefficients of μ integrated out. Outside what was simulated the law is not known: there the
/// density is cut off.
#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <span>
#include <vector>

#include "catena/core/parallel.h"
#include "catena/core/random.h"
#include "catena/prior/around.h"
#include "catena/sample/correct/basis.h"
#include "catena/sample/correct/regression.h"
#include "catena/sample/correct/variance.h"
#include "catena/sample/mcmc/target.h"

namespace catena::sample {

/// Simulated records as the law sees them: each simulated twice, from the same state and z.
struct SimulatedPairs {
  Matrix z;                         // one pair a row
  Eigen::MatrixXd first, second;    // the statistic of either, whitened so that its variance is about 1
  std::vector<std::size_t> record;  // the observed record that each begins with; empty: not known
};

/// What the network claims about μ before anything is simulated: zero at the anchor of a piece, with this slope in z
/// (Fisher's identity: the slope of any statistic's mean is its covariance with the score).
struct LawClaim {
  Eigen::VectorXd anchor;
  Eigen::MatrixXd slope;  // m × d

  Eigen::VectorXd at(std::span<const double> z) const {
    return slope * (Eigen::Map<const Eigen::VectorXd>(z.data(), anchor.size()) - anchor);
  }
};

class NormalLaw {
 public:
  /// Of the candidates (a piece for each mode, with what the network claims there, or one piece of the whole cloud,
  /// whitened or along the axes of z; degrees up to the highest as far as there are rows for) the one with the most
  /// evidence. `modes` are those of the cloud of z.
  NormalLaw(const SimulatedPairs& pairs, const Modes& modes, std::span<const LawClaim> claims, std::size_t records,
            int highest_degree, const Parallel& parallel);

  /// log N(S; …), and a wall around what was simulated.
  double log_density(std::span<const double> z, const Eigen::VectorXd& s) const;
  Eigen::VectorXd mean(std::span<const double> z) const;  ///< μ(z)
  /// ∂μ/∂z, m × d; with a stream, of coefficients drawn from what the regression knows of them.
  Eigen::MatrixXd slope(std::span<const double> z, Stream* stream = nullptr) const;
  Eigen::MatrixXd variance(std::span<const double> z) const { return variance_.at(z); }
  double noise(std::span<const double> z) const;  ///< φ(z)ᵀ P φ(z): the variance of each μ̂_j(z)
  /// How far z lies from the middle of what was simulated, in its standard deviations of the nearest mode.
  double distance(std::span<const double> z) const;

  const Basis& basis() const { return basis_; }
  double effective() const { return regression_.effective; }
  std::size_t records() const { return records_; }
  int variance_degree() const { return variance_.degree(); }

 private:
  /// The best of the candidates' regressions.
  void choose(const SimulatedPairs& pairs, std::span<const LawClaim> claims, int highest_degree, double between,
              const Parallel& parallel);

  std::size_t records_;       // T
  std::vector<Piece> cloud_;  // where there were simulations
  Basis basis_;
  std::vector<LawClaim> claims_;  // of the basis' pieces; empty: none
  Regression regression_;
  VarianceModel variance_;
};

/// The corrected posterior in the networks' z-space, under their prior N(0, I) or, if it was narrowed around a
/// posterior, under the true one.
enum class LawPrior : bool { networks, truth };
class LawTarget final : public Target {
 public:
  LawTarget(const NormalLaw& law, Eigen::VectorXd s, const prior::TruePrior& prior, LawPrior which, Parallel parallel)
      : law_(law), s_(std::move(s)), prior_(prior), which_(which), parallel_(std::move(parallel)) {}
  std::size_t dimension() const override { return prior_.trained().size(); }
  bool has_gradient() const override { return true; }
  void log_density(ConstMatrixView z, std::span<double> out) const override;
  void log_density_and_gradient(ConstMatrixView z, std::span<double> out, MatrixView gradient) const override;

 private:
  double at(std::span<const double> z) const;
  const NormalLaw& law_;
  Eigen::VectorXd s_;
  const prior::TruePrior& prior_;
  LawPrior which_;
  Parallel parallel_;
};

}  // namespace catena::sample
