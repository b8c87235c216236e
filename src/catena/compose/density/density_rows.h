/// What the networks of densities and ratios see of a series: a row for each transition.
#pragma once

#include <vector>

#include "catena/compose/observed_series.h"
#include "catena/core/array.h"
#include "catena/model/density/inputs.h"
#include "catena/model/ratio/ratio_model.h"

namespace catena::compose {

/// Of a density (model/density/inputs.h).
struct DensityRows {
  Matrix state, v;
  Matrix atom, keep;                      // without columns where no coordinate has an atom
  std::vector<double> log_jacobian = {};  // what turns densities of v into those of x^(t+1)
};

/// What a ratio's network sees of it: s and T(u) (model/ratio/inputs.h).
struct RatioRows {
  RatioRows(const model::RatioModel& model, const ObservedSeries& series);
  Matrix state, increment;
};

/// For each row, what turns its density of v, without ½ log 2π for each coordinate that is kept, into one of x^(t+1).
std::vector<double> density_constants(const model::DensityShape& shape, const DensityRows& rows);

DensityRows density_rows(const model::DensityMap& map, const model::DensityShape& shape, const ObservedSeries& series);

}  // namespace catena::compose
