#include "catena/sample/restored_prior.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "catena/core/check.h"

namespace catena::sample {

RestoredDraws restore_prior(const prior::Around& around, ConstMatrixView w, std::size_t count, Stream stream) {
  CATENA_ASSERT(w.rows > 0);
  std::vector<double> weights(w.rows);
  for (std::size_t k = 0; k < w.rows; ++k) weights[k] = around.log_weight(w.row(k));
  const double largest = *std::ranges::max_element(weights);
  double sum = 0, squares = 0;
  for (double& weight : weights) {
    weight = std::exp(weight - largest);
    sum += weight;
    squares += weight * weight;
  }
  RestoredDraws result{Matrix(count, w.cols), sum * sum / squares};
  const double offset = stream.uniform();
  std::size_t k = 0;
  double passed = weights[0];
  for (std::size_t i = 0; i < count; ++i) {
    const double at = (static_cast<double>(i) + offset) * sum / static_cast<double>(count);
    while (passed < at && k + 1 < w.rows) passed += weights[++k];
    const Eigen::VectorXd z = around.to_base(w.row(k));
    std::ranges::copy(z, result.z.row(i).begin());
  }
  return result;
}

}  // namespace catena::sample
