#include "catena/tasks/stationary_ar1_density.h"

#include <cmath>

#include "catena/core/check.h"
#include "catena/tasks/gaussian_rw_density.h"

namespace catena::tasks {

std::unique_ptr<SeriesLikelihood> stationary_ar1_likelihood(const StationaryAr1Constants& constants,
                                                            ConstMatrixView series, bool from_start) {
  check::equal("stationary_ar1", "the number of columns of the series", series.cols, constants.dim);
  check::at_least("stationary_ar1", "the number of states in the series", series.rows,
                  std::size_t{from_start ? 1U : 2U});
  for (std::size_t t = 0; t < series.rows; ++t) {
    check::all_finite("stationary_ar1", fmt::format("series[{}]", t), series.row(t));
  }
  const double c = constants.coefficient;
  std::vector<LinearFactor> factors;
  // x⁰ = θ/(1−c) + ε/√(1−c²)
  if (from_start) factors.push_back({series.row(0), {}, 0, 1 / (1 - c), 1 / (1 - c * c)});
  for (std::size_t t = 0; t + 1 < series.rows; ++t) factors.push_back({series.row(t + 1), series.row(t), c, 1, 1});
  return linear_factors_likelihood(factors, constants.dim);
}

}  // namespace catena::tasks
