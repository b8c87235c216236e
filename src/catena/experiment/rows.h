/// Results as rows of one CSV file: one row per task, method, budget, seed, length and observation. Rows are appended
/// whole; what a killed process left of a last line is dropped, so that a sweep goes on where it was. Sweeps that run
/// side by side may share a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "catena/core/outcome.h"

namespace catena::experiment {

struct Row {
  std::string task, method;
  std::uint64_t budget = 0, seed = 0;
  std::size_t transitions = 0;
  std::uint64_t observation = 0;
  Outcome outcome = Outcome::ok;
  std::map<std::string, double> values;  // metrics, and seconds of the phases

  /// What identifies a row.
  std::string key() const;
};

class Rows {
 public:
  /// Reads what is there. `columns` are the names of the values; those that the file lacks are added to it, empty in
  /// the rows that it has.
  Rows(std::filesystem::path path, std::vector<std::string> columns);

  /// True as well for a row that another process has added since.
  bool contains(const Row& row);
  /// Nothing if the file contains the row by now.
  void append(const Row& row);

 private:
  /// Reads the file again if it is not as this process left it.
  void refresh();

  std::filesystem::path path_;
  std::vector<std::string> columns_;
  std::set<std::string> keys_;
  std::uintmax_t size_ = 0;  // of the file when it was last read or written
};

/// The rows of a file with whatever columns it has.
std::vector<Row> read_rows(const std::filesystem::path& path);

}  // namespace catena::experiment
