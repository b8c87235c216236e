#include "catena/experiment/figures/chart.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "catena/report/theme.h"

namespace catena::experiment {
namespace {

using nlohmann::json;

constexpr const char *our_source = "catena", *paper_source = "the paper";

/// Lines stand beside each other at the same x, so that their error bars do.
double beside(double x, std::size_t place, std::size_t lines) {
  const double step = 0.04;  // of a decade
  return x * std::pow(10.0, step * (static_cast<double>(place) - 0.5 * static_cast<double>(lines - 1)));
}

template <class Item>
std::optional<std::size_t> place_in(const std::vector<Item>& list, const Item& item) {
  const auto found = std::ranges::find(list, item);
  if (found == list.end()) return std::nullopt;
  return static_cast<std::size_t>(found - list.begin());
}

/// The points as Vega-Lite's data, and which lines and sources there are.
struct Drawn {
  json values = json::array();
  std::vector<Line> lines;
  bool dashed = false;
  std::vector<std::string> panels, rows;
};

Drawn drawn(const Chart& chart, const std::vector<Point>& points) {
  std::set<std::string> names, panels, rows;
  Drawn result;
  const auto shown = [&](const Point& point) {
    return place_in(chart.panels, point.panel) && (chart.rows.empty() || place_in(chart.rows, point.row)) &&
           std::isfinite(point.y);
  };
  for (const Point& point : points) {
    if (!shown(point)) continue;
    names.insert(point.line), panels.insert(point.panel), rows.insert(point.row);
    result.dashed = result.dashed || !point.error;
  }
  for (const Line& line : chart.lines) {
    if (names.contains(line.name)) result.lines.push_back(line);
  }
  for (const std::string& panel : chart.panels) {
    if (panels.contains(panel)) result.panels.push_back(panel);
  }
  for (const std::string& row : chart.rows) {
    if (rows.contains(row)) result.rows.push_back(row);
  }
  for (const Point& point : points) {
    if (!shown(point)) continue;
    const auto line = std::ranges::find(result.lines, point.line, &Line::name);
    if (line == result.lines.end()) continue;
    const auto place = static_cast<std::size_t>(line - result.lines.begin());
    json value = {{"panel", point.panel}, {"line", point.line}, {"source", point.error ? our_source : paper_source}};
    if (!chart.rows.empty()) value["row"] = point.row;
    value["x"] = report::rounded(point.error ? beside(point.x, place, result.lines.size()) : point.x);
    value["y"] = report::rounded(point.y);
    if (point.error) {
      const double low = point.y - *point.error;
      // A bar that reaches below zero has no end on a logarithmic scale.
      value["low"] = report::rounded(chart.logarithmic && low <= 0 ? 0.5 * point.y : low);
      value["high"] = report::rounded(point.y + *point.error);
    }
    result.values.push_back(std::move(value));
  }
  return result;
}

json scale_of(const std::vector<Line>& lines, std::string Line::* look) {
  json domain = json::array(), range = json::array();
  for (const Line& line : lines) domain.push_back(line.name), range.push_back(line.*look);
  return {{"domain", domain}, {"range", range}};
}

json x_of(const Chart& chart) {
  json x = {{"field", "x"}, {"type", "quantitative"}, {"title", chart.x_title}, {"axis", {{"format", "~s"}}}};
  x["scale"] = {{"type", "log"}};
  if (!chart.ticks.empty()) {
    x["axis"]["values"] = chart.ticks;
    const auto [low, high] = std::ranges::minmax(chart.ticks);
    x["scale"]["domain"] = {0.65 * low, high / 0.65};
    x["scale"]["nice"] = false;
  }
  return x;
}

/// Powers of ten within a range that all of the values are in, on a logarithmic scale.
void logarithmic_range(json& y, const json& values) {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const json& value : values) {
    for (const char* field : {"low", "y", "high"}) {
      if (!value.contains(field)) continue;
      low = std::min(low, value[field].get<double>()), high = std::max(high, value[field].get<double>());
    }
  }
  if (!(low > 0 && high > 0)) return;
  low *= 0.8, high /= 0.8;
  y["scale"]["domain"] = {report::rounded(low), report::rounded(high)};
  y["scale"]["nice"] = false;
  json ticks = json::array();
  for (double power = std::ceil(std::log10(low)); power <= std::log10(high); ++power) {
    ticks.push_back(report::rounded(std::pow(10.0, power)));
  }
  if (!ticks.empty()) y["axis"]["values"] = ticks;
}

json y_of(const Chart& chart, const json& values) {
  json y = {{"field", "y"}, {"type", "quantitative"}, {"title", chart.y_title}};
  y["axis"] = {{"tickCount", 5}, {"grid", true}, {"gridColor", "#e8ecf0"}, {"titleLimit", chart.height}};
  if (chart.logarithmic) {
    y["axis"]["format"] = "~g";
    y["scale"]["type"] = "log";
    logarithmic_range(y, values);
  }
  if (chart.y_range) {
    y["scale"]["domain"] = {chart.y_range->first, chart.y_range->second};
    y["scale"]["clamp"] = true;
  }
  return y;
}

}  // namespace

