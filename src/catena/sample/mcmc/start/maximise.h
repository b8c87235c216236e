/// Local maxima of a smooth function whose gradient is known, from several starts at once: damped Newton steps with the
/// curvature from differences of gradients. The mode of a posterior (posterior_map.h) and its Laplace approximation.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "catena/core/array.h"

namespace catena::sample {

/// The function f for many points, one a row. Where only the gradient is known (a score), `value` is left NaN.
using GradientField = std::function<void(ConstMatrixView z, std::span<double> value, MatrixView gradient)>;

struct MaximiseSettings {
  std::vector<double> scale;  // of each coordinate: about the width of the maximum
  double bound = 5;           // no coordinate leaves [−bound, bound]
  int most_steps = 50;
};

struct Maximum {
  bool converged = false;     // the next step would have been shorter than a hundredth of the width
  std::vector<double> z;      // where it ended
  double value = 0;           // f there; NaN where f is not known
  Eigen::MatrixXd curvature;  // −∇²f there; of coordinates at a bound: as if they were free
  std::vector<bool> at_bound;
  int steps = 0;
};

/// One maximum for each row of `starts`. f is evaluated for all starts together.
std::vector<Maximum> maximise(const GradientField& field, ConstMatrixView starts, const MaximiseSettings& settings);

/// At most `most` rows of `points` in the order of falling `values` (of which those that are not finite are left out),
/// each at least `distance` away from the others in units of `scale`: starts in different modes.
Matrix best_apart(ConstMatrixView points, std::span<const double> values, std::span<const double> scale,
                  double distance, std::size_t most);

}  // namespace catena::sample
