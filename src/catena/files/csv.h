/// Time series as CSV: one row per time, one column per variable. The header is optional, an empty field, NaN or NA is
/// a missing value (NaN), a column called `time`, `t`, `date`, `datetime`, `timestamp` or `year` is kept apart, as
/// numbers or as ISO dates, and so is one called `series`, which tells by any text which of several series a row
/// belongs to. Comma, semicolon or tab are recognised; lines that start with # are comments. Doubles survive writing
/// and reading bit for bit (NaN as NaN). Beneath it stand tables of any texts.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/calendar.h"
#include "catena/files/atomic.h"

namespace catena::files {

struct Series {
  std::vector<std::string> names;        // one per column of `values`; empty if the file has no header
  Matrix values;                         // rows = times, NaN = missing
  std::vector<double> times = {};        // one per row; empty if there is no such column
  std::vector<std::string> series = {};  // one per row, the series it belongs to; empty if there is no such column
  /// Of times that are dates; as they are read, in seconds (simulate/dates.h gives them a unit).
  std::optional<Calendar> calendar = std::nullopt;
  /// Columns that were told apart from `values` as known inputs (simulate/covariates.h); a file has all in `values`.
  std::vector<std::string> covariate_names = {};
  Matrix covariates = {};
};

Series read_csv(const std::filesystem::path& path, const ReadLimits& limits = {});
/// `source` is the name in the sentence of an error.
Series parse_csv(std::string_view text, const std::string& source);

/// The series of a table, in the order in which they first appear; the table itself if it has no column `series`.
std::vector<Series> split_series(Series table);

/// Writes a header if there are names or times (columns without a name are then called x0, x1, …); covariates, which
/// have names, stand after the values.
void write_csv(const std::filesystem::path& path, const Series& series);

/// Any table under a header, field by field, as text.
struct TextTable {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> rows;  // as many fields each as there are names
};
TextTable parse_text_table(std::string_view text, const std::string& source);

/// One line of such a table with its line end; what needs quotes gets them.
std::string text_line(std::span<const std::string> fields);

/// The number that a field is, NaN for a missing one (empty, NaN, NA), nothing if it is neither. Never depends on the
/// locale.
std::optional<double> number_in(std::string_view field);

}  // namespace catena::files
