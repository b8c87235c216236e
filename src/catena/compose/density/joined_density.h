/// The log density of all records of a series by several models of the same θ: the sum of theirs.
#pragma once

#include <memory>
#include <vector>

#include "catena/compose/density/series_density.h"
#include "catena/compose/observed_series.h"

namespace catena::compose {

/// At least one part; the part itself if there is but one.
std::unique_ptr<SeriesDensity> joined_density(std::vector<std::unique_ptr<SeriesDensity>> parts);

/// The densities make(model, its records) of a model and its companions, joined; companions without records are left
/// out.
template <class Make>
std::unique_ptr<SeriesDensity> density_of_all(const model::TrainedModel& model,
                                              std::span<const model::TrainedModel* const> companions,
                                              const ObservedSeries& observed, const Make& make) {
  std::vector<std::unique_ptr<SeriesDensity>> parts;
  parts.push_back(make(model, observed));
  for (std::size_t k = 0; k < observed.companions.size(); ++k) {
    if (observed.companions[k].transitions() > 0) parts.push_back(make(*companions[k], observed.companions[k]));
  }
  return joined_density(std::move(parts));
}

}  // namespace catena::compose
