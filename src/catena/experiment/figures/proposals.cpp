// Figure 2d (and that of the proposals in the appendix): how wide the normal is from which transitions of the random
// walks start when methods learn, at a fixed budget. Series start at 0, so that it may be too narrow for long ones.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "catena/experiment/figures/figure.h"

namespace catena::experiment {
namespace {

const std::vector<std::string> proposal_tasks = {"gaussian_rw 1-d", "gaussian_rw 2-d", "gaussian_rw 10-d",
                                                 "mixture_rw 2-d", "mixture_rw 5-d"};
const std::vector<std::string> proposal_methods = {"fnle", "fnse"};

/// "gaussian_rw 2-d from 0.1" → the task and the standard deviation of where transitions start
bool place_proposal(const Cell& cell, Point& point) {
  const std::string between = " from ";
  const std::size_t at = cell.task.find(between);
  if (at == std::string::npos) return false;
  const std::string width = cell.task.substr(at + between.size());
  const auto [end, error] = std::from_chars(width.data(), width.data() + width.size(), point.x);
  point.panel = cell.task.substr(0, at), point.line = cell.method, point.row = fmt::format("T = {}", cell.transitions);
  return error == std::errc() && end == width.data() + width.size() && cell.budget == 10000 &&
         std::ranges::find(proposal_tasks, point.panel) != proposal_tasks.end() &&
         std::ranges::find(proposal_methods, point.line) != proposal_methods.end();
}

std::vector<report::DrawnFigure> draw_proposals(const std::vector<Row>& rows) {
  const std::vector<Point> c2st = points_of(rows, "c2st", place_proposal);
  if (c2st.empty()) return {};
  Chart chart{.x_title = "width of the proposal",
              .y_title = "distance",
              .panels = proposal_tasks,
              .rows = {"T = 1", "T = 10", "T = 100"},
              .ticks = {0.1, 1, 10, 100, 1000},
              .width = 140,
              .height = 120};
  for (const std::string& method : proposal_methods) chart.lines.push_back(line_of(method));
  const std::string subtitle = fmt::format(
      "Transitions for learning, 10,000 of them, start from normals of that standard deviation. Bars: one "
      "standard error over series. {}.",
      counts(rows, "c2st", place_proposal));
  chart.logarithmic = true;
  const nlohmann::json distance = chart_view(chart, points_of(rows, "sw1", place_proposal));
  chart.logarithmic = false;
  as_c2st(chart);
  std::vector<report::DrawnFigure> pictures;
  pictures.push_back(picture("paper_2d_c2st", "Where transitions start: C2ST", subtitle, {chart_view(chart, c2st)}));
  pictures.push_back(
      picture("paper_2d_sw1", "Where transitions start: sliced Wasserstein distance", subtitle, {distance}));
  return pictures;
}

/// The best width of every task at the longest series.
std::string proposals_finding(const std::vector<Row>& rows) {
  std::string text;
  const std::vector<Point> points = points_of(rows, "c2st", place_proposal);
  for (const std::string& method : proposal_methods) {
    std::map<std::string, const Point*> best;
    for (const Point& point : points) {
      if (point.line != method || point.row != "T = 100") continue;
      const auto [place, is_new] = best.try_emplace(point.panel, &point);
      if (point.y < place->second->y) place->second = &point;
    }
    if (best.empty()) continue;
    text += fmt::format("{}`{}` does best at T = 100 with a width of", text.empty() ? "" : " ", method);
    for (const auto& [task, point] : best) text += fmt::format(" {} for {} ({:.2f}),", point->x, task, point->y);
    text.back() = '.';
  }
  return text;
}

}  // namespace

PaperFigure proposals_figure() {
  return {
      .name = "2d",
      .title = "where transitions start",
      .shows = "The random walks with proposals of standard deviation 0.1 to 1,000. The paper prints no numbers of it.",
      .sweeps = {"proposals.json"},
      .draw = draw_proposals,
      .finding = proposals_finding};
}

}  // namespace catena::experiment
