/// Posterior draws as a netCDF file that ArviZ opens. Groups: `posterior` (one variable per parameter over chain and
/// draw) and `observed_data` (the series); what made them stands in the root's attributes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "catena/core/array.h"
#include "catena/files/csv.h"
#include "catena/files/netcdf/netcdf.h"
#include "catena/simulate/paths.h"

namespace catena::sample {

/// `theta` has one draw a row, the chains one after the other. More series of the same θ become series_2, ….
files::Group draws_group(const std::vector<std::string>& parameter_names, ConstMatrixView theta, std::size_t chains,
                         const std::vector<std::string>& state_names, ConstMatrixView series,
                         std::span<const simulate::SeriesView> more_series = {});

/// The group `observed_data` alone.
files::Group observed_group(const std::vector<std::string>& state_names, ConstMatrixView series,
                            std::span<const simulate::SeriesView> more_series = {});

/// The series that such a file was made for, with its states' names; nothing if the file does not hold it.
std::optional<files::Series> observed_in(const files::Group& root);

}  // namespace catena::sample
