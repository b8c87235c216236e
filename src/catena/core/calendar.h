/// Dates as numbers: what turns ISO dates into the times that models know, and times back into dates for files, axes
/// and forecasts. Dates are of the Gregorian calendar without time zones or leap seconds; an offset (+02:00, Z) is
/// taken into account.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace catena {

/// From the longest to the shortest: year, month, week, day, hour, minute, second.
const std::vector<std::string>& calendar_units();

/// A scale of time: so many units since the origin. Months and years are those of the calendar: the 5th of a month is
/// one month after the 5th of the month before, whatever the number of days between them.
struct Calendar {
  std::string unit = "second";
  double origin = 0;        ///< seconds since 1970-01-01
  bool month_ends = false;  ///< dates are last days of months, which are then whole months apart

  double number(double seconds) const;
  double seconds(double number) const;
  /// 1990-05-01, or 1990-05-01T12:30:00 where the time of day matters.
  std::string date(double number) const;
  friend bool operator==(const Calendar&, const Calendar&) = default;
};

nlohmann::json to_json(const Calendar& calendar);
/// Throws InputError, whose sentence begins with `function`, for what is no calendar.
Calendar calendar_from(std::string_view function, const nlohmann::json& json);

/// Seconds since 1970-01-01 of 1990-05-01, 1990-05 (its first day), 1990-05-01T12:30, 1990-05-01 12:30:15.25+02:00, …;
/// nothing for another text.
std::optional<double> seconds_of_date(std::string_view text);
std::string date_of_seconds(double seconds);

bool all_month_ends(std::span<const double> seconds);

/// The longest unit of which all steps between neighbours are whole numbers; second if there is none.
std::string common_unit(std::span<const double> seconds);

}  // namespace catena
