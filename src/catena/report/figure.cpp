#include "catena/report/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "catena/report/theme.h"

namespace catena::report {

// One line per figure: its maker, defined in figures/NAME.cpp.
Figure pair_plot_figure();
Figure marginals_figure();
Figure correction_figure();
Figure series_figure();
Figure one_step_figure();
Figure information_figure();
Figure calibration_figure();
Figure learning_curve_figure();

const Registry<Figure>& figures() {
  static const Registry<Figure> registry("figure", {
                                                       pair_plot_figure(),
                                                       marginals_figure(),
                                                       correction_figure(),
                                                       series_figure(),
                                                       one_step_figure(),
                                                       information_figure(),
                                                       calibration_figure(),
                                                       learning_curve_figure(),
                                                   });
  return registry;
}

namespace {

/// The light theme's colours in words, for the line below a title.
std::string_view colour_word(std::string_view colour) {
  if (colour == "posterior") return "blue";
  if (colour == "truth") return "orange";
  return colour == "reference" ? "black" : "grey";
}

}  // namespace

std::vector<DrawnFigure> draw_all(const Results& results) {
  std::vector<DrawnFigure> drawn;
  for (const Figure& figure : figures()) {
    std::optional<Drawing> drawing = figure.draw(results);
    if (!drawing) continue;
    std::string key;
    for (const KeyEntry& entry : drawing->key) {
      key += fmt::format("{}{}: {}", key.empty() ? "" : " · ", colour_word(entry.colour), entry.label);
    }
    drawing->spec["title"] = {{"text", figure.title}};
    if (!key.empty()) drawing->spec["title"]["subtitle"] = key;
    drawn.push_back({std::string(figure.name), std::string(figure.title), figure.of_posterior, std::move(*drawing)});
  }
  return drawn;
}

nlohmann::json grid(std::vector<nlohmann::json> views, const Layout& layout) {
  const double height = layout.height > 0 ? layout.height : std::round(layout.width * layout.aspect);
  for (nlohmann::json& view : views) {
    view["width"] = layout.width;
    view["height"] = height;
    if (!view.contains("layer")) continue;
    // A title longer than its axis would run into its neighbours.
    for (nlohmann::json& layer : view["layer"]) {
      for (const auto& [channel, length] : {std::pair("x", layout.width), std::pair("y", height)}) {
        if (!layer["encoding"].contains(channel)) continue;
        nlohmann::json& axis = layer["encoding"][channel]["axis"];
        if (axis.is_object()) axis["titleLimit"] = length;
      }
    }
  }
  nlohmann::json spec;
  spec["$schema"] = "https://vega.github.io/schema/vega-lite/v5.json";
  spec["usermeta"]["catena"] = {{"columns", layout.columns}, {"fixed", layout.fixed},   {"least", layout.least},
                                {"most", layout.most},       {"aspect", layout.aspect}, {"height", layout.height},
                                {"spacing", layout.spacing}, {"views", views.size()}};
  spec["concat"] = std::move(views);
  spec["columns"] = layout.columns;
  spec["align"] = "all";
  spec["bounds"] = "flush";
  spec["spacing"] = layout.spacing;
  spec["config"] = vega_config(light_palette());
  spec["background"] = "white";
  spec["padding"] = 12;
  return spec;
}

nlohmann::json rounded(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (value == 0) return 0.0;
  const double scale = std::pow(10.0, 8 - std::floor(std::log10(std::abs(value))));
  const double result = std::round(value * scale) / scale;
  return std::isfinite(result) ? result : value;
}

nlohmann::json data_of(const std::vector<std::pair<double, double>>& points) {
  nlohmann::json values = nlohmann::json::array();
  for (const auto& [x, y] : points) values.push_back({{"x", rounded(x)}, {"y", rounded(y)}});
  return {{"values", std::move(values)}};
}

nlohmann::json mark(std::string_view type, std::string_view style) { return {{"type", type}, {"style", style}}; }

std::pair<double, double> padded_range(double low, double high) {
  const double margin = high > low ? 0.04 * (high - low) : std::max(1e-6, 0.05 * std::abs(low));
  return {low - margin, high + margin};
}

std::string axis_label(const std::string& name) {
  constexpr std::size_t longest = 32;  // bytes; cut between characters
  if (name.size() <= longest) return name;
  std::size_t end = longest - 1;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) --end;
  return name.substr(0, end) + "…";
}

}  // namespace catena::report
