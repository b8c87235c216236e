#include "catena/compose/scores/series_score.h"

#include <cmath>

namespace catena::compose {

double PosteriorShape::narrowest() const { return 1 / std::sqrt(precisions.maxCoeff()); }

Eigen::VectorXd SeriesScore::level_variances(double eta) const {
  return shape().precisions.cwiseInverse().array() + eta * eta;
}

}  // namespace catena::compose
