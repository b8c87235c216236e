/// Results as rows of one CSV file: one row per task, method, budget, seed, length and observation. Rows are appended
/// whole; what a killed process left of a last line is dropped, so that a sweep goes on where it was. Sweeps that run
/// side by side may share a file. A row that failed has the outcome "failed", a sentence in the column `error` and no
/// values; a later row of the same name takes its place.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
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
  std::map<std::string, double> values{};  // metrics, and seconds of the phases
  std::string error{};                     // why it failed, in one sentence; empty for a row that did not

  bool failed() const { return !error.empty(); }

  /// What identifies a row.
  std::string key() const;
};

/// The column of the sentences, beside those of values.
inline constexpr const char* error_column = "error";

/// Columns of rows whose posterior was corrected by simulation (sample/correct/); other rows lack them.
inline constexpr const char* correct_budget_column = "correct_budget";  // M: transitions for correcting
inline constexpr const char* corrected_column = "corrected";            // 1, or 0 where the learned draws were kept
inline constexpr const char* alarm_column = "alarm";                    // 1 where the certificate raised one
inline constexpr const char* limit_column = "limit";                    // C2ST: Φ(½√(d p T/M)), p = 1 + d/4
/// A metric of the learned posterior, beside that of the corrected one.
inline std::string learned_column(const std::string& metric) { return "learned_" + metric; }

class Rows {
 public:
  /// Reads what is there. `columns` are the names of the values; those that the file lacks are added to it, empty in
  /// the rows that it has.
  Rows(std::filesystem::path path, std::vector<std::string> columns);

  /// True as well for a row that another process has added since.
  bool contains(const Row& row);
  /// Whether the file contains it as one that failed.
  bool contains_failed(const Row& row);
  /// Nothing if the file contains the row by now, and not as one that failed.
  void append(const Row& row);
  /// Rows of these keys in this order, in the places that they have among the others. One process calls it.
  void put_in_order(const std::vector<std::string>& keys);

 private:
  /// Reads the file again if it is not as this process left it.
  void refresh();

  std::filesystem::path path_;
  std::vector<std::string> columns_;
  std::map<std::string, bool> failed_;  // by key, for all rows
  std::uintmax_t size_ = 0;             // of the file when it was last read or written
};

/// The rows of a file with whatever columns it has, each once.
std::vector<Row> read_rows(const std::filesystem::path& path);

}  // namespace catena::experiment
