/// Polynomials in z around one or several pieces of a cloud of points: what the mean and the variance of a series'
/// statistic are functions of (law.h). In a piece's own coordinates u = A (z − c) the basis is of products of Hermite
/// polynomials, which are orthonormal over N(0, I), up to a degree:
///
///   1;  u_i;  (u_i² − 1)/√2, u_i u_j;  (u_i³ − 3u_i)/√6, …
///
/// Each piece has coefficients of its own; a point belongs to the piece under whose normal law it is most likely.
#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <span>
#include <vector>

#include "catena/sample/mcmc/start/modes.h"

namespace catena::sample {

/// A part of z-space with coordinates of its own.
struct Piece {
  Eigen::VectorXd centre;  // c
  Eigen::MatrixXd to_u;    // A
  double log_weight = 0;   // log (weight · |det A|): how likely a point is a priori

  Eigen::VectorXd u(std::span<const double> z) const;
};

/// Pieces with the shapes of modes, or one along the axes of z with the mean and deviations of the points.
std::vector<Piece> pieces_of(const Modes& modes);
Piece along_axes(ConstMatrixView points);

/// The one under whose normal law z is most likely.
std::size_t piece_of(std::span<const Piece> pieces, std::span<const double> z);

class Basis {
 public:
  Basis() = default;
  Basis(std::vector<Piece> pieces, int degree);

  std::size_t size() const { return pieces_.size() * per_piece(); }
  std::size_t per_piece() const { return exponents_.size(); }
  int degree() const { return degree_; }
  const std::vector<Piece>& pieces() const { return pieces_; }
  /// Whether the column is 1 all over its piece.
  bool constant(std::size_t column) const { return column % per_piece() == 0; }

  /// The values of that piece's columns; all others are zero. Returns the piece.
  std::size_t evaluate(std::span<const double> z, std::span<double> values) const;

 private:
  std::vector<Piece> pieces_;
  int degree_ = 0;
  std::vector<std::vector<int>> exponents_;  // of each column of a piece: the degree in each coordinate
};

/// How many polynomials of up to a degree there are in d variables.
std::size_t polynomial_count(std::size_t d, int degree);

}  // namespace catena::sample
