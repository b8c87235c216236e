/// Figures as Vega-Lite 5 specifications: each is a function from results to JSON, in a file of its own under figures/
/// and in one line of the list in figure.cpp. The page, `--format` and Python all draw from this list.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catena/core/registry.h"
#include "catena/report/results.h"

namespace catena::report {

/// What a colour stands for: a style of theme.h, drawn as an area, a line or a dot.
struct KeyEntry {
  std::string shape;   ///< "area", "line" or "dot"
  std::string colour;  ///< a member of Palette: "posterior", "reference", "truth", "muted"
  std::string label;
};

struct Drawing {
  nlohmann::json spec;  ///< complete: data, marks, title, and the light theme as `config`
  std::vector<KeyEntry> key;
  std::string caption;  ///< one or two sentences below the figure; may be empty
};

struct Figure {
  std::string_view name;   ///< of the file: pair_plot.png
  std::string_view title;  ///< above the figure
  bool of_posterior;       ///< stands before the table of numbers
  /// Nothing if the results do not hold what this figure shows.
  std::optional<Drawing> (*draw)(const Results& results);
};

/// In the order of the page.
const Registry<Figure>& figures();

/// The figures that these results have, complete with title and key.
struct DrawnFigure {
  std::string name, title;
  bool of_posterior = false;
  Drawing drawing;
};
std::vector<DrawnFigure> draw_all(const Results& results);

/// How a grid of views fits a width: the page's script reads it from `usermeta.catena` and sets every view's size.
struct Layout {
  std::size_t columns = 1;  ///< at most
  bool fixed = true;        ///< always that many columns; otherwise as many as fit
  double width = 160;       ///< of one view, in pixels, where the figure stands alone
  double least = 60;        ///< narrower views are not legible: the figure scrolls instead
  double most = 240;
  double aspect = 1;  ///< height / width, …
  double height = 0;  ///< … unless this height is given
  double spacing = 10;
};

/// The figure: views side by side, with sizes, schema and theme. Borders are flush, so that columns and rows align.
nlohmann::json grid(std::vector<nlohmann::json> views, const Layout& layout);

/// Nine significant digits, so that files stay small and large offsets keep their detail; null where not finite.
nlohmann::json rounded(double value);

/// {"values": [{"x": …, "y": …}, …]}
nlohmann::json data_of(const std::vector<std::pair<double, double>>& points);

/// {"type": type, "style": style}
nlohmann::json mark(std::string_view type, std::string_view style);

/// A range of values with a margin of 4 % on either side; never empty.
std::pair<double, double> padded_range(double low, double high);

/// The name as it is, cut to a length that fits an axis.
std::string axis_label(const std::string& name);

}  // namespace catena::report
