#include "catena/simulate/dates.h"

#include <algorithm>
#include <limits>

#include "catena/core/check.h"

namespace catena::simulate {

Calendar calendar_of(std::string_view function, std::span<const std::vector<double>> seconds,
                     const PathSettings& settings, bool unit_matters) {
  check_config(function, settings);
  Calendar calendar{.unit = settings.time_unit, .origin = std::numeric_limits<double>::infinity(), .month_ends = true};
  for (const std::vector<double>& one : seconds) {
    check::all_finite(function, "the dates of the series", one);
    if (!one.empty()) calendar.origin = std::min(calendar.origin, one.front());
    calendar.month_ends = calendar.month_ends && all_month_ends(one);
  }
  check::that(std::isfinite(calendar.origin), function, "the number of dates", 0, "at least 1");
  if (!settings.time_origin.empty()) {
    const std::optional<double> origin = seconds_of_date(settings.time_origin);
    check::that(origin.has_value(), function, "time_origin", settings.time_origin, "a date like 1990-05-01");
    calendar.origin = *origin;
  }
  if (settings.time_unit != "auto") return calendar;
  check::that(
      !unit_matters, function, "the unit of the dates", "not said",
      "one of year, month, week, day, hour, minute and second (time_unit), for the model knows steps of several "
      "lengths or depends on time");
  // The shortest of the units that each series has by itself fits all of them.
  const std::vector<std::string>& units = calendar_units();
  auto chosen = units.begin();
  for (const std::vector<double>& one : seconds) {
    chosen = std::max(chosen, std::ranges::find(units, common_unit(one)));
  }
  calendar.unit = *chosen;
  return calendar;
}

void number_dates(std::string_view function, std::vector<files::Series>& all, const PathSettings& settings,
                  bool unit_matters) {
  const auto dated = static_cast<std::size_t>(
      std::ranges::count_if(all, [](const files::Series& one) { return one.calendar.has_value(); }));
  if (dated == 0) return;
  check::equal(function, "the number of series with dates", dated, all.size());
  std::vector<std::vector<double>> seconds;
  for (const files::Series& one : all) {
    std::vector<double>& its = seconds.emplace_back();
    for (const double time : one.times) its.push_back(one.calendar->seconds(time));
  }
  const Calendar calendar = calendar_of(function, seconds, settings, unit_matters);
  for (std::size_t s = 0; s < all.size(); ++s) {
    std::ranges::transform(seconds[s], all[s].times.begin(), [&](double date) { return calendar.number(date); });
    all[s].calendar = calendar;
  }
}

}  // namespace catena::simulate
