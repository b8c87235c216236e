/// Linear regression of several responses on the same columns, with the strength of every column learned from the data
/// (automatic relevance determination: MacKay 1992, docs/refs.bib: mackay1992): coefficient k of every response has the
/// prior N(0, τ_k²), and τ_k maximises the evidence. A column that the data do not ask for ends with τ_k = 0 and costs
/// no noise, so that a rich basis is as good as the right one.
#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <vector>

namespace catena::sample {

/// What a regression needs of its rows: added up block by block.
struct RegressionSums {
  RegressionSums() = default;
  RegressionSums(std::size_t columns, std::size_t responses);
  void add(const RegressionSums& other);

  Eigen::MatrixXd squares;           // ΦᵀΦ, the lower triangle
  Eigen::MatrixXd products;          // ΦᵀY
  Eigen::VectorXd response_squares;  // Σ_i Y_ij²
  double rows = 0;
};

struct Regression {
  Eigen::MatrixXd coefficients;  // columns × responses
  /// P with Var[φᵀβ̂] = φᵀ P φ for each response, the residual variance included.
  Eigen::MatrixXd covariance;
  double residual_variance = 1;  // of all responses together
  double evidence = 0;           // log marginal likelihood of all responses
  double effective = 0;          // Σ γ_k: how many coefficients the data speak about
};

/// `kept` columns are never shrunk below half of their own noise: those whose being zero is a claim, not a habit.
/// `least_noise`: what the residual variance is known to be at least.
Regression fit_regression(const RegressionSums& sums, const std::vector<bool>& kept, double least_noise);

}  // namespace catena::sample
