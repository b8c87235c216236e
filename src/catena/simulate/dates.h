/// Series with dates on one scale of numbers: what comes between reading series and everything that looks at their
/// times.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "catena/files/csv.h"
#include "catena/simulate/paths.h"

namespace catena::simulate {

/// The scale of these dates, in seconds since 1970: the settings' unit, or the common one of all series, since the
/// settings' origin, or the first date of all. Throws InputError, whose sentence begins with `function`, if the unit
/// is not said but `unit_matters`: to models that know steps of several lengths, or the time itself.
Calendar calendar_of(std::string_view function, std::span<const std::vector<double>> seconds,
                     const PathSettings& settings, bool unit_matters);

/// Gives all dated series, which are in seconds as they were read, the one scale. Series without dates stay as they
/// are, but there must not be both.
void number_dates(std::string_view function, std::vector<files::Series>& all, const PathSettings& settings,
                  bool unit_matters);

}  // namespace catena::simulate
