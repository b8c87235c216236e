#include "catena/experiment/results/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "catena/core/version.h"
#include "catena/experiment/results/corrected.h"
#include "catena/experiment/results/overview.h"
#include "catena/experiment/summary.h"
#include "catena/files/atomic.h"

namespace catena::experiment {
namespace {

/// `full` is how many rows a complete cell has.
std::string cell_text(const Cell& cell, std::size_t full) {
  std::string failed = cell.failed > 0 ? fmt::format("{} failed", cell.failed) : "";
  if (cell.rows == 0) return failed;
  const bool above = cell.paper && cell.mean > *cell.paper + 0.005;  // the paper prints two digits
  const std::string_view mark = above || !cell.paper ? "" : "**";
  return fmt::format("{}{:.3f} ± {:.3f}{}{}{}{}{}", mark, cell.mean, cell.standard_error, mark,
                     cell.paper ? fmt::format(" ({:.2f})", *cell.paper) : "",
                     cell.rows < full ? fmt::format(", n = {}", cell.rows) : "", failed.empty() ? "" : ", ", failed);
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
  text += "\n|---|---|";
  text += [&] {
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
  for (const Row& row : rows) {
    if (!row.failed()) groups[{row.budget, row.method, row.transitions}].push_back(&row);
  }
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

/// The best of our methods beside the best number that the paper prints, for every task of the paper and length.
std::string best(const std::vector<Cell>& cells, std::uint64_t budget) {
  std::set<std::size_t> lengths;
  std::map<std::string, std::map<std::size_t, const Cell*>> by_task;
  for (const Cell& cell : cells) {
    if (cell.budget != budget || !cell.paper || !cell.paper_best || cell.rows == 0) continue;
    lengths.insert(cell.transitions);
    const Cell*& found = by_task[cell.task][cell.transitions];
    if (found == nullptr || cell.mean < found->mean) found = &cell;
  }
  std::string text = "| task |", rule = "\n|---|";
  for (const std::size_t T : lengths) {
    text += fmt::format(" T = {} |", T);
    rule += "---|";
  }
  text += rule + "\n";
  for (const auto& [task, columns] : by_task) {
    text += fmt::format("| {} |", task);
    for (const std::size_t T : lengths) {
      const auto found = columns.find(T);
      if (found == columns.end()) {
        text += " |";
        continue;
      }
      const Cell& cell = *found->second;
      const std::string_view mark = cell.mean < *cell.paper_best ? "**" : "";
      text += fmt::format(" {}{:.3f} {}{} ({:.2f}) |", mark, cell.mean, cell.method, mark, *cell.paper_best);
    }
    text += "\n";
  }
  return text;
}

/// One line for each cell, with all metrics that are there.
std::string all_metrics(const std::vector<Row>& rows) {
  std::map<std::tuple<std::string, std::uint64_t, std::string, std::size_t>, std::map<std::string, Cell>> lines;
  for (const char* metric : {"c2st", "c2st_mlp", "sw1"}) {
    for (Cell& cell : summarise(rows, metric)) {
      lines[{cell.task, cell.budget, cell.method, cell.transitions}][metric] = std::move(cell);
    }
  }
  std::string text =
      "| task | budget | method | T | C2ST, forest | C2ST, perceptron | sW₁ | rows | seeds | failed |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n";
  for (const auto& [key, metrics] : lines) {
    const auto& [task, budget, method, transitions] = key;
    text += fmt::format("| {} | {} | {} | {} |", task, budget, method, transitions);
    for (const char* metric : {"c2st", "c2st_mlp", "sw1"}) {
      const auto found = metrics.find(metric);
      text += found == metrics.end() || found->second.rows == 0
                  ? " |"
                  : fmt::format(" {:.3f} ± {:.3f} |", found->second.mean, found->second.standard_error);
    }
    const Cell& any = metrics.begin()->second;
    text += fmt::format(" {} | {} | {} |\n", any.rows, any.seeds, any.failed == 0 ? "" : fmt::to_string(any.failed));
  }
  return text;
}

/// Pictures are linked from where the page is.
std::string figures_section(const std::vector<PageFigure>& figures, const std::filesystem::path& page) {
  if (figures.empty()) return "";
  std::string text = "\n## Figures\n\nDashed: the paper's numbers.\n";
  for (const PageFigure& figure : figures) {
    if (!figure.heading.empty()) text += fmt::format("\n### {}\n\n{}\n", figure.heading, figure.text);
    for (const std::filesystem::path& picture : figure.pictures) {
      const std::filesystem::path link =
          picture.lexically_proximate(page.parent_path().empty() ? "." : page.parent_path());
      text += fmt::format("\n![{}]({})\n", picture.stem().string(), link.generic_string());
    }
  }
  return text;
}

/// How many rows failed, and each sentence once with its number of rows; nothing if none did.
std::string failures(const std::vector<Row>& rows) {
  std::map<std::string, std::size_t> sentences;
  std::size_t all = 0;
  for (const Row& row : rows) {
    if (!row.failed()) continue;
    ++all;
    ++sentences[fmt::format("{}, {}: {}", row.task, row.method, row.error)];
  }
  if (all == 0) return "";
  std::string text = fmt::format("\n## Rows that failed\n\n{} of {}; the means leave them out.\n\n", all, rows.size());
  for (const auto& [sentence, n] : sentences) text += fmt::format("- {} × {}\n", n, sentence);
  return text;
}

}  // namespace

void write_results_page(const std::filesystem::path& path, const std::vector<Row>& rows,
                        const std::filesystem::path& directory, const std::vector<PageFigure>& figures) {
  std::vector<Row> paper, others;
  std::set<std::uint64_t> budgets, seeds;
  const RowsByCorrection parts = by_correction(rows);
  for (const Row& row : parts.learned) {
    (in_the_paper(row.task) ? paper : others).push_back(row);
    if (in_the_paper(row.task)) budgets.insert(row.budget);
    seeds.insert(row.seed);
  }
  std::string text = fmt::format(
      "# Results\n\nWritten by `catena experiment show {} --page {}` (catena {}) from `rows.csv` there: {} rows, {} "
      "seed{}.\n",
      directory.string(), path.string(), version(), rows.size(), seeds.size(), seeds.size() == 1 ? "" : "s");
  text += overview(parts.learned);
  text +=
      "\n## How to read the tables\n\nC2ST by a random forest against 1,000 draws of the exact posterior, mean over "
      "observations ± its standard error: 0.5 is perfect, 1 is worst. In brackets what the paper prints for the same "
      "method (there against approximate references for four tasks); **bold** where ours is not above it. `fnbe` is "
      "not "
      "in the paper: beside it stand the paper's numbers of FNSE, its method of scores. Cells that are not complete "
      "say "
      "how many rows they have; cells that did not run are empty.\n";
  const std::vector<Cell> cells = summarise(paper, "c2st");
  for (const std::uint64_t budget : budgets) {
    text += fmt::format(
        "\n## Budget {}\n\n{}\nThe best of the methods, beside the best number that the paper prints for any "
        "method:\n\n{}",
        budget, table(cells, budget), best(cells, budget));
  }
  text += figures_section(figures, path);
  text += corrected_section(parts);
  if (std::filesystem::exists(directory / "notes.md")) {
    text += fmt::format("\n{}", files::read_file(directory / "notes.md", std::uint64_t{1} << 20));
  }
  if (!paper.empty()) {
    text += fmt::format("\n## Time\n\nSeconds, as the sweep ran: on one thread, others at work beside it.\n\n{}",
                        times(paper));
  }
  text += failures(rows);
  if (!others.empty()) text += fmt::format("\n## Other sweeps\n\n{}", all_metrics(others));
  if (!paper.empty()) text += fmt::format("\n## Every metric of the table\n\n{}", all_metrics(paper));
  files::write_file(path, text);
}

}  // namespace catena::experiment
