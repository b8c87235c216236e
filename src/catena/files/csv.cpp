#include "catena/files/csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "catena/core/check.h"
#include "catena/files/kind.h"

namespace catena::files {
namespace {

template <class... Args>
[[noreturn]] void refuse_csv(const std::string& source, fmt::format_string<Args...> text, Args&&... args) {
  throw FileError(source + ": " + fmt::format(text, std::forward<Args>(args)...));
}

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

/// Cuts one line at the delimiters outside of quotes ("" inside quotes is a quote).
void split(std::string_view line, char delimiter, const std::string& source, std::size_t number,
           std::vector<std::string>& fields) {
  fields.clear();
  std::size_t at = 0;
  while (true) {
    std::size_t start = at;
    while (start < line.size() && line[start] == ' ') ++start;
    if (start < line.size() && line[start] == '"') {
      std::string text;
      for (at = start + 1;; ++at) {
        if (at >= line.size()) refuse_csv(source, "line {} has a quote that does not end", number);
        if (line[at] != '"') {
          text += line[at];
        } else if (at + 1 < line.size() && line[at + 1] == '"') {
          text += line[++at];
        } else {
          break;
        }
      }
      const std::size_t stop = std::min(line.find(delimiter, at), line.size());
      if (!trimmed(line.substr(at + 1, stop - at - 1)).empty()) {
        refuse_csv(source, "line {} has text after a closing quote", number);
      }
      fields.push_back(std::move(text));
      at = stop;
    } else {
      const std::size_t stop = std::min(line.find(delimiter, at), line.size());
      fields.emplace_back(trimmed(line.substr(at, stop - at)));
      at = stop;
    }
    if (at >= line.size()) return;
    ++at;  // the delimiter
  }
}

void check_fields(const std::vector<std::string>& fields, std::size_t columns, const std::string& source,
                  std::size_t number) {
  if (fields.size() == columns) return;
  refuse_csv(source, "line {} has {} fields, but the first one has {}", number, fields.size(), columns);
}

char detect_delimiter(std::string_view line) {
  bool in_quotes = false;
  char found = ',';
  for (const char c : line) {
    if (c == '"') in_quotes = !in_quotes;
    if (in_quotes) continue;
    if (c == '\t') return '\t';
    if (c == ';') found = ';';
  }
  return found;
}

bool is_header(const std::vector<std::string>& fields) {
  return std::ranges::any_of(fields, [](const std::string& field) { return !number_in(field); });
}

/// Which column holds the times: `time` before the others, in any case of letters.
std::optional<std::size_t> time_column(const std::vector<std::string>& names) {
  for (const std::string_view wanted : {"time", "t", "date", "datetime", "timestamp", "year"}) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (lower(names[i]) == wanted) return i;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> series_column(const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (lower(names[i]) == "series") return i;
  }
  return std::nullopt;
}

/// The lines of a text, without line ends, comments and a byte-order mark.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);
  }
  bool next(std::string_view& line) {
    while (!rest_.empty()) {
      const std::size_t end = rest_.find('\n');
      line = rest_.substr(0, end);
      rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
      if (line.ends_with('\r')) line.remove_suffix(1);
      ++number_;
      if (!line.starts_with('#')) return true;
    }
    return false;
  }
  std::size_t number() const { return number_; }

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
};

/// A text as it must stand in a file, so that reading gives it back; `what` names it in an error.
std::string quoted(const std::string& text, std::string_view what) {
  check::that(text.find_first_of(std::string_view("\n\r\0", 3)) == std::string::npos, "write_csv", what,
              detail::in_quotes(text), "on one line");
  if (text.find_first_of(",;\t\"#") == std::string::npos && trimmed(text) == text) return text;
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + "\"";
}

std::string shortest(double value) {
  if (std::isnan(value)) return "NaN";
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

}  // namespace

std::optional<double> number_in(std::string_view text) {
  const std::string word = text.size() <= 4 ? lower(text) : std::string();
  if (text.empty() || word == "nan" || word == "-nan" || word == "na") return std::numeric_limits<double>::quiet_NaN();
  if (text.front() == '+' && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  double value = 0;
  auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range) {
    // Too small for a double is zero; too large is no number that we could keep. The wider type tells which.
    long double wide = 0;
    error = std::from_chars(text.data(), end, wide).ec;
    value = static_cast<double>(wide);
    if (std::isinf(value)) return std::nullopt;
  }
  if (error != std::errc() || stop != end || std::isnan(value)) return std::nullopt;
  return value;
}

