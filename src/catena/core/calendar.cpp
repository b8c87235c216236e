#include "catena/core/calendar.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>

#include "catena/core/check.h"

namespace catena {
namespace {

using std::chrono::sys_days;
using std::chrono::year_month_day;
using std::chrono::year_month_day_last;

constexpr double day_seconds = 86400;

struct Unit {
  const char* name;
  double months, seconds;  // one of them is zero
};
constexpr Unit all_units[] = {{"year", 12, 0},         {"month", 1, 0},   {"week", 0, 7 * day_seconds},
                              {"day", 0, day_seconds}, {"hour", 0, 3600}, {"minute", 0, 60},
                              {"second", 0, 1}};

const Unit& unit_named(std::string_view name) {
  const auto found = std::ranges::find(all_units, name, [](const Unit& unit) { return std::string_view(unit.name); });
  check::that(found != std::end(all_units), "calendar", "the unit of time", name,
              "year, month, week, day, hour, minute or second");
  return *found;
}

struct Day {
  year_month_day date;
  double seconds;  // since midnight
};

Day day_of(double seconds) {
  const double days = std::floor(seconds / day_seconds);
  return {year_month_day(sys_days(std::chrono::days(static_cast<int>(days)))), seconds - days * day_seconds};
}

double days_in_month(const year_month_day& date) {
  return static_cast<double>(
      static_cast<unsigned>(year_month_day_last(date.year(), std::chrono::month_day_last(date.month())).day()));
}

double whole_months(const year_month_day& date) {
  return 12.0 * (static_cast<int>(date.year()) - 1970) + static_cast<double>(static_cast<unsigned>(date.month())) - 1;
}

/// Months since 1970-01; of dates at ends of months, those whole ones that have ended.
double months_of(double seconds, bool month_ends) {
  const Day day = day_of(seconds);
  if (month_ends) return whole_months(day.date);
  const double days = static_cast<double>(static_cast<unsigned>(day.date.day())) - 1 + day.seconds / day_seconds;
  return whole_months(day.date) + days / days_in_month(day.date);
}

double seconds_of_months(double months, bool month_ends) {
  // A date went through a division: what misses a whole second by less than a hundredth is that second.
  const auto whole_second = [](double seconds) {
    return std::abs(seconds - std::round(seconds)) < 0.01 ? std::round(seconds) : seconds;
  };
  const double whole = month_ends ? std::round(months) : std::floor(months + 1e-9);
  const int year = 1970 + static_cast<int>(std::floor(whole / 12));
  const auto month = static_cast<unsigned>(whole - 12 * std::floor(whole / 12)) + 1;
  const year_month_day first{std::chrono::year(year), std::chrono::month(month), std::chrono::day(1)};
  const double begin = day_seconds * static_cast<double>(sys_days(first).time_since_epoch().count());
  if (month_ends) return begin + day_seconds * (days_in_month(first) - 1);
  return begin + whole_second(std::max(0.0, months - whole) * days_in_month(first) * day_seconds);
}

bool is_whole(double value) { return std::abs(value - std::round(value)) < 1e-6 && std::round(value) != 0; }

/// Digits at the front of `text`, which are taken away from it.
std::optional<int> digits(std::string_view& text, std::size_t least, std::size_t most) {
  std::size_t count = 0;
  while (count < text.size() && count < most && text[count] >= '0' && text[count] <= '9') ++count;
  if (count < least) return std::nullopt;
  int value = 0;
  std::from_chars(text.data(), text.data() + count, value);
  text.remove_prefix(count);
  return value;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

/// Seconds since midnight of 12:30, 12:30:15 or 12:30:15.25, with its offset; the text must end there.
std::optional<double> time_of_day(std::string_view text) {
  const auto hour = digits(text, 2, 2);
  if (!hour || *hour > 24 || !take(text, ':')) return std::nullopt;
  const auto minute = digits(text, 2, 2);
  if (!minute || *minute > 59) return std::nullopt;
  double seconds = 3600.0 * *hour + 60.0 * *minute;
  if (take(text, ':')) {
    const auto second = digits(text, 2, 2);
    if (!second || *second > 60) return std::nullopt;
    seconds += *second;
    if (take(text, '.')) {
      double scale = 0.1;
      if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
      for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1), scale /= 10) {
        seconds += scale * (text.front() - '0');
      }
    }
  }
  if (text.empty() || text == "Z") return seconds;
  const double sign = take(text, '+') ? 1 : take(text, '-') ? -1 : 0;
  if (sign == 0) return std::nullopt;
  const auto hours = digits(text, 2, 2);
  take(text, ':');
  const auto minutes = text.empty() ? std::optional(0) : digits(text, 2, 2);
  if (!hours || !minutes || !text.empty()) return std::nullopt;
  return seconds - sign * (3600.0 * *hours + 60.0 * *minutes);
}

}  // namespace

