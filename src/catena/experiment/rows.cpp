#include "catena/experiment/rows.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>

#include "catena/core/errors.h"
#include "catena/files/csv.h"

namespace catena::experiment {
namespace {

constexpr std::array<std::string_view, 7> fixed_columns = {"task",        "method",      "budget", "seed",
                                                           "transitions", "observation", "outcome"};

/// Stands in the place of an outcome.
constexpr std::string_view failed_word = "failed";

/// Whole numbers have up to 64 bits, more than a double holds.
std::uint64_t whole(const std::string& text, const std::string& source) {
  std::uint64_t value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw FileError(fmt::format("{}: \"{}\" is no whole number", source, text));
  }
  return value;
}

std::string line_of(const Row& row, const std::vector<std::string>& columns) {
  std::vector<std::string> fields = {row.task,
                                     row.method,
                                     fmt::to_string(row.budget),
                                     fmt::to_string(row.seed),
                                     fmt::to_string(row.transitions),
                                     fmt::to_string(row.observation),
                                     std::string(row.failed() ? failed_word : name(row.outcome))};
  for (const std::string& column : columns) {
    if (column == error_column) {
      fields.push_back(row.error);
      continue;
    }
    const auto found = row.values.find(column);
    const bool there = found != row.values.end() && std::isfinite(found->second);
    fields.push_back(there ? fmt::format("{:.6g}", found->second) : "");
  }
  return files::text_line(fields);
}

struct Table {
  std::vector<std::string> columns;
  std::vector<Row> rows;
  std::size_t whole_bytes = 0;  // up to the end of the last whole line
};

/// Open for appending, by one process at a time.
struct Locked {
  explicit Locked(const std::filesystem::path& path) {
    for (;;) {
      descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
      if (descriptor < 0) throw FileError(fmt::format("{}: cannot be written", path.string()));
      ::flock(descriptor, LOCK_EX);
      // Another process may have put a new file in its place before this one had the lock.
      struct stat mine{}, now{};
      if (::fstat(descriptor, &mine) == 0 && ::stat(path.c_str(), &now) == 0 && mine.st_ino == now.st_ino) return;
      ::close(descriptor);
    }
  }
  ~Locked() { ::close(descriptor); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  int descriptor = -1;
};

Table read_table(const std::filesystem::path& path) {
  const std::string text = files::read_file(path, std::uint64_t{1} << 30), source = path.string();
  Table table;
  table.whole_bytes = text.rfind('\n') + 1;  // 0 without any
  if (table.whole_bytes == 0) return table;
  const auto [names, lines] = files::parse_text_table(std::string_view(text).substr(0, table.whole_bytes), source);
  if (names.size() < fixed_columns.size() ||
      !std::ranges::equal(fixed_columns, std::span(names).first(fixed_columns.size()))) {
    throw FileError(fmt::format("{}: is no table of results", source));
  }
  table.columns.assign(names.begin() + fixed_columns.size(), names.end());
  std::map<std::string, std::size_t> places;
  for (const std::vector<std::string>& fields : lines) {
    Row row;
    row.task = fields[0];
    row.method = fields[1];
    row.budget = whole(fields[2], source);
    row.seed = whole(fields[3], source);
    row.transitions = whole(fields[4], source);
    row.observation = whole(fields[5], source);
    if (fields[6] == failed_word) {
      row.error = failed_word;  // for a file without that column
    } else {
      const std::optional<Outcome> outcome = outcome_named(fields[6]);
      if (!outcome) throw FileError(fmt::format("{}: \"{}\" is no outcome that this catena knows", source, fields[6]));
      row.outcome = *outcome;
    }
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const std::string& field = fields[fixed_columns.size() + i];
      if (field.empty()) continue;
      if (table.columns[i] == error_column) {
        row.error = field;
        continue;
      }
      const std::optional<double> value = files::number_in(field);
      if (!value) throw FileError(fmt::format("{}: \"{}\" is no number", source, field));
      row.values[table.columns[i]] = *value;
    }
    const auto [place, is_new] = places.emplace(row.key(), table.rows.size());
    if (is_new) {
      table.rows.push_back(std::move(row));
    } else if (Row& before = table.rows[place->second]; before.failed()) {
      before = std::move(row);  // a second try
    }
  }
  return table;
}

}  // namespace

std::string Row::key() const {
  return fmt::format("{},{},{},{},{},{}", task, method, budget, seed, transitions, observation);
}

Rows::Rows(std::filesystem::path path, std::vector<std::string> columns)
    : path_(std::move(path)), columns_(std::move(columns)) {
  Table table;
  if (std::filesystem::exists(path_)) table = read_table(path_);
  // Columns that the file has stay where they are; new ones come after them.
  std::vector<std::string> all = table.columns;
  for (const std::string& column : columns_) {
    if (std::ranges::find(all, column) == all.end()) all.push_back(column);
  }
  columns_ = std::move(all);
  if (columns_ != table.columns) {
    std::vector<std::string> names(fixed_columns.begin(), fixed_columns.end());
    names.insert(names.end(), columns_.begin(), columns_.end());
    std::string text = files::text_line(names);
    for (const Row& row : table.rows) text += line_of(row, columns_);
    files::write_file(path_, text);
  } else if (table.whole_bytes < std::filesystem::file_size(path_)) {
    std::filesystem::resize_file(path_, table.whole_bytes);
  }
}

bool Rows::contains(const Row& row) {
  refresh();
  return failed_.contains(row.key());
}

bool Rows::contains_failed(const Row& row) {
  refresh();
  const auto found = failed_.find(row.key());
  return found != failed_.end() && found->second;
}

void Rows::append(const Row& row) {
  const Locked file(path_);
  if (contains(row) && !contains_failed(row)) return;
  const std::string line = line_of(row, columns_);
  if (::write(file.descriptor, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    throw FileError(fmt::format("{}: cannot be written", path_.string()));
  }
}

void Rows::put_in_order(const std::vector<std::string>& keys) {
  const Locked file(path_);
  const Table table = read_table(path_);
  std::map<std::string, std::size_t> place;
  for (const std::string& key : keys) place.emplace(key, place.size());
  std::vector<std::size_t> ours;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (place.contains(table.rows[i].key())) ours.push_back(i);
  }
  std::vector<std::size_t> sorted = ours;
  std::ranges::sort(sorted, {}, [&](std::size_t i) { return place.at(table.rows[i].key()); });
  if (sorted == ours) return;
  std::vector<const Row*> rows;
  for (const Row& row : table.rows) rows.push_back(&row);
  for (std::size_t k = 0; k < ours.size(); ++k) rows[ours[k]] = &table.rows[sorted[k]];
  std::vector<std::string> names(fixed_columns.begin(), fixed_columns.end());
  names.insert(names.end(), table.columns.begin(), table.columns.end());
  std::string text = files::text_line(names);
  for (const Row* row : rows) text += line_of(*row, table.columns);
  files::write_file(path_, text);
}

void Rows::refresh() {
  const std::uintmax_t size = std::filesystem::file_size(path_);
  if (size == size_) return;
  size_ = size;
  Table table = read_table(path_);
  columns_ = std::move(table.columns);
  for (const Row& row : table.rows) failed_[row.key()] = row.failed();
}

std::vector<Row> read_rows(const std::filesystem::path& path) { return read_table(path).rows; }

}  // namespace catena::experiment