TextTable parse_text_table(std::string_view text, const std::string& source) {
  Lines lines(text);
  std::string_view line;
  std::vector<std::string> fields;
  TextTable table;
  bool first = true;
  char delimiter = ',';
  while (lines.next(line)) {
    if (first) delimiter = detect_delimiter(line);
    split(line, delimiter, source, lines.number(), fields);
    if (first) {
      table.names = fields;
      first = false;
      continue;
    }
    check_fields(fields, table.names.size(), source, lines.number());
    table.rows.push_back(fields);
  }
  return table;
}

std::string text_line(std::span<const std::string> fields) {
  std::string line;
  for (const std::string& field : fields) {
    if (&field != &fields.front()) line += ',';
    line += quoted(field, "a field");
  }
  return line + '\n';
}

Series parse_csv(std::string_view text, const std::string& source) try {
  Lines lines(text);
  std::string_view line;
  std::vector<std::string> fields, names;
  std::size_t columns = 0, blank_lines = 0;
  char delimiter = ',';
  std::vector<double> numbers;
  std::vector<std::string> labels;
  std::optional<std::size_t> label_column, times;
  std::size_t dates = 0, time_numbers = 0;
  bool first = true;
  while (lines.next(line)) {
    if (trimmed(line).empty() && (first || delimiter != '\t' || line.empty())) {
      // In one column a blank line is a missing value, unless only blank lines follow; elsewhere it is no row.
      if (!first) ++blank_lines;
      continue;
    }
    if (first) delimiter = detect_delimiter(line);
    split(line, delimiter, source, lines.number(), fields);
    if (first) columns = fields.size();
    check_fields(fields, columns, source, lines.number());
    if (first && is_header(fields)) {
      names = fields;
      label_column = columns > 1 ? series_column(names) : std::nullopt;
      times = time_column(names);
    } else {
      if (columns == 1) numbers.insert(numbers.end(), blank_lines, std::numeric_limits<double>::quiet_NaN());
      for (const std::string& field : fields) {
        if (label_column && &field == &fields[*label_column]) {
          labels.push_back(field);
          continue;
        }
        std::optional<double> value = number_in(field);
        if (times && &field == &fields[*times]) {
          ++(value ? time_numbers : dates);
          if (!value) value = seconds_of_date(field);
          if (!value) {
            refuse_csv(source,
                       "line {} has the time {}, but it must be a number or a date like 1990-05-01 or "
                       "1990-05-01T12:30",
                       lines.number(), detail::in_quotes(field));
          }
          if (dates > 0 && time_numbers > 0) {
            refuse_csv(source, "line {} has the time {}, but times must be numbers or dates in all lines",
                       lines.number(), detail::in_quotes(field));
          }
        }
        if (!value) {
          refuse_csv(source, "line {} has {} where a number must stand", lines.number(), detail::in_quotes(field));
        }
        numbers.push_back(*value);
      }
    }
    blank_lines = 0;
    first = false;
  }
  if (first) refuse_csv(source, "holds no values");
  std::set<std::string> unique;
  for (const std::string& name : names) {
    if (!unique.insert(name).second) refuse_csv(source, "has two columns with the name {}", detail::in_quotes(name));
  }

  if (label_column) {
    names.erase(names.begin() + static_cast<std::ptrdiff_t>(*label_column));
    --columns;
    times = time_column(names);
  }
  const std::size_t rows = numbers.size() / columns;
  Series series;
  series.values = Matrix(rows, columns - (times ? 1 : 0));
  for (std::size_t r = 0; r < rows; ++r) {
    std::size_t to = 0;
    for (std::size_t c = 0; c < columns; ++c) {
      const double value = numbers[r * columns + c];
      if (times != c) {
        series.values(r, to++) = value;
      } else if (std::isfinite(value)) {
        series.times.push_back(value);
      } else {
        refuse_csv(source, "row {} of values has no finite time", r + 1);
      }
    }
  }
  if (times) names.erase(names.begin() + static_cast<std::ptrdiff_t>(*times));
  series.names = std::move(names);
  series.series = std::move(labels);
  if (dates > 0) series.calendar = Calendar{};
  return series;
} catch (const std::bad_alloc&) {
  refuse_csv(source, "has {} bytes, whose values do not fit into memory", text.size());
}

