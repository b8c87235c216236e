// The appendix's figure of a random walk whose coefficient depends on time: networks see t, and so do its rows.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "catena/experiment/figures/figure.h"

namespace catena::experiment {
namespace {

const std::vector<std::string> timed_walks = {"ti_gaussian_rw 1-d", "ti_gaussian_rw 2-d", "ti_gaussian_rw 10-d"};
const std::vector<std::string> timed_methods = {"fnle", "fnre", "fnse", "fnbe"};
const std::vector<std::pair<std::uint64_t, std::string>> timed_budgets = {{10000, "10,000 transitions"},
                                                                          {100000, "100,000 transitions"}};

bool place_timed(const Cell& cell, Point& point) {
  const auto budget = std::ranges::find(timed_budgets, cell.budget, &std::pair<std::uint64_t, std::string>::first);
  if (budget == timed_budgets.end()) return false;
  point.panel = cell.task, point.line = cell.method, point.row = budget->second;
  return std::ranges::find(timed_walks, cell.task) != timed_walks.end() &&
         std::ranges::find(timed_methods, cell.method) != timed_methods.end();
}

std::vector<report::DrawnFigure> draw_timed(const std::vector<Row>& rows) {
  const std::vector<Point> points = points_of(rows, "c2st", place_timed);
  if (points.empty()) return {};
  Chart chart{.x_title = "observed transitions T", .y_title = "", .panels = timed_walks, .ticks = {1, 10, 100}};
  for (const auto& [budget, name] : timed_budgets) chart.rows.push_back(name);
  for (const std::string& method : timed_methods) chart.lines.push_back(line_of(method));
  as_c2st(chart);
  chart.height = 140;
  return {
      picture("paper_time", "A random walk that depends on time: C2ST",
              fmt::format("x' = (0.9 + 1/(t+1)) x + θ + ε; networks see t. Bars: one standard error over series. {}.",
                          counts(rows, "c2st", place_timed)),
              {chart_view(chart, points)})};
}

std::string timed_finding(const std::vector<Row>& rows) {
  std::map<std::pair<std::uint64_t, std::string>, std::map<std::size_t, const Cell*>> best;
  const std::vector<Cell> cells = summarise(rows, "c2st");
  Point ignored;
  for (const Cell& cell : cells) {
    if (!place_timed(cell, ignored) || cell.rows == 0) continue;
    const Cell*& found = best[{cell.budget, cell.task}][cell.transitions];
    if (found == nullptr || cell.mean < found->mean) found = &cell;
  }
  std::string text;
  for (const auto& [budget, name] : timed_budgets) {
    std::string list;
    for (const std::string& walk : timed_walks) {
      const auto found = best.find({budget, walk});
      if (found == best.end()) continue;
      const Cell& longest = *found->second.rbegin()->second;
      list += fmt::format("{}{} {:.2f} by {} (T = {})", list.empty() ? " " : ", ", walk, longest.mean, longest.method,
                          longest.transitions);
    }
    if (!list.empty()) text += fmt::format("{}The best with {}:{}.", text.empty() ? "" : " ", name, list);
  }
  return text;
}

}  // namespace

PaperFigure time_figure() {
  return {
      .name = "time-inhomogeneous",
      .title = "a random walk that depends on time",
      .shows =
          "Transitions whose law changes with t, in 1, 2 and 10 dimensions and for both budgets. The paper prints no "
          "numbers of it.",
      .sweeps = {"ti_gaussian_rw.json"},
      .draw = draw_timed,
      .finding = timed_finding};
}

}  // namespace catena::experiment