Line line_of(const std::string& method) {
  static const std::vector<Line> looks = {{"fnle", "#0072B2", "circle"},
                                          {"fnle, corrected", "#56B4E9", "triangle-down"},
                                          {"fnre", "#D55E00", "square"},
                                          {"fnse", "#009E73", "triangle-up"},
                                          {"fnse separable", "#009E73", "cross"},
                                          {"fnbe", "#CC79A7", "diamond"},
                                          {"npe", "#6b7785", "cross"}};
  const auto found = std::ranges::find(looks, method, &Line::name);
  return found == looks.end() ? Line{method, "#E69F00", "circle"} : *found;
}

void as_c2st(Chart& chart) {
  chart.y_title = "C2ST";
  chart.y_range = {0.45, 1};
}

json chart_view(const Chart& chart, const std::vector<Point>& points) {
  const Drawn data = drawn(chart, points);
  const json x = x_of(chart), y = y_of(chart, data.values);
  const json legend = {{"orient", "top"}, {"columns", 8}, {"symbolSize", 80}};
  const json colour = {{"field", "line"},
                       {"type", "nominal"},
                       {"title", nullptr},
                       {"scale", scale_of(data.lines, &Line::colour)},
                       {"legend", legend}};
  const json shape = {{"field", "line"},
                      {"type", "nominal"},
                      {"title", nullptr},
                      {"scale", scale_of(data.lines, &Line::shape)},
                      {"legend", legend}};
  json dash = {{"field", "source"},
               {"type", "nominal"},
               {"title", nullptr},
               {"scale", {{"domain", {our_source, paper_source}}, {"range", json::array({{1, 0}, {5, 4}})}}},
               {"legend", {{"orient", "top"}, {"symbolType", "stroke"}, {"symbolSize", 300}}}};
  if (!data.dashed) dash["legend"] = nullptr;
  const json only_ours = json::array({{{"filter", std::string("datum.source == '") + our_source + "'"}}});
  json low = y;
  low["field"] = "low";
  json layers = json::array();
  layers.push_back({{"mark", {{"type", "line"}, {"strokeWidth", 1.6}}},
                    {"encoding", {{"x", x}, {"y", y}, {"color", colour}, {"strokeDash", dash}}}});
  layers.push_back({{"transform", only_ours},
                    {"mark", {{"type", "rule"}, {"strokeWidth", 1.6}}},
                    {"encoding", {{"x", x}, {"y", low}, {"y2", {{"field", "high"}}}, {"color", colour}}}});
  layers.push_back(
      {{"transform", only_ours},
       {"mark",
        {{"type", "point"}, {"filled", true}, {"size", 55}, {"opacity", 1}, {"stroke", "white"}, {"strokeWidth", 0.8}}},
       {"encoding", {{"x", x}, {"y", y}, {"color", colour}, {"shape", shape}}}});
  const json header = {{"labels", chart.names},  {"labelFontSize", 13},     {"labelFontWeight", 600},
                       {"labelAnchor", "start"}, {"labelColor", "#1f2933"}, {"title", nullptr}};
  json panel = {{"field", "panel"}, {"type", "nominal"}, {"sort", data.panels}, {"title", nullptr}, {"header", header}};
  json view = {{"data", {{"values", data.values}}},
               {"spec", {{"width", chart.width}, {"height", chart.height}, {"layer", layers}}},
               {"spacing", {{"row", 18}, {"column", 20}}}};
  if (chart.rows.empty() && data.panels.size() <= chart.columns) {
    view["facet"]["column"] = panel;
  } else if (chart.rows.empty()) {
    view["facet"] = panel;
    view["columns"] = chart.columns;
  } else {
    json row_header = header;
    row_header["labels"] = true;
    row_header["labelAnchor"] = "middle";
    row_header["labelFontSize"] = 12;
    view["facet"]["column"] = panel;
    view["facet"]["row"] = {
        {"field", "row"}, {"type", "nominal"}, {"sort", data.rows}, {"title", nullptr}, {"header", row_header}};
  }
  return view;
}

report::DrawnFigure picture(std::string name, std::string title, std::string subtitle, std::vector<json> views) {
  report::DrawnFigure figure;
  figure.name = std::move(name);
  figure.title = title;
  json& spec = figure.drawing.spec;
  if (views.size() == 1) {
    spec = std::move(views.front());
  } else {
    spec["vconcat"] = std::move(views);
    spec["spacing"] = 14;
  }
  spec["$schema"] = "https://vega.github.io/schema/vega-lite/v5.json";
  spec["title"] = {{"text", std::move(title)}, {"subtitle", std::move(subtitle)}};
  spec["config"] = report::vega_config(report::light_palette());
  spec["config"]["legend"] = {{"labelFontSize", 12}, {"labelColor", "#1f2933"}};
  spec["background"] = "white";
  spec["padding"] = 12;
  return figure;
}

}  // namespace catena::experiment
