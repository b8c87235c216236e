#include "catena/simulate/dates.h"

#include <gtest/gtest.h>

#include "catena/core/errors.h"

namespace catena::simulate::dates_test {
namespace {

files::Series dated(std::string_view text) { return files::parse_csv(text, "test"); }

TEST(Dates, OfATableBecomeNumbersInAUnit) {
  std::vector<files::Series> all{dated("date,x\n2000-01-01,1\n2000-02-01,2\n2000-04-01,3\n")};
  ASSERT_TRUE(all[0].calendar.has_value());
  EXPECT_EQ(all[0].names, (std::vector<std::string>{"x"}));
  number_dates("test", all, {}, false);
  EXPECT_EQ(all[0].times, (std::vector<double>{0, 1, 3}));
  EXPECT_EQ(all[0].calendar->unit, "month");
  EXPECT_EQ(all[0].calendar->date(all[0].times[2]), "2000-04-01");
}

TEST(Dates, CountFromOneOriginForAllSeries) {
  std::vector<files::Series> all{dated("t,x\n2000-01-08,1\n2000-01-15,2\n"),
                                 dated("t,x\n2000-01-01,1\n2000-01-02,2\n")};
  number_dates("test", all, {}, false);
  EXPECT_EQ(all[0].times, (std::vector<double>{7, 14}));  // days, which fit both
  EXPECT_EQ(all[1].times, (std::vector<double>{0, 1}));
  PathSettings weeks;
  weeks.time_unit = "week";
  weeks.time_origin = "1999-12-25";
  all = {dated("t,x\n2000-01-08,1\n2000-01-15,2\n")};
  number_dates("test", all, weeks, true);
  EXPECT_EQ(all[0].times, (std::vector<double>{2, 3}));
}

TEST(Dates, WithoutAUnitAreRefusedWhereItMatters) {
  std::vector<files::Series> all{dated("t,x\n2000-01-08,1\n2000-01-15,2\n")};
  try {
    number_dates("test", all, {}, true);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(
        error.what(),
        "test: the unit of the dates is not said, but must be one of year, month, week, day, hour, minute and second "
        "(time_unit), for the model knows steps of several lengths or depends on time");
  }
  PathSettings settings;
  settings.time_origin = "May";
  EXPECT_THROW(number_dates("test", all, settings, false), InputError);
  all.push_back(dated("t,x\n1,1\n2,2\n"));
  EXPECT_THROW(number_dates("test", all, {}, false), InputError);
}

TEST(Dates, AreAllOrNoneOfAColumn) {
  EXPECT_THROW(dated("t,x\n2000-01-08,1\n3,2\n"), FileError);
  EXPECT_THROW(dated("t,x\nMay,1\n"), FileError);
  EXPECT_THROW(dated("x\n2000-01-08\n"), FileError);  // no column of times
}

}  // namespace
}  // namespace catena::simulate::dates_test
