// The appendix's figure of the budget: accuracy against the number of transitions for learning, for every task and T.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "catena/experiment/figures/figure.h"

namespace catena::experiment {
namespace {

const std::vector<std::string> budget_tasks = {"periodic_sde", "linear_sde",     "mixture_rw",
                                               "double_well",  "lotka_volterra", "sir"};
const std::vector<std::string> budget_methods = {"fnle", "fnre", "fnse", "fnbe"};
constexpr std::size_t budget_lengths[] = {1, 10, 100};

bool place_budget(const Cell& cell, Point& point) {
  point.panel = cell.task, point.line = cell.method, point.row = fmt::format("T = {}", cell.transitions);
  point.x = static_cast<double>(cell.budget);
  return std::ranges::find(budget_tasks, cell.task) != budget_tasks.end() &&
         std::ranges::find(budget_methods, cell.method) != budget_methods.end() &&
         std::ranges::find(budget_lengths, cell.transitions) != std::end(budget_lengths);
}

std::vector<report::DrawnFigure> draw_budget(const std::vector<Row>& rows) {
  Chart chart{.x_title = "budget",
              .y_title = "distance",
              .panels = budget_tasks,
              .rows = {"T = 1", "T = 10", "T = 100"},
              .width = 115,
              .height = 120};
  for (const std::string& method : budget_methods) chart.lines.push_back(line_of(method));
  std::vector<Point> c2st = points_of(rows, "c2st", place_budget);
  std::map<double, int> budgets;
  for (const Point& point : c2st) ++budgets[point.x];
  if (budgets.size() < 2) return {};
  for (const auto& [budget, n] : budgets) chart.ticks.push_back(budget);
  for (const std::string& task : budget_tasks) {
    for (const std::string& method : {std::string("fnle"), std::string("fnre"), std::string("fnse")}) {
      for (const std::size_t T : budget_lengths) {
        for (const auto& [budget, n] : budgets) {
          const auto paper = paper_c2st(method, static_cast<std::uint64_t>(budget), task, T);
          if (paper) c2st.push_back({task, fmt::format("T = {}", T), method, budget, *paper});
        }
      }
    }
  }
  const std::string bars = fmt::format("Bars: one standard error over series. {}.", counts(rows, "c2st", place_budget));
  chart.logarithmic = true;
  std::vector<report::DrawnFigure> pictures;
  pictures.push_back(
      picture("paper_budget_sw1", "More transitions for learning: sliced Wasserstein distance",
              "Budget: transitions for learning. The distance is in the prior's standard deviations. " + bars,
              {chart_view(chart, points_of(rows, "sw1", place_budget))}));
  chart.logarithmic = false;
  as_c2st(chart);
  pictures.push_back(picture("paper_budget_c2st", "More transitions for learning: C2ST",
                             "Budget: transitions for learning. " + bars, {chart_view(chart, c2st)}));
  return pictures;
}

std::string budget_finding(const std::vector<Row>& rows) {
  std::map<std::tuple<std::string, std::string, std::size_t>, std::map<std::uint64_t, double>> cells;
  std::map<std::uint64_t, int> budgets;
  Point ignored;
  for (const Cell& cell : summarise(rows, "c2st")) {
    if (!place_budget(cell, ignored) || cell.rows == 0) continue;
    cells[{cell.task, cell.method, cell.transitions}][cell.budget] = cell.mean;
    ++budgets[cell.budget];
  }
  if (budgets.size() < 2) return "";
  const std::uint64_t few = budgets.begin()->first, many = budgets.rbegin()->first;
  std::string text =
      fmt::format("From {} to {} transitions, mean C2ST over tasks and methods that have both:", few, many);
  for (const std::size_t T : budget_lengths) {
    double before = 0, after = 0;
    std::size_t n = 0;
    for (const auto& [key, by_budget] : cells) {
      if (std::get<2>(key) != T || !by_budget.contains(few) || !by_budget.contains(many)) continue;
      before += by_budget.at(few), after += by_budget.at(many), ++n;
    }
    if (n == 0) continue;
    const auto all = static_cast<double>(n);
    text += fmt::format(" {:.2f} to {:.2f} at T = {},", before / all, after / all, T);
  }
  text.back() = '.';
  return text;
}

}  // namespace

PaperFigure budget_figure() {
  return {
      .name = "budget",
      .title = "accuracy against the budget",
      .shows =
          "The appendix's figure of 10,000, 100,000 and more transitions for learning: a column for each task, a row "
          "for each length. The paper prints C2ST, and sW₁ in its picture only.",
      .sweeps = {"table-10k.json", "table-100k.json", "fnse-10k.json", "fnse-100k.json"},
      .draw = draw_budget,
      .finding = budget_finding};
}

}  // namespace catena::experiment
