// Figure 2c: the paper's main table as pictures. All methods × tasks × T, one picture for each budget, with our
// defaults beside the paper's numbers.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "catena/experiment/figures/figure.h"

namespace catena::experiment {
namespace {

const std::vector<std::string> table_tasks = {"periodic_sde", "linear_sde",     "mixture_rw",
                                              "double_well",  "lotka_volterra", "sir"};
const std::vector<std::string> table_methods = {"fnle", "fnre", "fnse", "fnbe", "npe"};
constexpr std::uint64_t table_budgets[] = {10000, 100000};
constexpr std::size_t table_lengths[] = {1, 10, 100};

Place table_place(std::uint64_t budget) {
  return [budget](const Cell& cell, Point& point) {
    point.panel = cell.task, point.line = cell.method;
    return cell.budget == budget && std::ranges::find(table_tasks, cell.task) != table_tasks.end() &&
           std::ranges::find(table_methods, cell.method) != table_methods.end() &&
           std::ranges::find(table_lengths, cell.transitions) != std::end(table_lengths);
  };
}

std::vector<report::DrawnFigure> draw_table(const std::vector<Row>& rows) {
  std::vector<report::DrawnFigure> pictures;
  for (const std::uint64_t budget : table_budgets) {
    std::vector<Point> points = points_of(rows, "c2st", table_place(budget));
    if (points.empty()) continue;
    for (const std::string& task : table_tasks) {
      for (const std::string& method : table_methods) {
        if (method == "fnbe") continue;  // has the paper's numbers of fnse, whose line they are
        for (const std::size_t T : table_lengths) {
          const auto paper = paper_c2st(method, budget, task, T);
          if (!paper) continue;
          points.push_back({.panel = task, .line = method, .x = static_cast<double>(T), .y = *paper});
        }
      }
    }
    Chart chart{.x_title = "observed transitions T", .y_title = "", .panels = table_tasks, .ticks = {1, 10, 100}};
    for (const std::string& method : table_methods) chart.lines.push_back(line_of(method));
    as_c2st(chart);
    pictures.push_back(
        picture(fmt::format("paper_2c_{}", budget),
                fmt::format("Learned from {} transitions: C2ST against the exact posterior",
                            budget == 10000 ? "10,000" : "100,000"),
                fmt::format("0.5 cannot be told from the exact posterior, 1 is wrong. Bars: one standard error over "
                            "series. {}.",
                            counts(rows, "c2st", table_place(budget))),
                {chart_view(chart, points)}));
  }
  return pictures;
}

std::string table_finding(const std::vector<Row>& rows) {
  std::string text;
  for (const std::uint64_t budget : table_budgets) {
    std::size_t cells = 0, below = 0;
    std::map<std::pair<std::string, std::size_t>, std::pair<double, double>> best;  // ours, the paper's
    Point ignored;
    for (const Cell& cell : summarise(rows, "c2st")) {
      if (!table_place(budget)(cell, ignored) || !cell.paper || cell.rows == 0) continue;
      ++cells;
      below += cell.mean <= *cell.paper + 0.005 ? 1 : 0;
      auto& [ours, papers] = best.try_emplace({cell.task, cell.transitions}, 1, 1).first->second;
      ours = std::min(ours, cell.mean);
      papers = *cell.paper_best;
    }
    if (cells == 0) continue;
    const auto won =
        std::ranges::count_if(best, [](const auto& entry) { return entry.second.first < entry.second.second; });
    text += fmt::format(
        "{}With {} transitions ours is not above the paper's number of the same method in {} of {} cells, and the best "
        "of "
        "ours is below the best of the paper in {} of {}.",
        text.empty() ? "" : " ", budget, below, cells, won, best.size());
  }
  return text;
}

}  // namespace

PaperFigure table_figure() {
  return {.name = "2c",
          .title = "methods, tasks, lengths and budgets",
          .shows =
              "The main table (and those of appendix E): C2ST of every method as the observed series grows, with our "
              "defaults and proposal, which are not the paper's.",
          .sweeps = {"table-10k.json", "table-100k.json", "fnse-10k.json", "fnse-100k.json", "baselines-10k.json"},
          .draw = draw_table,
          .finding = table_finding};
}

}  // namespace catena::experiment
