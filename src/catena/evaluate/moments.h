/// Means and standard deviations of a set of draws, and how two sets differ in them, parameter by parameter.
#pragma once

#include <string_view>
#include <vector>

#include "catena/core/array.h"

namespace catena::evaluate {

struct Moments {
  std::vector<double> mean, deviation;  ///< one per parameter; the deviation with n − 1
};

/// At least two draws, all finite.
Moments moments(ConstMatrixView sample);

/// The standard deviations of B; an InputError if a parameter does not vary in B, because then nothing can be measured
/// in units of its spread.
std::vector<double> reference_deviations(std::string_view function, ConstMatrixView b);

/// (mean of A − mean of B) / standard deviation of B, per parameter.
std::vector<double> mean_difference(ConstMatrixView a, ConstMatrixView b);

/// log(standard deviation of A / standard deviation of B), per parameter; −∞ if A does not vary.
std::vector<double> log_deviation_ratio(ConstMatrixView a, ConstMatrixView b);

}  // namespace catena::evaluate
