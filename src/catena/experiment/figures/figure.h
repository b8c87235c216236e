/// The paper's figures, drawn from rows (`catena experiment paper`, and the page of results): each names the sweeps
/// that make its rows and draws what is there of them. A new one is a file here and one line of the list in figure.cpp.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "catena/core/registry.h"
#include "catena/experiment/figures/chart.h"
#include "catena/experiment/rows.h"
#include "catena/experiment/summary.h"

namespace catena::experiment {

struct PaperFigure {
  std::string_view name;                 ///< in the paper, or a word where it has no number of its own
  std::string_view title;                ///< a heading
  std::string_view shows;                ///< in one or two sentences: what one looks at
  std::vector<std::string_view> sweeps;  ///< files of benchmarks/sweeps, those first that say most
  /// Pictures of whatever rows of it are there; none without any.
  std::vector<report::DrawnFigure> (*draw)(const std::vector<Row>& rows);
  /// What the rows say, in a sentence or two made from them; empty without any.
  std::string (*finding)(const std::vector<Row>& rows);
};

/// In the order of the page.
const Registry<PaperFigure>& paper_figures();

// What they are made of.

/// A point for each cell of the metric that `place` gives a panel, a row and a line; T is its x unless `place` says
/// otherwise.
using Place = std::function<bool(const Cell& cell, Point& point)>;
std::vector<Point> points_of(const std::vector<Row>& rows, const std::string& metric, const Place& place);

/// "3 series, 1 seed", "5 to 10 series, 1 to 3 seeds": of the cells that `place` takes.
std::string counts(const std::vector<Row>& rows, const std::string& metric, const Place& place);

}  // namespace catena::experiment
