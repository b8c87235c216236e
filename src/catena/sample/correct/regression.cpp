#include "catena/sample/correct/regression.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "catena/core/check.h"

namespace catena::sample {
namespace {

constexpr int rounds = 100;
constexpr double settled = 1e-3;     // largest relative change of a τ² that still counts
constexpr double least_claim = 0.5;  // of a kept column's noise
constexpr double significant = 3;    // standard errors of the mean of m squares, beyond the noise they have anyway
constexpr double at_once = 0.2;      // of the columns may go in one round: two that are alike must not go together

}  // namespace

RegressionSums::RegressionSums(std::size_t columns, std::size_t responses)
    : squares(Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(columns), static_cast<Eigen::Index>(columns))),
      products(Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(columns), static_cast<Eigen::Index>(responses))),
      response_squares(Eigen::VectorXd::Zero(static_cast<Eigen::Index>(responses))) {}

void RegressionSums::add(const RegressionSums& other) {
  squares += other.squares;
  products += other.products;
  response_squares += other.response_squares;
  rows += other.rows;
}

/// With Λ = diag(1/τ²), C = (ΦᵀΦ/s² + Λ)⁻¹, W = C ΦᵀY/s² and γ_k = 1 − C_kk/τ_k², column k would have the coefficients
/// W_k/γ_k with variance C_kk/γ_k each if it had no prior. So τ_k² is the mean of their squares less that variance, and
/// the column goes if this is not significant; s² = ‖Y − ΦW‖²/(m (N − Σ γ_k)); until all settle. The evidence is
/// log p(Y) = −½ Σ_j [N log 2πs² + log |diag τ²| + log |C⁻¹| + (‖Y_j‖² − Y_jᵀΦ W_j)/s²].
Regression fit_regression(const RegressionSums& sums, const std::vector<bool>& kept, double least_noise) {
  const Eigen::Index p = sums.squares.rows(), m = sums.products.cols();
  CATENA_ASSERT(kept.size() == static_cast<std::size_t>(p) && sums.rows > 0 && m > 0);
  const double n = sums.rows, responses = static_cast<double>(m);
  const Eigen::MatrixXd gram = sums.squares.selfadjointView<Eigen::Lower>();
  double noise = std::max(sums.response_squares.sum() / (n * responses), least_noise);
  Eigen::VectorXd tau = Eigen::VectorXd::Constant(p, 1e6 * noise);
  std::vector<Eigen::Index> used;
  Regression result;
  for (Eigen::Index k = 0; k < p; ++k) {
    if (gram(k, k) > 0) used.push_back(k);
  }
  Eigen::MatrixXd cov, weights;
  for (int round = 0; round < rounds; ++round) {
    const auto q = static_cast<Eigen::Index>(used.size());
    const Eigen::MatrixXd part = gram(used, used), right = sums.products(used, Eigen::all);
    Eigen::MatrixXd precision = part / noise;
    for (Eigen::Index i = 0; i < q; ++i) precision(i, i) += 1 / tau[used[static_cast<std::size_t>(i)]];
    const Eigen::LDLT<Eigen::MatrixXd> solver(precision);
    cov = solver.solve(Eigen::MatrixXd::Identity(q, q));
    weights = solver.solve(right) / noise;
    // ‖Y − ΦW‖² = ‖Y‖² − 2 Wᵀ ΦᵀY + Wᵀ ΦᵀΦ W
    const double residual = sums.response_squares.sum() - 2 * (weights.cwiseProduct(right)).sum() +
                            (weights.cwiseProduct(part * weights)).sum();
    double effective = 0, change = 0;
    std::vector<std::pair<double, Eigen::Index>> weak;  // by how far they are from being significant
    const Eigen::VectorXd tau_before = tau;
    for (Eigen::Index i = 0; i < q; ++i) {
      const Eigen::Index k = used[static_cast<std::size_t>(i)];
      const double gamma = std::clamp(1 - cov(i, i) / tau[k], 1e-9, 1.0);
      const double variance = cov(i, i) / gamma,
                   mean_square = weights.row(i).squaredNorm() / (responses * gamma * gamma);
      const double bound = variance * (1 + significant * std::sqrt(2 / responses));
      double next = std::max(mean_square - variance, 1e-3 * variance);
      effective += gamma;
      if (kept[static_cast<std::size_t>(k)]) {
        next = std::max(next, least_claim * variance);
      } else if (mean_square < bound) {
        weak.emplace_back(mean_square / bound, k);
      }
      change = std::max(change, std::abs(next - tau[k]) / tau[k]);
      tau[k] = next;
    }
    result.evidence =
        -0.5 * responses * (n * std::log(2 * std::numbers::pi * noise) + solver.vectorD().array().log().sum());
    for (const Eigen::Index k : used) result.evidence -= 0.5 * responses * std::log(tau_before[k]);
    result.evidence -= 0.5 * (sums.response_squares.sum() - (weights.cwiseProduct(right)).sum()) / noise;
    result.effective = effective;
    noise = std::max(residual / (responses * std::max(1.0, n - effective)), least_noise);
    if ((weak.empty() && change < settled) || round + 1 == rounds) break;
    if (round == 0) continue;  // before s² is known nothing is significant
    std::ranges::sort(weak);
    weak.resize(std::min(weak.size(), static_cast<std::size_t>(std::ceil(at_once * static_cast<double>(used.size())))));
    std::erase_if(used, [&](Eigen::Index k) {
      return std::ranges::any_of(weak, [k](const auto& each) { return each.second == k; });
    });
  }
  result.coefficients = Eigen::MatrixXd::Zero(p, m);
  result.covariance = Eigen::MatrixXd::Zero(p, p);
  for (std::size_t i = 0; i < used.size(); ++i) {
    result.coefficients.row(used[i]) = weights.row(static_cast<Eigen::Index>(i));
    for (std::size_t j = 0; j < used.size(); ++j) {
      result.covariance(used[i], used[j]) = cov(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
    }
  }
  result.residual_variance = noise;
  return result;
}

}  // namespace catena::sample
