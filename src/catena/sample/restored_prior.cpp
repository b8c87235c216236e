#include "catena/sample/restored_prior.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace catena::sample {

RestoredDraws restore_prior(const prior::Around& around, ConstMatrixView w, std::size_t count, Stream stream) {
  std::vector<std::size_t> rows;
  std::vector<double> weights;
  for (std::size_t r = 0; r < w.rows; ++r) {
    const double weight = around.log_weight(w.row(r));
    if (!std::isfinite(weight)) continue;
    rows.push_back(r);
    weights.push_back(weight);
  }
  RestoredDraws result{Matrix(count, w.cols), 0};
  if (rows.empty()) {
    std::ranges::fill(result.z.values(), std::numeric_limits<double>::quiet_NaN());
    return result;
  }
  const double largest = *std::ranges::max_element(weights);
  double sum = 0, squares = 0;
  for (double& weight : weights) {
    weight = std::exp(weight - largest);
    sum += weight;
    squares += weight * weight;
  }
  result.ess = sum * sum / squares;
  const double offset = stream.uniform();
  std::size_t k = 0;
  double passed = weights[0];
  for (std::size_t i = 0; i < count; ++i) {
    const double at = (static_cast<double>(i) + offset) * sum / static_cast<double>(count);
    while (passed < at && k + 1 < weights.size()) passed += weights[++k];
    const Eigen::VectorXd z = around.to_base(w.row(rows[k]));
    std::ranges::copy(z, result.z.row(i).begin());
  }
  return result;
}

}  // namespace catena::sample
