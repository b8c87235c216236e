#include "catena/experiment/results/figures.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "catena/experiment/summary.h"

namespace catena::experiment {
namespace {

using nlohmann::json;

/// Okabe and Ito's colours, which colour-blind readers can tell apart (okabe2008).
constexpr const char* colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"};

enum class Axis { transitions, budget };

/// One figure: a metric against an axis.
struct Plan {
  std::string name, title, metric, axis_title, value_title;
  Axis axis;
  bool logarithmic = false;  // the value's scale
};

double position(const Cell& cell, Axis axis) {
  return axis == Axis::budget ? static_cast<double>(cell.budget) : static_cast<double>(cell.transitions);
}

/// What a line shares besides task and method: the budget where T is the axis, and the other way round.
std::string held(const Cell& cell, Axis axis) {
  return axis == Axis::budget ? fmt::format("T = {}", cell.transitions) : fmt::format("{:L} transitions", cell.budget);
}

json point(const Cell& cell, const Plan& plan, double value, double error, bool paper) {
  return {
      {"x", position(cell, plan.axis)},         {"y", report::rounded(value)}, {"low", report::rounded(value - error)},
      {"high", report::rounded(value + error)}, {"method", cell.method},       {"held", held(cell, plan.axis)},
      {"source", paper ? "paper" : "catena"}};
}

json methods_scale(const std::set<std::string>& methods) {
  json range = json::array();
  for (std::size_t i = 0; i < methods.size(); ++i) range.push_back(colours[i % std::size(colours)]);
  return {{"domain", methods}, {"range", range}};
}

json encoding(const Plan& plan, const std::set<std::string>& methods) {
  json y = {{"field", "y"}, {"type", "quantitative"}, {"title", plan.value_title}, {"axis", {{"tickCount", 5}}}};
  if (plan.logarithmic) y["scale"] = {{"type", "log"}};
  if (plan.metric == "c2st") y["scale"] = {{"domain", {0.45, 1}}, {"clamp", true}};
  return {
      {"x",
       {{"field", "x"},
        {"type", "quantitative"},
        {"title", plan.axis_title},
        {"axis", {{"tickCount", 3}, {"format", "~s"}}},
        {"scale", {{"type", "log"}}}}},
      {"y", y},
      {"color",
       {{"field", "method"}, {"type", "nominal"}, {"scale", methods_scale(methods)}, {"legend", {{"orient", "top"}}}}},
      {"detail", {{"field", "held"}}},
      {"strokeDash",
       {{"field", "source"},
        {"type", "nominal"},
        {"scale", {{"domain", {"catena", "paper"}}, {"range", json::array({{1, 0}, {4, 3}})}}},
        {"legend", {{"orient", "top"}, {"title", nullptr}}}}}};
}

/// A view of one task.
json view_of(const std::string& task, const json& values, const Plan& plan, const std::set<std::string>& methods) {
  json bars = encoding(plan, methods);
  bars.erase("strokeDash");
  bars["y"]["field"] = "low";
  bars["y2"] = {{"field", "high"}};
  json dots = encoding(plan, methods);
  dots.erase("strokeDash");
  json layers = json::array();
  layers.push_back({{"mark", {{"type", "line"}, {"strokeWidth", 1.5}}}, {"encoding", encoding(plan, methods)}});
  layers.push_back({{"transform", {{{"filter", "datum.source == 'catena'"}}}},
                    {"mark", {{"type", "rule"}, {"strokeWidth", 1}}},
                    {"encoding", bars}});
  layers.push_back({{"transform", {{{"filter", "datum.source == 'catena'"}}}},
                    {"mark", {{"type", "point"}, {"filled", true}, {"size", 25}}},
                    {"encoding", dots}});
  return {{"title", task}, {"data", {{"values", values}}}, {"layer", layers}};
}

/// Cells at one value of what is not on the axis.
std::vector<report::DrawnFigure> figures_of(const std::vector<Row>& rows, const Plan& plan) {
  std::map<std::string, std::map<std::string, json>> by_held;  // → task → points
  std::map<std::string, std::set<std::string>> methods;
  std::set<double> places;
  for (const Cell& cell : summarise(rows, plan.metric)) {
    if (cell.rows == 0) continue;  // all of it failed
    const std::string group = held(cell, plan.axis);
    json& values = by_held[group][cell.task];
    values.push_back(point(cell, plan, cell.mean, cell.standard_error, false));
    if (cell.paper && plan.metric == "c2st") values.push_back(point(cell, plan, *cell.paper, 0, true));
    methods[group].insert(cell.method);
    places.insert(position(cell, plan.axis));
  }
  std::vector<report::DrawnFigure> figures;
  if (places.size() < 2) return figures;
  for (const auto& [group, tasks] : by_held) {
    std::vector<json> views;
    for (const auto& [task, values] : tasks) views.push_back(view_of(task, values, plan, methods[group]));
    report::DrawnFigure figure;
    std::string file = fmt::format("{}_{}", plan.name, group);
    std::erase_if(file, [](char c) { return c == ' ' || c == '=' || c == ','; });
    figure.name = file;
    figure.title = fmt::format("{}, {}", plan.title, group);
    const std::size_t columns = std::min<std::size_t>(3, views.size());
    figure.drawing.spec =
        report::grid(std::move(views), {.columns = columns, .width = 210, .most = 320, .aspect = 0.8});
    // Every view has axes of its own, so columns align by views and not by their flush borders.
    figure.drawing.spec["bounds"] = "full";
    figure.drawing.spec["spacing"] = 24;
    figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace

std::vector<report::DrawnFigure> results_figures(const std::vector<Row>& rows) {
  const Plan plans[] = {
      {"c2st_transitions", "C2ST (0.5 is perfect)", "c2st", "T", "C2ST", Axis::transitions},
      {"sw1_transitions", "Sliced Wasserstein distance", "sw1", "T", "sW₁", Axis::transitions, true},
      {"c2st_budget", "C2ST (0.5 is perfect)", "c2st", "budget", "C2ST", Axis::budget},
      {"seconds_transitions", "Seconds for 1,000 draws", "sample_seconds", "T", "seconds", Axis::transitions, true},
  };
  std::vector<report::DrawnFigure> figures;
  for (const Plan& plan : plans) {
    for (report::DrawnFigure& figure : figures_of(rows, plan)) figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace catena::experiment
