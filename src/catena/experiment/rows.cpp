#include "catena/experiment/rows.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "catena/core/errors.h"
#include "catena/files/atomic.h"

namespace catena::experiment {
namespace {

constexpr std::size_t fixed_columns = 7;
constexpr std::string_view fixed_header = "task,method,budget,seed,transitions,observation,outcome";

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
  if (line.ends_with(',')) fields.emplace_back();
  return fields;
}

template <class T>
T number(const std::string& text, const std::string& source) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw FileError(fmt::format("{}: \"{}\" is no number", source, text));
  }
  return value;
}

std::string line_of(const Row& row, const std::vector<std::string>& columns) {
  std::string line = fmt::format("{},{},{},{},{},{},{}", row.task, row.method, row.budget, row.seed, row.transitions,
                                 row.observation, row.outcome);
  for (const std::string& column : columns) {
    const auto found = row.values.find(column);
    line += found == row.values.end() || !std::isfinite(found->second) ? "," : fmt::format(",{:.6g}", found->second);
  }
  return line + "\n";
}

struct Table {
  std::vector<std::string> columns;
  std::vector<Row> rows;
  std::size_t whole_bytes = 0;  // up to the end of the last whole line
};

/// Open for appending, by one process at a time.
struct Locked {
  explicit Locked(const std::filesystem::path& path)
      : descriptor(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC)) {
    if (descriptor < 0) throw FileError(fmt::format("{}: cannot be written", path.string()));
    ::flock(descriptor, LOCK_EX);
  }
  ~Locked() { ::close(descriptor); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  int descriptor;
};

Table read_table(const std::filesystem::path& path) {
  const std::string text = files::read_file(path, std::uint64_t{1} << 30), source = path.string();
  Table table;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; begin = end + 1, end = text.find('\n', begin)) {
    const std::vector<std::string> fields = split(text.substr(begin, end - begin));
    table.whole_bytes = end + 1;
    if (begin == 0) {
      if (!text.starts_with(fixed_header)) throw FileError(fmt::format("{}: is no table of results", source));
      table.columns.assign(fields.begin() + fixed_columns, fields.end());
      continue;
    }
    if (fields.size() != fixed_columns + table.columns.size()) {
      throw FileError(fmt::format("{}: a row has {} fields, but must have {}", source, fields.size(),
                                  fixed_columns + table.columns.size()));
    }
    Row row;
    row.task = fields[0];
    row.method = fields[1];
    row.budget = number<std::uint64_t>(fields[2], source);
    row.seed = number<std::uint64_t>(fields[3], source);
    row.transitions = number<std::size_t>(fields[4], source);
    row.observation = number<std::uint64_t>(fields[5], source);
    row.outcome = fields[6];
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const std::string& field = fields[fixed_columns + i];
      if (!field.empty()) row.values[table.columns[i]] = number<double>(field, source);
    }
    table.rows.push_back(std::move(row));
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
    std::string text = fmt::format("{},{}\n", fixed_header, fmt::join(columns_, ","));
    for (const Row& row : table.rows) text += line_of(row, columns_);
    files::write_file(path_, text);
  } else if (table.whole_bytes < std::filesystem::file_size(path_)) {
    std::filesystem::resize_file(path_, table.whole_bytes);
  }
}

bool Rows::contains(const Row& row) {
  refresh();
  return keys_.contains(row.key());
}

void Rows::append(const Row& row) {
  const Locked file(path_);
  if (contains(row)) return;
  const std::string line = line_of(row, columns_);
  if (::write(file.descriptor, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    throw FileError(fmt::format("{}: cannot be written", path_.string()));
  }
}

void Rows::refresh() {
  const std::uintmax_t size = std::filesystem::file_size(path_);
  if (size == size_) return;
  size_ = size;
  Table table = read_table(path_);
  columns_ = std::move(table.columns);
  for (const Row& row : table.rows) keys_.insert(row.key());
}

std::vector<Row> read_rows(const std::filesystem::path& path) { return read_table(path).rows; }

}  // namespace catena::experiment
