/// What a density's network sees of a series: a row for each transition (model/density/inputs.h).
#pragma once

#include <vector>

#include "catena/compose/observed_series.h"
#include "catena/core/array.h"
#include "catena/model/density/inputs.h"

namespace catena::compose {

struct DensityRows {
  Matrix state, v;
  Matrix atom, keep;                      // without columns where no coordinate has an atom
  std::vector<double> log_jacobian = {};  // what turns densities of v into those of x^(t+1)
};

DensityRows density_rows(const model::DensityMap& map, const model::DensityShape& shape, const ObservedSeries& series);

}  // namespace catena::compose
