#include "catena/sample/correct/normality.h"

#include <algorithm>
#include <cmath>

namespace catena::sample {
namespace {

constexpr double of_skewness = 0.15, of_kurtosis = 0.065;  // ½ E|He₃|/6 and ½ E|He₄|/24, rounded up

/// Sums of powers of residuals e and e' of a pair.
struct Powers {
  double rows = 0, squares = 0, cubes = 0, fourths = 0, products = 0;

  void add(double e, double twin) {
    const double square = e * e, other = twin * twin;
    rows += 1;
    squares += 0.5 * (square + other);
    cubes += 0.5 * (square * e + other * twin);
    fourths += 0.5 * (square * square + other * other);
    products += square * other;
  }

  double bound(double records) const {
    if (!(squares > 0)) return 0;
    const double variance = squares / rows, skewness = cubes / rows / std::pow(variance, 1.5),
                 kurtosis = (fourths - 3 * products) / rows / (variance * variance);
    return of_skewness * std::abs(skewness) / std::sqrt(records) + of_kurtosis * std::abs(kurtosis) / records;
  }
};

}  // namespace

double non_normality(const NormalLaw& law, const SimulatedPairs& pairs) {
  const Eigen::Index n = pairs.first.rows(), m = pairs.first.cols();
  const auto record = [&](Eigen::Index i) {
    return static_cast<Eigen::Index>(pairs.record[static_cast<std::size_t>(i)]);
  };
  Eigen::MatrixXd first = pairs.first, second = pairs.second;  // then residuals of the law's mean
  Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(law.records()), m);
  Eigen::VectorXd count = Eigen::VectorXd::Zero(sums.rows());
  for (Eigen::Index i = 0; i < n; ++i) {
    const Eigen::VectorXd mean = law.mean(pairs.z.row(static_cast<std::size_t>(i)));
    first.row(i) -= mean.transpose();
    second.row(i) -= mean.transpose();
    sums.row(record(i)) += first.row(i) + second.row(i);
    count[record(i)] += 2;
  }
  double worst = 0;
  for (Eigen::Index j = 0; j < m; ++j) {
    Powers powers;
    for (Eigen::Index i = 0; i < n; ++i) {
      if (count[record(i)] < 4) continue;
      const double others = (sums(record(i), j) - first(i, j) - second(i, j)) / (count[record(i)] - 2);
      powers.add(first(i, j) - others, second(i, j) - others);
    }
    worst = std::max(worst, powers.bound(static_cast<double>(law.records())));
  }
  return worst;
}

}  // namespace catena::sample
