/// The list that findings are added to, and those about the series (findings_series.cpp). Internal to report/.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "catena/report/findings.h"

namespace catena::report {

struct FindingList {
  template <class... Values>
  void add(Severity severity, fmt::format_string<Values...> text, Values&&... values) {
    list.push_back({severity, fmt::format(text, std::forward<Values>(values)...)});
  }
  /// The worst first, else in the order in which they came.
  void sort();

  std::vector<Finding> list;
};

/// "a, b and 3 more"
std::string listed(const std::vector<std::string>& names);

/// Series that are not shown.
void judge_series(const Results& results, FindingList& found);
/// Transitions where the model has never been.
void judge_range(const Results& results, FindingList& found);
/// Does the model foresee the series one step ahead?
void judge_predictive(const Results& results, FindingList& found);
/// What the series says about which parameter, and where; do draws and local estimates belong together?
void judge_information(const Results& results, FindingList& found);

}  // namespace catena::report
