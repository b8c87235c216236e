/// Posterior draws as a netCDF file that ArviZ opens. Groups: `posterior` (one variable per parameter over chain and
/// draw) and `observed_data` (the series); what made them stands in the root's attributes.
#pragma once

#include <string>
#include <vector>

#include "catena/core/array.h"
#include "catena/files/netcdf.h"

namespace catena::sample {

/// `theta` has one draw a row, the chains one after the other.
files::Group draws_group(const std::vector<std::string>& parameter_names, ConstMatrixView theta, std::size_t chains,
                         const std::vector<std::string>& state_names, ConstMatrixView series);

}  // namespace catena::sample
