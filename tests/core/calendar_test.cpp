#include "catena/core/calendar.h"

#include <gtest/gtest.h>

#include "catena/core/errors.h"

namespace catena::core::calendar_test {
namespace {

std::vector<double> seconds(const std::vector<std::string>& dates) {
  std::vector<double> all;
  for (const std::string& date : dates) all.push_back(seconds_of_date(date).value());
  return all;
}

TEST(Calendar, ReadsDatesInTheirFormsAndNothingElse) {
  EXPECT_EQ(seconds_of_date("1970-01-02"), 86400);
  EXPECT_EQ(seconds_of_date("1970-02"), 31 * 86400);
  EXPECT_EQ(seconds_of_date("1970-01-01T01:02:03.25"), 3723.25);
  EXPECT_EQ(seconds_of_date("1970-01-01 01:00"), 3600);
  EXPECT_EQ(seconds_of_date("1970-01-01T01:00:00Z"), 3600);
  EXPECT_EQ(seconds_of_date("1970-01-01T01:00:00+02:00"), -3600);
  EXPECT_EQ(seconds_of_date("1969-12-31"), -86400);
  EXPECT_EQ(seconds_of_date("1900-02-28").value() + 86400, seconds_of_date("1900-03-01"));  // no leap year
  EXPECT_EQ(seconds_of_date("2000-02-28").value() + 2 * 86400, seconds_of_date("2000-03-01"));
  for (const char* text : {"", "1990", "1990-13-01", "1990-02-30", "1990-05-01x", "1990-05-01T", "1990-05-01T25:00",
                           "5.1.1990", "1990-05-01T12:30:", "1990-5-1", "12", "NaN"}) {
    EXPECT_FALSE(seconds_of_date(text).has_value()) << text;
  }
}

TEST(Calendar, WritesTheDatesThatItReads) {
  for (const char* text :
       {"1970-01-01", "1899-12-31", "2020-02-29", "1990-05-01T12:30:00", "1990-05-01T23:59:59.250000"}) {
    EXPECT_EQ(date_of_seconds(seconds_of_date(text).value()), text);
  }
}

TEST(Calendar, CountsMonthsAndYearsOfTheCalendar) {
  const Calendar months{"month", seconds_of_date("2019-11-05").value()};
  EXPECT_NEAR(months.number(seconds_of_date("2020-02-05").value()), 3 + 4.0 / 29 - 4.0 / 30, 1e-9);
  const Calendar firsts{"month", seconds_of_date("2019-11-01").value()};
  EXPECT_DOUBLE_EQ(firsts.number(seconds_of_date("2020-03-01").value()), 4);
  EXPECT_EQ(firsts.date(4), "2020-03-01");
  EXPECT_EQ(firsts.date(-11), "2018-12-01");
  const Calendar years{"year", seconds_of_date("1900-01-01").value()};
  EXPECT_DOUBLE_EQ(years.number(seconds_of_date("1920-01-01").value()), 20);
  EXPECT_EQ(years.date(21), "1921-01-01");
  const Calendar ends{"month", seconds_of_date("2019-01-31").value(), true};
  EXPECT_EQ(ends.number(seconds_of_date("2019-02-28").value()), 1);
  EXPECT_EQ(ends.date(13), "2020-02-29");
  const Calendar weeks{"week", 0};
  EXPECT_EQ(weeks.date(2), "1970-01-15");
}

TEST(Calendar, EveryDayOfTwentyYearsComesBackFromEveryUnit) {
  for (const std::string& unit : calendar_units()) {
    const Calendar calendar{unit, seconds_of_date("1999-12-31").value()};
    for (int day = 0; day < 7305; ++day) {
      const double date = calendar.origin + 86400.0 * day;
      ASSERT_EQ(calendar.date(calendar.number(date)), date_of_seconds(date)) << unit;
    }
  }
}

TEST(Calendar, FindsTheLongestUnitOfWholeSteps) {
  EXPECT_EQ(common_unit(seconds({"1900-01-01", "1901-01-01", "1904-01-01"})), "year");
  EXPECT_EQ(common_unit(seconds({"1900-06-15", "1901-06-15", "1904-06-15"})), "year");
  EXPECT_EQ(common_unit(seconds({"2000-01-01", "2000-02-01", "2000-05-01"})), "month");
  EXPECT_EQ(common_unit(seconds({"2000-01-31", "2000-02-29", "2000-05-31"})), "month");
  EXPECT_EQ(common_unit(seconds({"2000-01-03", "2000-01-10", "2000-01-24"})), "week");
  EXPECT_EQ(common_unit(seconds({"2000-01-03", "2000-01-04", "2000-01-24"})), "day");
  EXPECT_EQ(common_unit(seconds({"2000-01-03T00:00", "2000-01-03T06:00"})), "hour");
  EXPECT_EQ(common_unit(seconds({"2000-01-03T00:00", "2000-01-03T00:00:07"})), "second");
}

TEST(Calendar, SurvivesJson) {
  const Calendar calendar{"month", seconds_of_date("2019-01-31").value(), true};
  EXPECT_EQ(calendar_from("test", to_json(calendar)), calendar);
  EXPECT_THROW(calendar_from("test", nlohmann::json{{"unit", "fortnight"}, {"origin", "2019-01-31"}}), InputError);
  EXPECT_THROW(calendar_from("test", nlohmann::json{{"unit", "day"}, {"origin", "May"}}), InputError);
}

}  // namespace
}  // namespace catena::core::calendar_test
