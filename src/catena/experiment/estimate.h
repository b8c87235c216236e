/// How long the rows of a sweep will take: means of the seconds that finished rows of the same kind took, and of
/// comparing draws, which is measured on the spot. Exact references that are not in the user's cache come on top.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "catena/core/parallel.h"
#include "catena/experiment/row_plan.h"
#include "catena/experiment/rows.h"
#include "catena/experiment/sweep.h"

namespace catena::experiment {

class RowSeconds {
 public:
  explicit RowSeconds(const std::vector<Row>& rows);
  void add(const Row& row);

  /// Rows of the same task, method and budget; else of other tasks; else of the method without a label of its own, if
  /// the sweep leaves its settings as they are. Nothing without any.
  std::optional<double> training(const RowPlan& plan) const;
  /// The same of draws (and their correction) at that length; else at any budget; else at the nearest length, and for a
  /// longer series in proportion to it: local estimates are summed up.
  std::optional<double> drawing(const RowPlan& plan) const;

 private:
  using Key = std::vector<std::string>;
  struct Mean {
    double sum = 0;
    std::size_t n = 0;
  };
  std::optional<double> mean(const Key& key) const;
  void put(const Key& key, double seconds);
  std::optional<double> at_the_nearest_length(const std::string& method, std::size_t transitions) const;

  std::map<Key, Mean> means_;
  std::map<std::string, std::set<std::size_t>> lengths_;  // by method
};

struct Estimate {
  std::size_t rows = 0, models = 0;            // missing
  double seconds = 0;                          // of those that are known, comparisons included
  double compare_seconds = 0;                  // of one row, as measured
  std::map<std::string, std::size_t> unknown;  // rows by method, of methods without any row to go by

  void operator+=(const Estimate& other);
};

/// Of rows that are to be run, whose models may be there in `directory`.
Estimate estimate(const Sweep& sweep, const std::vector<RowPlan>& missing, const RowSeconds& seconds,
                  const std::filesystem::path& directory, const Parallel& parallel);

/// "288 missing, about 12 min"
std::string in_words(const Estimate& estimate);
/// What that rests on, in a sentence.
std::string basis(const Estimate& estimate);
/// "40 s", "12 min", "3.5 h"
std::string duration(double seconds);

}  // namespace catena::experiment
