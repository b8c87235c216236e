#include "catena/sample/mcmc/kernels/surrogate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace catena::sample {

namespace {

constexpr std::size_t highest_degree = 4;
constexpr std::size_t most_terms = 200;   // a fit then takes some milliseconds
constexpr double equations_per_term = 3;  // wanted
constexpr double least_equations_per_term = 1.5;

std::size_t number_of_terms(std::size_t d, std::size_t degree) {  // (d + degree)! / d! / degree!
  std::size_t n = 1;
  for (std::size_t k = 1; k <= degree; ++k) n = n * (d + k) / k;
  return n;
}

/// The highest degree that the equations determine.
std::size_t degree_for(std::size_t d, std::size_t equations) {
  std::size_t degree = 0;
  while (degree < highest_degree) {
    const std::size_t terms = number_of_terms(d, degree + 1);
    if (terms > most_terms || static_cast<double>(equations) < least_equations_per_term * static_cast<double>(terms)) {
      break;
    }
    ++degree;
  }
  return degree;
}

}  // namespace

Monomials::Monomials(std::size_t dimension, std::size_t degree) {
  std::map<std::vector<std::size_t>, std::size_t> places;
  terms_.push_back({0, 0, std::vector<std::size_t>(dimension, 0), {}});
  places[terms_[0].powers] = 0;
  std::size_t begin = 0;  // of the terms of one degree less
  for (std::size_t of_degree = 1; of_degree <= degree; ++of_degree) {
    const std::size_t end = terms_.size();
    for (std::size_t parent = begin; parent < end; ++parent) {
      for (std::size_t variable = 0; variable < dimension; ++variable) {
        std::vector<std::size_t> powers = terms_[parent].powers;
        ++powers[variable];
        if (!places.try_emplace(powers, terms_.size()).second) continue;
        terms_.push_back({parent, variable, std::move(powers), {}});
      }
    }
    begin = end;
  }
  for (Term& term : terms_) {
    term.lowered.assign(dimension, 0);
    for (std::size_t i = 0; i < dimension; ++i) {
      if (term.powers[i] == 0) continue;
      std::vector<std::size_t> powers = term.powers;
      --powers[i];
      term.lowered[i] = places.at(powers);
    }
  }
}

void Monomials::evaluate(std::span<const double> u, std::span<double> out) const {
  out[0] = 1;
  for (std::size_t k = 1; k < terms_.size(); ++k) out[k] = out[terms_[k].parent] * u[terms_[k].variable];
}

void Monomials::gradients(std::span<const double> values, Eigen::Ref<Eigen::MatrixXd> out) const {
  for (std::size_t k = 0; k < terms_.size(); ++k) {
    for (std::size_t i = 0; i < terms_[k].powers.size(); ++i) {
      out(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k)) =
          static_cast<double>(terms_[k].powers[i]) * values[terms_[k].lowered[i]];
    }
  }
}

Surrogate::Surrogate(const Target& target, ConstMatrixView points, std::size_t most_modes) {
  const Modes modes = find_modes(points, most_modes);
  std::vector<std::vector<std::size_t>> members(modes.all.size());
  for (std::size_t r = 0; r < points.rows; ++r) members[modes.of[r]].push_back(r);
  for (std::size_t j = 0; j < modes.all.size(); ++j) {
    if (!members[j].empty()) fit(target, points, members[j], modes.all[j]);
  }
}

