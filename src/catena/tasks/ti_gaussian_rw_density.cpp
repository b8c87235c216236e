#include "catena/tasks/ti_gaussian_rw_density.h"

#include "catena/tasks/gaussian_rw_density.h"

namespace catena::tasks {

std::unique_ptr<SeriesLikelihood> ti_gaussian_rw_likelihood(const TiGaussianRwConstants& constants,
                                                            ConstMatrixView series, double first_time) {
  check_series("ti_gaussian_rw", series, constants.dim);
  std::vector<double> coefficients(series.rows - 1);
  for (std::size_t t = 0; t < coefficients.size(); ++t) {
    coefficients[t] = constants.coefficient + 1 / (first_time + static_cast<double>(t + 1));
  }
  return gaussian_walk_likelihood(coefficients, series);
}

}  // namespace catena::tasks
