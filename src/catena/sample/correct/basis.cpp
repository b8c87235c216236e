#include "catena/sample/correct/basis.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/core/check.h"

namespace catena::sample {
namespace {

/// All exponents of d variables that add up to `left` or, in the end, to each degree in turn.
void add_exponents(std::vector<std::vector<int>>& all, std::vector<int>& now, std::size_t from, int left) {
  if (left == 0) {
    all.push_back(now);
    return;
  }
  for (std::size_t i = from; i < now.size(); ++i) {
    ++now[i];
    add_exponents(all, now, i, left - 1);
    --now[i];
  }
}

/// The normalised Hermite polynomials He_k/√k! of one coordinate.
void hermite(double u, std::span<double> out) {
  double before = 0, value = 1, root = 1;
  for (std::size_t k = 0; k < out.size(); ++k) {
    out[k] = value / root;
    const double next = u * value - static_cast<double>(k) * before;
    before = value;
    value = next;
    root *= std::sqrt(static_cast<double>(k + 1));
  }
}

}  // namespace

Eigen::VectorXd Piece::u(std::span<const double> z) const {
  return to_u * (Eigen::Map<const Eigen::VectorXd>(z.data(), centre.size()) - centre);
}

std::vector<Piece> pieces_of(const Modes& modes) {
  std::vector<Piece> pieces;
  for (const Mode& mode : modes.all) {
    const auto d = mode.shape.mean.size();
    Piece piece{mode.shape.mean,
                mode.shape.lower.triangularView<Eigen::Lower>().solve(Eigen::MatrixXd::Identity(d, d))};
    piece.log_weight = std::log(std::max(mode.weight, 1e-12)) - mode.shape.log_volume();
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

Piece along_axes(ConstMatrixView points) {
  const CloudShape shape(points);
  const Eigen::VectorXd deviation = (shape.lower * shape.lower.transpose()).diagonal().cwiseSqrt();
  return {shape.mean, deviation.cwiseInverse().asDiagonal()};
}

std::size_t polynomial_count(std::size_t d, int degree) {
  std::size_t count = 1, terms = 1;
  for (int k = 1; k <= degree; ++k) {
    terms = terms * (d + static_cast<std::size_t>(k) - 1) / static_cast<std::size_t>(k);
    count += terms;
  }
  return count;
}

Basis::Basis(std::vector<Piece> pieces, int degree) : pieces_(std::move(pieces)), degree_(degree) {
  CATENA_ASSERT(!pieces_.empty() && degree >= 0);
  std::vector<int> now(static_cast<std::size_t>(pieces_[0].centre.size()), 0);
  for (int total = 0; total <= degree; ++total) add_exponents(exponents_, now, 0, total);
}

std::size_t piece_of(std::span<const Piece> pieces, std::span<const double> z) {
  if (pieces.size() == 1) return 0;
  std::size_t best = 0;
  double highest = -std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    const double likely = pieces[k].log_weight - 0.5 * pieces[k].u(z).squaredNorm();
    if (likely > highest) highest = likely, best = k;
  }
  return best;
}

std::size_t Basis::evaluate(std::span<const double> z, std::span<double> values) const {
  const std::size_t piece = piece_of(pieces_, z), d = z.size(), powers = static_cast<std::size_t>(degree_) + 1;
  const Eigen::VectorXd u = pieces_[piece].u(z);
  std::vector<double> table(d * powers);
  for (std::size_t i = 0; i < d; ++i) {
    hermite(u[static_cast<Eigen::Index>(i)], std::span(table).subspan(i * powers, powers));
  }
  for (std::size_t k = 0; k < exponents_.size(); ++k) {
    double product = 1;
    for (std::size_t i = 0; i < d; ++i) {
      if (exponents_[k][i] > 0) product *= table[i * powers + static_cast<std::size_t>(exponents_[k][i])];
    }
    values[k] = product;
  }
  return piece;
}

}  // namespace catena::sample
