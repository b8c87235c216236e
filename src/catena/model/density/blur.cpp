#include "catena/model/density/blur.h"

#include <cmath>

namespace catena::model {
namespace {

// The logarithm tells blurs apart that matter to transitions which tell much; below this all are called none.
constexpr double no_blur = 0.002;

}  // namespace

void blur_inputs(std::span<const double> z_hat, double tau, std::span<float> out) {
  for (std::size_t f = 0; f < z_hat.size(); ++f) out[f] = static_cast<float>(z_hat[f]);
  const std::size_t d = z_hat.size();
  const double logarithm = std::log((tau + no_blur) / (1 + no_blur)) / std::log(1 / no_blur);  // in [−1, 0]
  out[d] = static_cast<float>(2 * tau - 1);
  out[d + 1] = static_cast<float>(2 * tau * tau - 1);
  out[d + 2] = static_cast<float>(2 * logarithm + 1);
}

}  // namespace catena::model
