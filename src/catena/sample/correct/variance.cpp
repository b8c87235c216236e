#include "catena/sample/correct/variance.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/core/check.h"

namespace catena::sample {
namespace {

constexpr int scoring_steps = 12;
constexpr double rows_per_coefficient = 20;  // fewer than this and a degree is not tried

Eigen::MatrixXd design(const Basis& basis, ConstMatrixView z) {
  Eigen::MatrixXd phi(static_cast<Eigen::Index>(basis.size()), static_cast<Eigen::Index>(z.rows));
  for (std::size_t i = 0; i < z.rows; ++i) {
    basis.evaluate(z.row(i), {phi.col(static_cast<Eigen::Index>(i)).data(), basis.size()});
  }
  return phi;
}

/// log Var as a polynomial: minimises Σ_i e_i² exp(−ω_i) + ω_i by Fisher scoring, in which every step is a
/// least-squares fit to ω_i + e_i² exp(−ω_i) − 1. Returns the sum.
double fit_log_variance(const Eigen::MatrixXd& phi, const Eigen::LDLT<Eigen::MatrixXd>& gram, const Eigen::VectorXd& e,
                        Eigen::VectorXd& coefficients) {
  const Eigen::ArrayXd squares = e.array().square();
  coefficients = Eigen::VectorXd::Zero(phi.rows());
  coefficients[0] = std::log(std::max(squares.mean(), 1e-300));
  const auto cost = [&](const Eigen::VectorXd& at) {
    const Eigen::ArrayXd omega = (phi.transpose() * at).array();
    return (squares * (-omega).exp() + omega).sum();
  };
  double best = cost(coefficients);
  for (int step = 0; step < scoring_steps && phi.rows() > 1; ++step) {
    const Eigen::ArrayXd omega = (phi.transpose() * coefficients).array();
    const Eigen::VectorXd direction = gram.solve(phi * (squares * (-omega).exp() - 1).matrix());
    double length = 1;
    double next = cost(coefficients + direction);
    while (!(next <= best) && length > 1e-3) next = cost(coefficients + (length /= 2) * direction);
    if (!(next <= best)) break;
    coefficients += length * direction;
    const bool done = best - next < 1e-6;
    best = next;
    if (done) break;
  }
  return best;
}

}  // namespace

struct VarianceModel::Fit {
  Fit(Basis polynomials, ConstMatrixView z, const Eigen::MatrixXd& y) : basis(std::move(polynomials)) {
    const Eigen::MatrixXd phi = design(basis, z);
    const Eigen::LDLT<Eigen::MatrixXd> gram(phi * phi.transpose());
    const Eigen::Index n = y.rows(), m = y.cols(), p = phi.rows();
    double coefficients = 0;
    for (Eigen::Index j = 0; j < m; ++j) {
      Eigen::VectorXd e = y.col(j);
      slopes.emplace_back(p, j);
      if (j > 0) {
        // Columns φ_b y_k, block by block of k.
        Eigen::MatrixXd columns(p * j, n);
        for (Eigen::Index k = 0; k < j; ++k) {
          columns.middleRows(k * p, p) = phi.array().rowwise() * y.col(k).transpose().array();
        }
        const Eigen::VectorXd found = (columns * columns.transpose()).ldlt().solve(columns * e);
        e -= columns.transpose() * found;
        for (Eigen::Index k = 0; k < j; ++k) slopes.back().col(k) = found.segment(k * p, p);
      }
      log_variances.emplace_back();
      cost += fit_log_variance(phi, gram, e, log_variances.back());
      coefficients += static_cast<double>(p * (j + 1));
    }
    cost += coefficients * std::log(static_cast<double>(n));
  }
  Basis basis;
  std::vector<Eigen::MatrixXd> slopes;
  std::vector<Eigen::VectorXd> log_variances;
  double cost = 0;  // −2 log likelihood + penalty
};

VarianceModel::VarianceModel(const Piece& piece, ConstMatrixView z, const Eigen::MatrixXd& y) {
  CATENA_ASSERT(z.rows == static_cast<std::size_t>(y.rows()) && y.cols() > 0);
  double best = std::numeric_limits<double>::infinity();
  for (int degree = 0; degree <= 2; ++degree) {
    const double most = static_cast<double>(polynomial_count(z.cols, degree)) * static_cast<double>(y.cols());
    if (degree > 0 && static_cast<double>(z.rows) < rows_per_coefficient * most) break;
    Fit fit(Basis({piece}, degree), z, y);
    if (!(fit.cost < best)) continue;
    best = fit.cost;
    basis_ = std::move(fit.basis);
    slopes_ = std::move(fit.slopes);
    log_variances_ = std::move(fit.log_variances);
  }
  CATENA_ASSERT(!log_variances_.empty());
}

double VarianceModel::log_density(std::span<const double> z, const Eigen::VectorXd& r, double factor) const {
  Eigen::VectorXd phi(static_cast<Eigen::Index>(basis_.size()));
  basis_.evaluate(z, {phi.data(), basis_.size()});
  double sum = 0;
  for (std::size_t j = 0; j < log_variances_.size(); ++j) {
    const auto at = static_cast<Eigen::Index>(j);
    const double omega = phi.dot(log_variances_[j]);
    const double e = r[at] - (at > 0 ? (phi.transpose() * slopes_[j]).dot(r.head(at)) : 0.0);
    sum -= 0.5 * (e * e * std::exp(-omega) / factor + omega + std::log(factor));
  }
  return sum;
}

/// V = B diag(e^ω) Bᵀ with B the inverse of the unit triangle I − a.
Eigen::MatrixXd VarianceModel::at(std::span<const double> z) const {
  const auto m = static_cast<Eigen::Index>(log_variances_.size());
  Eigen::VectorXd phi(static_cast<Eigen::Index>(basis_.size())), deviation(m);
  basis_.evaluate(z, {phi.data(), basis_.size()});
  Eigen::MatrixXd triangle = Eigen::MatrixXd::Identity(m, m);
  for (Eigen::Index j = 0; j < m; ++j) {
    deviation[j] = std::exp(0.5 * phi.dot(log_variances_[static_cast<std::size_t>(j)]));
    if (j > 0) triangle.row(j).head(j) = -(phi.transpose() * slopes_[static_cast<std::size_t>(j)]);
  }
  const Eigen::MatrixXd root =
      triangle.triangularView<Eigen::UnitLower>().solve(Eigen::MatrixXd(deviation.asDiagonal()));
  return root * root.transpose();
}

}  // namespace catena::sample
