#include "catena/experiment/results_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "catena/core/version.h"
#include "catena/experiment/summary.h"
#include "catena/files/atomic.h"

namespace catena::experiment {
namespace {

/// `full` is how many rows a complete cell has.
std::string cell_text(const Cell& cell, std::size_t full) {
  const bool above = cell.paper && cell.mean > *cell.paper + 0.005;  // the paper prints two digits
  const std::string own = fmt::format("{:.3f} ± {:.3f}", cell.mean, cell.standard_error);
  return (above || !cell.paper ? own : "**" + own + "**") + (cell.paper ? fmt::format(" ({:.2f})", *cell.paper) : "") +
         (cell.rows < full ? fmt::format(", n = {}", cell.rows) : "");
}

std::string table(const std::vector<Cell>& cells, std::uint64_t budget) {
  std::set<std::size_t> lengths;
  std::map<std::pair<std::string, std::string>, std::map<std::size_t, const Cell*>> by_row;
  std::size_t full = 0;
  for (const Cell& cell : cells) {
    if (cell.budget != budget) continue;
    full = std::max(full, cell.rows);
    lengths.insert(cell.transitions);
    by_row[{cell.task, cell.method}][cell.transitions] = &cell;
  }
  std::string text = "| task | method |";
  for (const std::size_t T : lengths) text += fmt::format(" T = {} |", T);
  text += "\n|---|---|" + [&] {
    std::string rule;
    for (std::size_t i = 0; i < lengths.size(); ++i) rule += "---|";
    return rule;
  }() + "\n";
  for (const auto& [row, columns] : by_row) {
    text += fmt::format("| {} | {} |", row.first, row.second);
    for (const std::size_t T : lengths) {
      const auto found = columns.find(T);
      text += found == columns.end() ? " |" : fmt::format(" {} |", cell_text(*found->second, full));
    }
    text += "\n";
  }
  return text;
}

/// Means of the seconds, per budget and method.
std::string times(const std::vector<Row>& rows) {
  std::map<std::tuple<std::uint64_t, std::string, std::size_t>, std::vector<const Row*>> groups;
  for (const Row& row : rows) groups[{row.budget, row.method, row.transitions}].push_back(&row);
  std::string text = "| budget | method | T | training, s | 1,000 draws, s |\n|---|---|---|---|---|\n";
  for (const auto& [key, group] : groups) {
    double train = 0, sample = 0;
    for (const Row* row : group) {
      train += row->values.contains("train_seconds") ? row->values.at("train_seconds") : 0;
      sample += row->values.contains("sample_seconds") ? row->values.at("sample_seconds") : 0;
    }
    const auto n = static_cast<double>(group.size());
    text += fmt::format("| {} | {} | {} | {:.1f} | {:.2f} |\n", std::get<0>(key), std::get<1>(key), std::get<2>(key),
                        train / n, sample / n);
  }
  return text;
}

}  // namespace

void write_results_page(const std::filesystem::path& path, const std::vector<Row>& rows, const std::string& directory,
                        const std::vector<std::filesystem::path>& pictures) {
  std::set<std::uint64_t> budgets, seeds;
  std::set<std::uint64_t> observations;
  for (const Row& row : rows) {
    budgets.insert(row.budget);
    seeds.insert(row.seed);
    observations.insert(row.observation);
  }
  std::string text = fmt::format(
      "# Results\n\nWritten by `catena experiment show {} --page {}` (catena {}) from `rows.csv` there: {} rows, {} "
      "observations per cell, {} seed{}.\n\nC2ST by a random forest against 1,000 draws of the exact posterior, mean "
      "over observations ± its standard error: 0.5 is perfect, 1 is worst. In brackets what the paper prints for the "
      "same method (there against approximate references for four tasks); **bold** where ours is not above it. Cells "
      "that are "
      "not complete say how many rows they have; cells that did not run are empty.\n",
      directory, path.string(), version(), rows.size(), observations.size(), seeds.size(),
      seeds.size() == 1 ? "" : "s");
  const std::vector<Cell> cells = summarise(rows, "c2st");
  for (const std::uint64_t budget : budgets) {
    text += fmt::format("\n## Budget {}\n\n{}", budget, table(cells, budget));
  }
  text +=
      fmt::format("\n## Time\n\nSeconds on the machine of the sweep, all its threads, others at work beside it.\n\n{}",
                  times(rows));
  if (!pictures.empty()) text += "\n## Figures\n\nDashed: the paper's numbers.\n";
  for (const std::filesystem::path& picture : pictures) {
    const std::filesystem::path link =
        picture.lexically_proximate(path.parent_path().empty() ? "." : path.parent_path());
    text += fmt::format("\n![{}]({})\n", picture.stem().string(), link.generic_string());
  }
  files::write_file(path, text);
}

}  // namespace catena::experiment
