#include "catena/evaluate/information.h"

#include <cmath>

#include "catena/core/check.h"

namespace catena::evaluate {
namespace {

std::vector<double> column_means(ConstMatrixView rows) {
  std::vector<double> means(rows.cols, 0.0);
  for (std::size_t k = 0; k < rows.rows; ++k) {
    for (std::size_t i = 0; i < rows.cols; ++i) means[i] += rows(k, i) / static_cast<double>(rows.rows);
  }
  return means;
}

}  // namespace

double Information::total(std::size_t parameter) const {
  double sum = 0;
  for (std::size_t t = 0; t < contribution.rows(); ++t) sum += contribution(t, parameter);
  return sum;
}

double Information::of_transition(std::size_t t) const {
  double sum = 0;
  for (const double c : contribution.row(t)) sum += c;
  return sum;
}

Information information(ConstMatrixView z, std::size_t transitions, const LocalGradient& gradient,
                        const Parallel& parallel) {
  check::at_least("information", "the number of draws", z.rows, std::size_t{2});
  const std::size_t n = z.rows, d = z.cols;
  const double degrees = static_cast<double>(n) - 1;
  const std::vector<double> mean = column_means(z);
  Information result{Matrix(transitions, d), std::vector<double>(d), std::vector<double>(d)};

  // A block of transitions keeps the sums of its gradients per draw, from which the errors follow; blocks are few, so
  // that all of these fit, and are added in their order.
  constexpr std::size_t most_blocks = 64;
  const std::size_t block_size = std::max<std::size_t>(1, (transitions + most_blocks - 1) / most_blocks);
  std::vector<Matrix> sums((transitions + block_size - 1) / block_size, Matrix(n, d));
  parallel.for_blocks(transitions, block_size, [&](std::size_t begin, std::size_t end, std::size_t block) {
    Matrix g(n, d);
    for (std::size_t t = begin; t < end; ++t) {
      gradient(t, z, g);
      for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t i = 0; i < d; ++i) {
          result.contribution(t, i) -= (z(k, i) - mean[i]) * g(k, i) / degrees;  // the other mean drops out
          sums[block](k, i) += g(k, i);
        }
      }
    }
  });

  Matrix score(n, d);  // Σ_t g_t − z, the posterior's
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = 0; i < d; ++i) {
      score(k, i) = -z(k, i);
      for (const Matrix& sum : sums) score(k, i) += sum(k, i);
    }
  }
  const std::vector<double> score_mean = column_means(score);
  for (std::size_t i = 0; i < d; ++i) {
    double variance = 0, covariance = 0, squares = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const double centred = z(k, i) - mean[i], product = -centred * (score(k, i) - score_mean[i]);
      variance += centred * centred / degrees;
      covariance += product / degrees;
      squares += product * product / degrees;
    }
    result.removed[i] = 1 - variance;
    result.error[i] = std::sqrt(std::max(0.0, squares - covariance * covariance) / static_cast<double>(n));
  }
  return result;
}

}  // namespace catena::evaluate
