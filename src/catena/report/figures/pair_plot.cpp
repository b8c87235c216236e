// The posterior as a pair plot: densities on the diagonal, 50 % and 90 % (or another share) highest-density regions
// below it, correlations above it. With many parameters it shows those that depend on each other most; the rest is in
// figures/marginals.cpp.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "catena/report/contour.h"
#include "catena/report/figures/marginal.h"
#include "catena/report/figures/pairs_shown.h"
#include "catena/report/kernel_density.h"
#include "catena/report/summary.h"

namespace catena::report {

namespace {

/// A path in the order of its points, not sorted along x.
nlohmann::json path_layer(nlohmann::json data, nlohmann::json marks, const nlohmann::json& x, const nlohmann::json& y,
                          bool by_ring) {
  marks["clip"] = true;
  nlohmann::json layer = {{"data", std::move(data)},
                          {"mark", std::move(marks)},
                          {"encoding", {{"x", x}, {"y", y}, {"order", {{"value", nullptr}}}}}};
  if (by_ring) layer["encoding"]["detail"] = {{"field", "ring"}, {"type", "nominal"}};
  return layer;
}

nlohmann::json data_of_rings(const std::vector<Ring>& rings) {
  nlohmann::json values = nlohmann::json::array();
  for (std::size_t r = 0; r < rings.size(); ++r) {
    for (const Point& p : rings[r]) values.push_back({{"x", rounded(p.x)}, {"y", rounded(p.y)}, {"ring", r}});
  }
  return {{"values", std::move(values)}};
}

nlohmann::json pair_view(const Results& results, std::size_t column_parameter, std::size_t row_parameter,
                         const nlohmann::json& x_axis, const nlohmann::json& y_axis) {
  const auto encoding = [&](const char* field, std::size_t parameter, const nlohmann::json& axis) {
    const auto [low, high] = parameter_range(results, parameter);
    return nlohmann::json{{"field", field},
                          {"type", "quantitative"},
                          {"scale", {{"domain", {low, high}}, {"nice", false}, {"zero", false}}},
                          {"axis", axis}};
  };
  const nlohmann::json x = encoding("x", column_parameter, x_axis), y = encoding("y", row_parameter, y_axis);
  nlohmann::json layers = nlohmann::json::array();
  const double shares[] = {results.style.interval, 0.5};

  const std::vector<double> xs = column(results.posterior->values, column_parameter);
  const std::vector<double> ys = column(results.posterior->values, row_parameter);
  const bool regions = has_density(xs) && has_density(ys);
  if (regions) {
    const Density2 posterior = density(xs, ys);
    for (const double share : shares) {
      const std::vector<Ring> rings = outline(posterior, height_of_region(posterior.height, share));
      if (rings.empty()) continue;
      std::vector<std::pair<double, double>> points;
      for (const Point& p : fillable(rings)) points.emplace_back(p.x, p.y);
      nlohmann::json filled = mark("line", share == shares[0] ? "region_90" : "region_50");
      filled["filled"] = true;
      layers.push_back(path_layer(data_of(points), std::move(filled), x, y, false));
    }
  }
  // Few draws are shown themselves, since their regions are rough.
  if (!regions || xs.size() < 100) {
    std::vector<std::pair<double, double>> points;
    for (std::size_t k = 0; k < std::min<std::size_t>(xs.size(), 500); ++k) points.emplace_back(xs[k], ys[k]);
    nlohmann::json dots = mark("point", "posterior_dots");
    dots["clip"] = true;
    layers.push_back({{"data", data_of(points)}, {"mark", dots}, {"encoding", {{"x", x}, {"y", y}}}});
  }
  if (results.reference) {
    const std::vector<double> rx = column(results.reference->values, column_parameter);
    const std::vector<double> ry = column(results.reference->values, row_parameter);
    if (has_density(rx) && has_density(ry)) {
      const Density2 reference = density(rx, ry);
      for (const double share : shares) {
        const std::vector<Ring> rings = outline(reference, height_of_region(reference.height, share));
        layers.push_back(path_layer(data_of_rings(rings), mark("line", "reference"), x, y, true));
      }
    }
  }
  if (!results.truth.empty() && std::isfinite(results.truth[column_parameter]) &&
      std::isfinite(results.truth[row_parameter])) {
    layers.push_back({{"data", data_of({{results.truth[column_parameter], results.truth[row_parameter]}})},
                      {"mark", mark("point", "truth_dot")},
                      {"encoding", {{"x", x}, {"y", y}}}});
  }
  return {{"layer", std::move(layers)}, {"view", {{"style", "panel"}}}};
}

/// The correlation of the posterior's draws, as a number.
nlohmann::json correlation_view(const Results& results, std::size_t a, std::size_t b) {
  const double r = correlation(column(results.posterior->values, a), column(results.posterior->values, b));
  nlohmann::json text = mark("text", "number");
  text["text"] = fmt::format("{}{:.2f}", r < -0.005 ? "−" : "", std::abs(r));
  return {{"data", {{"values", {nlohmann::json::object()}}}}, {"mark", std::move(text)}};
}

std::optional<Drawing> draw_pair_plot(const Results& results) {
  if (!results.posterior || results.posterior->parameters.empty()) return std::nullopt;
  const std::vector<std::string>& names = results.posterior->parameters;
  const std::vector<std::size_t> shown = pairs_shown(*results.posterior);
  const std::size_t d = shown.size();
  std::vector<nlohmann::json> views;
  for (std::size_t row = 0; row < d; ++row) {
    for (std::size_t col = 0; col < d; ++col) {
      const nlohmann::json x_axis = row + 1 == d ? small_axis(names[shown[col]]) : nlohmann::json();
      nlohmann::json y_axis = col == 0 ? small_axis(names[shown[row]]) : nlohmann::json();
      if (y_axis.is_object()) y_axis["minExtent"] = 32;  // titles of all rows in one line
      if (col == row) {
        views.push_back(marginal_view(results, shown[row], x_axis));
      } else if (col < row) {
        views.push_back(pair_view(results, shown[col], shown[row], x_axis, y_axis));
      } else {
        views.push_back(correlation_view(results, shown[col], shown[row]));
      }
    }
  }
  Drawing drawing;
  Layout layout{.columns = d,
                .width = d <= 3 ? 180.0 : 130.0,
                .least = 62,
                .most = std::clamp(900.0 / static_cast<double>(d), 150.0, 300.0)};
  if (d == 1) layout = {.columns = 1, .width = 420, .least = 200, .most = 560, .aspect = 0.5};
  drawing.spec = grid(std::move(views), layout);
  drawing.key =
      d == 1
          ? posterior_key(results, "posterior", "reference")
          : posterior_key(results, fmt::format("posterior, regions of 50 % and {:.6g} %", 100 * results.style.interval),
                          "reference, the same regions");
  drawing.caption = d == 1 ? "" : "Numbers above the diagonal are correlations.";
  if (d < names.size()) {
    drawing.caption +=
        fmt::format(" Shown are the {} of {} parameters that depend most on another one; all are in the next figure.",
                    d, names.size());
  }
  return drawing;
}

}  // namespace

/// Those with the largest correlation, in absolute value, with any other one; in their original order.
std::vector<std::size_t> pairs_shown(const DrawSet& posterior) {
  const std::size_t d = posterior.parameters.size();
  std::vector<std::size_t> order(d);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (d <= most_pairs_shown) return order;
  std::vector<std::vector<double>> columns;
  for (std::size_t p = 0; p < d; ++p) columns.push_back(column(posterior.values, p));
  std::vector<double> strongest(d, 0.0);
  for (std::size_t a = 0; a < d; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const double r = std::abs(correlation(columns[a], columns[b]));
      strongest[a] = std::max(strongest[a], r);
      strongest[b] = std::max(strongest[b], r);
    }
  }
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t p) { return strongest[p]; });
  order.resize(most_pairs_shown);
  std::ranges::sort(order);
  return order;
}

Figure pair_plot_figure() { return {"pair_plot", "The posterior", true, draw_pair_plot}; }

}  // namespace catena::report