std::vector<Series> split_series(Series table) {
  if (table.series.empty()) return {std::move(table)};
  std::vector<std::string> labels;
  for (const std::string& label : table.series) {
    if (std::ranges::find(labels, label) == labels.end()) labels.push_back(label);
  }
  std::vector<Series> parts;
  for (const std::string& label : labels) {
    Series part{.names = table.names, .values = {}, .calendar = table.calendar};
    CATENA_ASSERT(table.covariates.cols() == 0);  // columns are told apart afterwards
    const auto rows = static_cast<std::size_t>(std::ranges::count(table.series, label));
    part.values = Matrix(rows, table.values.cols());
    std::size_t to = 0;
    for (std::size_t r = 0; r < table.series.size(); ++r) {
      if (table.series[r] != label) continue;
      std::ranges::copy(table.values.row(r), part.values.row(to++).begin());
      if (!table.times.empty()) part.times.push_back(table.times[r]);
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

Series read_csv(const std::filesystem::path& path, const ReadLimits& limits) {
  const std::string text = read_file(path, limits.max_bytes), found = looks_like(path);
  if (found == "a netCDF file" || found == "a model (safetensors)") {
    refuse_csv(detail::display(path), "is {}, but must be a CSV file", found);
  }
  return parse_csv(text, detail::display(path));
}

namespace {

/// Values and covariates in one table.
Series joined_columns(const Series& series) {
  const std::size_t states = series.values.cols(), more = series.covariates.cols();
  check::equal("write_csv", "the number of rows of the covariates", series.covariates.rows(), series.values.rows());
  check::that(series.names.size() == states && series.covariate_names.size() == more, "write_csv",
              "the number of names", series.names.size() + series.covariate_names.size(),
              fmt::format("{}, one for each column beside covariates", states + more));
  Series all{.names = series.names, .values = Matrix(series.values.rows(), states + more), .times = series.times};
  all.names.insert(all.names.end(), series.covariate_names.begin(), series.covariate_names.end());
  all.calendar = series.calendar;
  for (std::size_t r = 0; r < all.values.rows(); ++r) {
    std::ranges::copy(series.values.row(r), all.values.row(r).begin());
    std::ranges::copy(series.covariates.row(r), all.values.row(r).begin() + static_cast<std::ptrdiff_t>(states));
  }
  return all;
}

}  // namespace

void write_csv(const std::filesystem::path& path, const Series& series) {
  constexpr std::string_view function = "write_csv";
  if (series.covariates.cols() > 0) return write_csv(path, joined_columns(series));
  const std::size_t rows = series.values.rows(), cols = series.values.cols();
  const bool has_times = !series.times.empty();
  check::that(series.names.empty() || series.names.size() == cols, function, "the number of names", series.names.size(),
              fmt::format("{}, the number of columns, or zero", cols));
  check::that(!has_times || series.times.size() == rows, function, "the number of times", series.times.size(),
              fmt::format("{}, the number of rows, or zero", rows));
  check::at_least<std::size_t>(function, "the number of columns", cols + (has_times ? 1 : 0), 1);
  check::all_finite(function, "times", series.times);

  std::vector<std::string> names = series.names;
  if (has_times && names.empty()) {
    for (std::size_t c = 0; c < cols; ++c) names.push_back(fmt::format("x{}", c));
  }
  check::that(std::set<std::string>(names.begin(), names.end()).size() == names.size(), function, "names",
              fmt::format("{}", fmt::join(names, ", ")), "different from each other");
  // With a column of times in front, a second one called "t" stays a variable; without it, it would become the times.
  const auto is_time = [](const std::string& name) { return lower(name) == "time"; };
  const std::optional<std::size_t> taken = time_column(names);
  check::that(std::ranges::none_of(names, is_time) && (has_times || !taken), function, "a name",
              taken ? names[*taken] : "", "another one, because that column would be read as the times");
  check::that(!series_column(names), function, "a name", "series",
              "another one, because that column would be read as labels");
  check::that(names.empty() || has_times || is_header(names), function, "names",
              fmt::format("{}", fmt::join(names, ", ")),
              "words, because numbers alone would be read as a row of values");

  AtomicFile file(path);
  std::string text;
  if (!names.empty() || has_times) {
    if (has_times) text += "time";
    for (std::size_t c = 0; c < cols; ++c) {
      if (c > 0 || has_times) text += ',';
      text += quoted(names[c], "a name");
    }
    text += '\n';
  }
  for (std::size_t r = 0; r < rows; ++r) {
    if (has_times) text += series.calendar ? series.calendar->date(series.times[r]) : shortest(series.times[r]);
    for (std::size_t c = 0; c < cols; ++c) {
      if (c > 0 || has_times) text += ',';
      text += shortest(series.values(r, c));
    }
    text += '\n';
    if (text.size() > (std::size_t{1} << 20)) {
      file.write(text);
      text.clear();
    }
  }
  file.write(text);
  file.commit();
}

}  // namespace catena::files
