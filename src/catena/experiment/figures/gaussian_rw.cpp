// Figure 2a (and A.2a): gaussian_rw in 1, 2 and 10 dimensions, whose exact posterior is known at any length: accuracy
// and sampling time against T, far beyond the paper's T = 100; posteriors corrected by simulation beside them.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "catena/experiment/figures/figure.h"

namespace catena::experiment {
namespace {

const std::vector<std::string> walks = {"gaussian_rw 1-d", "gaussian_rw 2-d", "gaussian_rw 10-d"};
const std::vector<std::string> walk_lines = {"fnle", "fnle, corrected", "fnre", "fnse", "fnse separable", "fnbe"};
constexpr const char *corrected_method = "fnle + 100 T", *corrected_line = "fnle, corrected";

bool place_walk(const Cell& cell, Point& point) {
  point.panel = cell.task;
  point.line = cell.method == corrected_method ? corrected_line : cell.method;
  return cell.budget == 10000 && std::ranges::find(walks, cell.task) != walks.end() &&
         std::ranges::find(walk_lines, point.line) != walk_lines.end();
}

std::vector<report::DrawnFigure> draw_walks(const std::vector<Row>& rows) {
  const std::vector<Point> c2st = points_of(rows, "c2st", place_walk);
  if (c2st.empty()) return {};
  Chart chart{.x_title = "", .y_title = "", .panels = walks, .ticks = {1, 10, 100, 1000, 10000}, .height = 130};
  for (const std::string& line : walk_lines) chart.lines.push_back(line_of(line));
  as_c2st(chart);
  std::vector<nlohmann::json> views{chart_view(chart, c2st)};
  chart.names = false;
  chart.y_range.reset();
  chart.logarithmic = true;
  chart.y_title = "sliced Wasserstein";
  views.push_back(chart_view(chart, points_of(rows, "sw1", place_walk)));
  chart.y_title = "s for 1,000 draws";
  chart.x_title = "observed transitions T";
  views.push_back(chart_view(chart, points_of(rows, "sample_seconds", place_walk)));
  return {picture(
      "paper_2a", "A Gaussian random walk: accuracy and time as the series grows",
      fmt::format("10,000 transitions for learning; corrected by 100 T more. Bars: one standard error over series. {}.",
                  counts(rows, "c2st", place_walk)),
      std::move(views))};
}

std::string walks_finding(const std::vector<Row>& rows) {
  constexpr double good = 0.6;
  std::map<std::string, std::pair<std::size_t, std::string>> reach;  // by task: T and method
  std::map<std::string, std::pair<std::size_t, double>> corrected, learned;
  Point ignored;
  for (const Cell& cell : summarise(rows, "c2st")) {
    if (!place_walk(cell, ignored) || cell.rows == 0) continue;
    if (cell.method == corrected_method) {
      corrected[cell.task] = {cell.transitions, cell.mean};  // sorted: the longest is the last
    } else if (cell.mean <= good && cell.transitions > reach[cell.task].first) {
      reach[cell.task] = {cell.transitions, cell.method};
    }
  }
  for (const Cell& cell : summarise(rows, learned_column("c2st"))) {
    if (cell.rows > 0 && cell.method == corrected_method) learned[cell.task] = {cell.transitions, cell.mean};
  }
  std::string text;
  for (const std::string& walk : walks) {
    if (!reach.contains(walk) || reach[walk].first == 0) continue;
    text += fmt::format("{} {} to T = {} ({})", text.empty() ? fmt::format("C2ST is at most {}", good) : ",", walk,
                        reach[walk].first, reach[walk].second);
  }
  if (!text.empty()) text += ".";
  for (const std::string& walk : walks) {
    if (!corrected.contains(walk) || !learned.contains(walk)) continue;
    text += fmt::format(" Corrected, {} at T = {}: {:.2f} in place of {:.2f}.", walk, corrected[walk].first,
                        corrected[walk].second, learned[walk].second);
  }
  return text;
}

}  // namespace

PaperFigure gaussian_rw_figure() {
  return {.name = "2a",
          .title = "a Gaussian random walk in 1, 2 and 10 dimensions",
          .shows =
              "Where errors of single transitions add up: C2ST, sliced Wasserstein distance and sampling time against "
              "the length of the series, to a hundred times the paper's.",
          .sweeps = {"gaussian_rw.json", "gaussian_rw-fnbe.json", "gaussian_rw-corrected.json"},
          .draw = draw_walks,
          .finding = walks_finding};
}

}  // namespace catena::experiment
