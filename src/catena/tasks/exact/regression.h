/// One state whose transitions are a linear regression on known numbers, x' ~ N(w·θ, v): with the prior N(0, I) the
/// posterior is conjugate. Shared by ar, seasonal_ar and driven_ar.
#pragma once

#include <Eigen/Dense>
#include <memory>

#include "catena/tasks/likelihood.h"

namespace catena::tasks::exact {

/// A row of regressors w for each transition, and what is left of x' by all that does not depend on θ.
std::unique_ptr<SeriesLikelihood> regression_likelihood(Eigen::MatrixXd regressors, Eigen::VectorXd response,
                                                        double variance);

}  // namespace catena::tasks::exact
