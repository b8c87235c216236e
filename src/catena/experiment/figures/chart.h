/// Charts of means with their error bars, panel by panel, beside numbers that the paper prints: what all of the paper's
/// figures are made of (figure.h). A line is told by its colour (Okabe and Ito's, docs/refs.bib: okabe2008) and by the
/// shape of its points, so that it survives a black and white print and every kind of colour blindness.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catena/report/figure.h"

namespace catena::experiment {

struct Point {
  std::string panel, row = "";  // a column of the chart, and a row where it has several
  std::string line;
  double x = 0, y = 0;
  std::optional<double> error = std::nullopt;  // of y, on either side; none: a number of the paper, dashed
};

/// A line's name in the legend; its colour and shape follow from its place in the chart.
struct Line {
  std::string name, colour, shape;
};

/// The look of a method: the same in every figure.
Line line_of(const std::string& method);

struct Chart {
  std::string x_title, y_title;
  std::vector<std::string> panels;     // in their order
  std::vector<std::string> rows = {};  // in their order; none: panels are wrapped
  std::vector<Line> lines = {};        // in the order of the legend; those without a point are left out
  std::vector<double> ticks = {};      // of x, whose scale is logarithmic
  std::optional<std::pair<double, double>> y_range = std::nullopt;  // beyond which points stand at its end
  bool logarithmic = false;                                         // the scale of y
  std::size_t columns = 3;                                          // of wrapped panels
  double width = 210, height = 165;                                 // of one panel, in pixels
  bool names = true;                                                // above the panels
};

/// C2ST: a range and ticks that are the same in all figures.
void as_c2st(Chart& chart);

/// A view for `picture`. Points of other panels, rows or lines are left out.
nlohmann::json chart_view(const Chart& chart, const std::vector<Point>& points);

/// Views one below the other under one title and one legend.
report::DrawnFigure picture(std::string name, std::string title, std::string subtitle,
                            std::vector<nlohmann::json> views);

}  // namespace catena::experiment
