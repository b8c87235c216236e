#include "catena/experiment/results/corrected.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "catena/experiment/summary.h"

namespace catena::experiment {
namespace {

constexpr double near_the_limit = 0.03;  // of C2ST: what a corrected posterior may be above it (issue 20)

using CellKey =
    std::tuple<std::string, std::uint64_t, std::size_t, double, std::string>;  // task, budget, T, M/T, method

/// C2ST of the learned and of the corrected posterior beside the limit, a line for each cell.
std::string before_and_after(const std::vector<Row>& rows) {
  std::map<std::tuple<std::string, std::uint64_t, std::string, std::size_t>, std::map<std::string, Cell>> cells;
  const std::string learned = learned_column("c2st");
  for (const std::string& column :
       {std::string("c2st"), learned, std::string(correct_budget_column), std::string(corrected_column),
        std::string(alarm_column), std::string(limit_column)}) {
    for (Cell& cell : summarise(rows, column)) {
      cells[{cell.task, cell.budget, cell.method, cell.transitions}][column] = std::move(cell);
    }
  }
  std::map<CellKey, std::string> lines;
  for (const auto& [key, found] : cells) {
    const auto& [task, budget, method, T] = key;
    const auto mean = [&](const std::string& column) {
      const auto cell = found.find(column);
      return cell == found.end() ? std::nan("") : cell->second.mean;
    };
    const auto text = [&](const std::string& column, bool bold) {
      const auto cell = found.find(column);
      if (cell == found.end() || cell->second.rows == 0) return std::string();
      const std::string_view mark = bold ? "**" : "";
      return fmt::format("{}{:.3f} ± {:.3f}{}", mark, cell->second.mean, cell->second.standard_error, mark);
    };
    const double ratio = mean(correct_budget_column) / static_cast<double>(T), limit = mean(limit_column);
    const Cell& any = found.begin()->second;
    const bool all_failed = any.rows == 0;
    lines[{task, budget, T, std::isnan(ratio) ? 0 : ratio, method}] = fmt::format(
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {}{} |\n", task, method, budget, T,
        all_failed ? "" : fmt::format("{:.3g}", ratio), text(learned, false),
        text("c2st", mean("c2st") <= limit + near_the_limit), all_failed ? "" : fmt::format("{:.3f}", limit),
        all_failed ? "" : fmt::format("{:.0f} %", 100 * mean(corrected_column)),
        all_failed ? "" : fmt::format("{:.0f} %", 100 * mean(alarm_column)), any.rows,
        any.failed > 0 ? fmt::format(", {} failed", any.failed) : "");
  }
  std::string all =
      "| task | method | budget | T | M/T | learned | corrected | limit | were corrected | alarms | rows |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const auto& [key, line] : lines) all += line;
  return all;
}

/// The name of a method without what its correction adds.
std::string learned_by(const std::string& method) { return method.substr(0, method.rfind(" + ")); }

/// Methods that keep a part of the budget for correcting beside those that learn from all of it, series by series.
std::string same_budget(const RowsByCorrection& rows) {
  std::map<std::string, double> all_learned;  // C2ST by key
  for (const Row& row : rows.learned) {
    if (row.values.contains("c2st")) all_learned[row.key()] = row.values.at("c2st");
  }
  struct Pair {
    double learned, corrected;
  };
  std::map<std::tuple<std::string, std::uint64_t, std::size_t, std::string>, std::vector<Pair>> cells;
  for (const Row& row : rows.corrected) {
    if (!row.method.ends_with(" of it") || !row.values.contains("c2st")) continue;
    Row twin = row;
    twin.method = learned_by(row.method);
    const auto found = all_learned.find(twin.key());
    if (found == all_learned.end()) continue;
    cells[{row.task, row.budget, row.transitions, row.method}].push_back({found->second, row.values.at("c2st")});
  }
  if (cells.empty()) return "";
  std::string text =
      "\nThe same budget for learning alone, and in parts for learning and for correcting; the difference is that of "
      "the "
      "same series.\n\n"
      "| task | method | budget | T | all for learning | with a correction | difference | rows |\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (const auto& [key, pairs] : cells) {
    const auto& [task, budget, T, method] = key;
    double learned = 0, corrected = 0, squares = 0;
    const auto n = static_cast<double>(pairs.size());
    for (const Pair& pair : pairs) learned += pair.learned / n, corrected += pair.corrected / n;
    for (const Pair& pair : pairs) squares += std::pow(pair.corrected - pair.learned - (corrected - learned), 2);
    const double error = n > 1 ? std::sqrt(squares / (n - 1) / n) : 0;
    text += fmt::format("| {} | {} | {} | {} | {:.3f} | {:.3f} | {:+.3f} ± {:.3f} | {} |\n", task, method, budget, T,
                        learned, corrected, corrected - learned, error, pairs.size());
  }
  return text;
}

}  // namespace

RowsByCorrection by_correction(const std::vector<Row>& rows) {
  std::set<std::string> methods;  // a row that failed has no values
  for (const Row& row : rows) {
    if (row.values.contains(correct_budget_column)) methods.insert(row.method);
  }
  RowsByCorrection parts;
  for (const Row& row : rows) (methods.contains(row.method) ? parts.corrected : parts.learned).push_back(row);
  return parts;
}

std::string corrected_section(const RowsByCorrection& rows) {
  if (rows.corrected.empty()) return "";
  return fmt::format(
      "\n## Corrected posteriors\n\nC2ST of the learned posterior and of the same one corrected by M transitions that "
      "were simulated from the observed states (`catena correct`); beside them the statistical limit Φ(½√(d p T/M)), "
      "p = 1 + d/4, of d parameters. **Bold** where the corrected posterior is at most {} above it. \"Were "
      "corrected\": "
      "the share of the series long enough for it; \"alarms\": the share whose certificate calls the learned posterior "
      "wrong.\n\n{}{}",
      near_the_limit, before_and_after(rows.corrected), same_budget(rows));
}

}  // namespace catena::experiment