const std::vector<std::string>& calendar_units() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Unit& unit : all_units) all.emplace_back(unit.name);
    return all;
  }();
  return names;
}

double Calendar::number(double seconds) const {
  const Unit& chosen = unit_named(unit);
  if (chosen.months == 0) return (seconds - origin) / chosen.seconds;
  return (months_of(seconds, month_ends) - months_of(origin, month_ends)) / chosen.months;
}

double Calendar::seconds(double number) const {
  const Unit& chosen = unit_named(unit);
  if (chosen.months == 0) return origin + number * chosen.seconds;
  return seconds_of_months(months_of(origin, month_ends) + number * chosen.months, month_ends);
}

std::string Calendar::date(double number) const { return date_of_seconds(seconds(number)); }

nlohmann::json to_json(const Calendar& calendar) {
  return {{"unit", calendar.unit}, {"origin", date_of_seconds(calendar.origin)}, {"month_ends", calendar.month_ends}};
}

Calendar calendar_from(std::string_view function, const nlohmann::json& json) {
  const bool object = json.is_object() && json.value("unit", nlohmann::json()).is_string() &&
                      json.value("origin", nlohmann::json()).is_string();
  const auto origin = object ? seconds_of_date(json.at("origin").get<std::string>()) : std::nullopt;
  check::that(origin.has_value(), function, "the calendar of the times", json.dump(),
              "a unit and the date of its origin");
  Calendar calendar{json.at("unit").get<std::string>(), *origin, json.value("month_ends", false)};
  unit_named(calendar.unit);
  return calendar;
}

std::optional<double> seconds_of_date(std::string_view text) {
  const auto year = digits(text, 4, 4);
  if (!year || !take(text, '-')) return std::nullopt;
  const auto month = digits(text, 2, 2);
  if (!month) return std::nullopt;
  std::optional<int> day = 1;
  if (take(text, '-')) day = digits(text, 2, 2);
  if (!day) return std::nullopt;
  const year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                            std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  const double midnight = day_seconds * static_cast<double>(sys_days(date).time_since_epoch().count());
  if (text.empty()) return midnight;
  if (!take(text, 'T') && !take(text, ' ')) return std::nullopt;
  const auto seconds = time_of_day(text);
  return seconds ? std::optional(midnight + *seconds) : std::nullopt;
}

std::string date_of_seconds(double seconds) {
  Day day = day_of(seconds);
  if (day.seconds > day_seconds - 5e-7) day = day_of(std::round(seconds));
  std::string date = fmt::format("{:04d}-{:02d}-{:02d}", static_cast<int>(day.date.year()),
                                 static_cast<unsigned>(day.date.month()), static_cast<unsigned>(day.date.day()));
  if (day.seconds < 5e-7) return date;
  const int whole = static_cast<int>(day.seconds + 5e-7);
  const int micro = std::max(0, static_cast<int>(std::round((day.seconds - whole) * 1e6)));
  std::string time = fmt::format("T{:02d}:{:02d}:{:02d}", whole / 3600, whole / 60 % 60, whole % 60);
  if (micro > 0) time += fmt::format(".{:06d}", micro);
  return date + time;
}

bool all_month_ends(std::span<const double> seconds) {
  return !seconds.empty() && std::ranges::all_of(seconds, [](double each) {
    const Day day = day_of(each);
    return day.seconds == 0 && static_cast<double>(static_cast<unsigned>(day.date.day())) == days_in_month(day.date);
  });
}

std::string common_unit(std::span<const double> seconds) {
  const bool ends = all_month_ends(seconds);
  for (const Unit& unit : all_units) {
    const Calendar calendar{unit.name, seconds.empty() ? 0 : seconds.front(), ends};
    bool whole = true;
    for (std::size_t r = 1; r < seconds.size() && whole; ++r) {
      whole = is_whole(calendar.number(seconds[r]) - calendar.number(seconds[r - 1]));
    }
    if (whole) return unit.name;
  }
  return "second";
}

}  // namespace catena
