/// A cheap stand-in for a log density near its modes: −|u|²/2 + P_j(u) with u = L_j⁻¹(z − μ_j), a polynomial for each
/// mode j, fitted by least squares to values and gradients. Its cost does not depend on how many transitions the
/// density sums; the kernel `delayed` asks the density itself only for what this has let pass.
#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <span>
#include <vector>

#include "catena/core/array.h"
#include "catena/sample/mcmc/start/modes.h"
#include "catena/sample/mcmc/target.h"

namespace catena::sample {

/// All monomials of d variables up to a degree. Each is one of lower degree times a variable.
class Monomials {
 public:
  Monomials(std::size_t dimension, std::size_t degree);

  std::size_t size() const { return terms_.size(); }
  void evaluate(std::span<const double> u, std::span<double> out) const;
  /// out(i, k) = ∂ monomial_k/∂u_i, from the monomials' values at u.
  void gradients(std::span<const double> values, Eigen::Ref<Eigen::MatrixXd> out) const;

 private:
  struct Term {
    std::size_t parent = 0, variable = 0;
    std::vector<std::size_t> powers;   // of each variable
    std::vector<std::size_t> lowered;  // the term with one power less of each variable, where there is one
  };
  std::vector<Term> terms_;  // the first is 1
};

class Surrogate {
 public:
  /// Learns the modes of `points`, one a row, and asks the target for values at some of them (and gradients, if it has
  /// them).
  Surrogate(const Target& target, ConstMatrixView points, std::size_t most_modes);

  /// log density at z, up to an error that is small where the points were; finite everywhere, with a Gaussian's tails.
  double operator()(std::span<const double> z) const;

  std::size_t modes() const { return pieces_.size(); }

 private:
  struct Piece {
    CloudShape shape;
    double log_weight;  // log w_j − log det L_j: for the choice of the piece
    Monomials monomials;
    Eigen::VectorXd coefficients;
    double radius;  // of the mode's points; beyond it P stays as it is there
  };
  void fit(const Target& target, ConstMatrixView points, const std::vector<std::size_t>& members, const Mode& mode);

  std::vector<Piece> pieces_;
};

}  // namespace catena::sample