void Surrogate::fit(const Target& target, ConstMatrixView points, const std::vector<std::size_t>& members,
                    const Mode& mode) {
  const std::size_t d = points.cols, per_point = target.has_gradient() ? d + 1 : 1;
  const std::size_t terms = number_of_terms(d, degree_for(d, members.size() * per_point));
  const auto wanted = static_cast<std::size_t>(
      std::ceil(equations_per_term * static_cast<double>(terms) / static_cast<double>(per_point)));
  const std::size_t n = std::min(members.size(), std::max<std::size_t>(wanted, 2 * d + 2));
  Matrix chosen(n, d), gradient(n, d);
  std::vector<double> values(n);
  for (std::size_t r = 0; r < n; ++r) {
    std::ranges::copy(points.row(members[r * members.size() / n]), chosen.row(r).begin());
  }
  if (target.has_gradient()) {
    target.log_density_and_gradient(chosen, values, gradient);
  } else {
    target.log_density(chosen, values);
  }
  std::vector<std::size_t> possible;
  for (std::size_t r = 0; r < n; ++r) {
    if (std::isfinite(values[r])) possible.push_back(r);
  }
  if (possible.empty()) return;

  Piece piece{mode.shape,
              std::log(mode.weight) - mode.shape.log_volume(),
              Monomials(d, degree_for(d, possible.size() * per_point)),
              {},
              0};
  for (const std::size_t r : members) {
    const Eigen::VectorXd z = Eigen::Map<const Eigen::VectorXd>(points.row(r).data(), static_cast<Eigen::Index>(d));
    const double norm = mode.shape.lower.triangularView<Eigen::Lower>().solve(z - mode.shape.mean).norm();
    piece.radius = std::max(piece.radius, norm);
  }
  const auto columns = static_cast<Eigen::Index>(piece.monomials.size()), dimension = static_cast<Eigen::Index>(d);
  Eigen::MatrixXd left(static_cast<Eigen::Index>(possible.size() * per_point), columns);
  Eigen::VectorXd right(left.rows());
  std::vector<double> row(piece.monomials.size());
  Eigen::Index at = 0;
  for (const std::size_t r : possible) {
    const Eigen::VectorXd z = Eigen::Map<const Eigen::VectorXd>(chosen.row(r).data(), dimension);
    const Eigen::VectorXd u = mode.shape.lower.triangularView<Eigen::Lower>().solve(z - mode.shape.mean);
    piece.monomials.evaluate({u.data(), d}, row);
    left.row(at) = Eigen::Map<const Eigen::RowVectorXd>(row.data(), columns);
    right[at++] = values[r] + 0.5 * u.squaredNorm();
    if (per_point == 1) continue;
    // ∂/∂u of log p + |u|²/2 is Lᵀ∇ + u.
    piece.monomials.gradients(row, left.middleRows(at, dimension));
    right.segment(at, dimension) =
        mode.shape.lower.transpose() * Eigen::Map<const Eigen::VectorXd>(gradient.row(r).data(), dimension) + u;
    at += dimension;
  }
  piece.coefficients = left.colPivHouseholderQr().solve(right);
  pieces_.push_back(std::move(piece));
}

double Surrogate::operator()(std::span<const double> z) const {
  const auto d = static_cast<Eigen::Index>(z.size());
  const Eigen::Map<const Eigen::VectorXd> point(z.data(), d);
  const Piece* best = nullptr;
  double best_score = -std::numeric_limits<double>::infinity(), squared = 0;
  Eigen::VectorXd u(d), best_u(d);
  for (const Piece& piece : pieces_) {
    u = point - piece.shape.mean;
    piece.shape.lower.triangularView<Eigen::Lower>().solveInPlace(u);
    const double score = piece.log_weight - 0.5 * u.squaredNorm();
    if (best != nullptr && !(score > best_score)) continue;
    best = &piece, best_score = score, squared = u.squaredNorm(), best_u = u;
  }
  if (best == nullptr) return 0;
  const double norm = std::sqrt(squared);
  if (norm > best->radius) best_u *= best->radius / norm;
  thread_local std::vector<double> values;
  values.resize(best->monomials.size());
  best->monomials.evaluate({best_u.data(), z.size()}, values);
  return -0.5 * squared + best->coefficients.dot(Eigen::Map<const Eigen::VectorXd>(
                              values.data(), static_cast<Eigen::Index>(values.size())));
}

}  // namespace catena::sample
