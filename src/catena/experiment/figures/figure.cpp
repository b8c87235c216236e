#include "catena/experiment/figures/figure.h"

#include <fmt/format.h>

#include <algorithm>

namespace catena::experiment {

// One line per figure: its maker, defined in a file of this folder.
PaperFigure gaussian_rw_figure();
PaperFigure composition_figure();
PaperFigure table_figure();
PaperFigure budget_figure();
PaperFigure time_figure();

const Registry<PaperFigure>& paper_figures() {
  static const Registry<PaperFigure> registry("figure of the paper", {
                                                                         gaussian_rw_figure(),
                                                                         composition_figure(),
                                                                         table_figure(),
                                                                         budget_figure(),
                                                                         time_figure(),
                                                                     });
  return registry;
}

std::vector<Point> points_of(const std::vector<Row>& rows, const std::string& metric, const Place& place) {
  std::vector<Point> points;
  for (const Cell& cell : summarise(rows, metric)) {
    Point point;
    point.x = static_cast<double>(cell.transitions);
    point.y = cell.mean;
    point.error = cell.standard_error;
    if (cell.rows > 0 && place(cell, point)) points.push_back(std::move(point));
  }
  return points;
}

std::string counts(const std::vector<Row>& rows, const std::string& metric, const Place& place) {
  std::size_t least = 0, most = 0, least_seeds = 0, most_seeds = 0;
  for (const Cell& cell : summarise(rows, metric)) {
    Point ignored;
    if (cell.rows == 0 || !place(cell, ignored)) continue;
    least = least == 0 ? cell.rows : std::min(least, cell.rows);
    most = std::max(most, cell.rows);
    least_seeds = least_seeds == 0 ? cell.seeds : std::min(least_seeds, cell.seeds);
    most_seeds = std::max(most_seeds, cell.seeds);
  }
  const auto range = [](std::size_t low, std::size_t high, const char* what) {
    return low == high ? fmt::format("{} {}{}", low, what, low == 1 ? "" : "s")
                       : fmt::format("{} to {} {}s", low, high, what);
  };
  return fmt::format("{} a point, {}", range(least, most, "row"), range(least_seeds, most_seeds, "seed"));
}

}  // namespace catena::experiment
