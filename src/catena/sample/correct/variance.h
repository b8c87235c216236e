/// How the covariance of a vector depends on z, learned from draws of it with mean zero. It is positive definite for
/// any coefficients by going through the coordinates in turn (Pourahmadi 1999, docs/refs.bib: pourahmadi1999):
///
///   e_j = y_j − Σ_{k<j} a_jk(z) y_k,   Var e_j = exp(ω_j(z)),   a and ω polynomials in z (basis.h).
#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <span>
#include <vector>

#include "catena/sample/correct/basis.h"

namespace catena::sample {

class VarianceModel {
 public:
  VarianceModel() = default;
  /// Fitted to rows of y, each drawn at a row of z: of the degrees 0, 1 and 2, the one with the best Bayesian
  /// information criterion. `piece` is where the polynomials have their coordinates.
  VarianceModel(const Piece& piece, ConstMatrixView z, const Eigen::MatrixXd& y);

  int degree() const { return basis_.degree(); }
  /// log N(r; 0, factor · V(z)) without its constant ½ m log 2π.
  double log_density(std::span<const double> z, const Eigen::VectorXd& r, double factor) const;
  Eigen::MatrixXd at(std::span<const double> z) const;  ///< V(z)

 private:
  struct Fit;
  Basis basis_;
  std::vector<Eigen::MatrixXd> slopes_;         // of coordinate j: basis columns × j
  std::vector<Eigen::VectorXd> log_variances_;  // of coordinate j: basis columns
};

}  // namespace catena::sample
