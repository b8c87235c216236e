/// Rows summed up: mean and standard error of a metric over observations and seeds, beside the number that the paper
/// prints for the same cell (benchmarks/paper/c2st.csv).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "catena/experiment/rows.h"

namespace catena::experiment {

struct Cell {
  std::string task, method;
  std::uint64_t budget = 0;
  std::size_t transitions = 0;
  std::string metric;
  double mean = 0, standard_error = 0;  // NaN without any row
  std::size_t rows = 0, seeds = 0;      // that have the metric
  std::size_t failed = 0;               // rows without it, because they failed
  std::optional<double> paper;          // of this method
  std::optional<double> paper_best;     // of the best method of the paper
};

/// Sorted by task, budget, method, transitions. The standard error is that of a mean over observations; each one's
/// seeds are averaged first, because they share the observation.
std::vector<Cell> summarise(const std::vector<Row>& rows, const std::string& metric);

/// The method of the paper that one of ours is compared with: itself, and FNSE for fnbe.
std::string papers_method(const std::string& method);

/// The paper's random-forest C2ST of that method, if it prints one.
std::optional<double> paper_c2st(const std::string& method, std::uint64_t budget, const std::string& task,
                                 std::size_t transitions);

/// Whether the paper's tables have this task (with any method).
bool in_the_paper(const std::string& task);

/// 100000 → "100,000", for sentences.
std::string grouped(std::uint64_t number);

}  // namespace catena::experiment
