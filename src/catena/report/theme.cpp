#include "catena/report/theme.h"

#include <fmt/format.h>

namespace catena::report {

// One hue for what was inferred, ink for what it is compared with, one warm accent for what is true. Blue and orange
// stay apart for every kind of colour blindness; each colour has a contrast of 3:1 or more against its background.
Palette light_palette() { return {"#1f2933", "#6b7785", "#d9dee4", "#2b6cb0", "#1f2933", "#d9480f"}; }
Palette dark_palette() { return {"#e4e9ee", "#98a4b0", "#37414c", "#5aa2e6", "#f1f4f7", "#ff8a4c"}; }
Palette css_palette() {
  return {"var(--ink)", "var(--muted)", "var(--line)", "var(--posterior)", "var(--reference)", "var(--truth)"};
}

std::string css_variables(const Palette& p) {
  return fmt::format("--ink: {}; --muted: {}; --line: {}; --posterior: {}; --reference: {}; --truth: {};", p.ink,
                     p.muted, p.line, p.posterior, p.reference, p.truth);
}

nlohmann::json vega_config(const Palette& p) {
  constexpr const char* font = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
  nlohmann::json config;
  config["background"] = nullptr;
  config["font"] = font;
  config["view"] = {{"stroke", nullptr}};
  config["axis"] = {{"domainColor", p.muted}, {"domainWidth", 1},    {"grid", false},
                    {"tickColor", p.muted},   {"tickSize", 4},       {"tickWidth", 1},
                    {"labelColor", p.muted},  {"labelFontSize", 11}, {"labelPadding", 3},
                    {"titleColor", p.ink},    {"titleFontSize", 13}, {"titleFontWeight", "normal"},
                    {"titlePadding", 8},      {"labelOverlap", true}};
  config["title"] = {{"color", p.ink},           {"fontSize", 16},         {"fontWeight", 600},    {"anchor", "start"},
                     {"subtitleColor", p.muted}, {"subtitleFontSize", 12}, {"subtitlePadding", 5}, {"offset", 14}};
  config["aria"] = false;  // a description of every point helps nobody; the page describes each figure once
  const auto area = [](const std::string& colour, double opacity) {
    return nlohmann::json{{"color", colour}, {"fillOpacity", opacity}};
  };
  const auto line = [](const std::string& colour, double width) {
    return nlohmann::json{{"color", colour}, {"strokeWidth", width}, {"strokeJoin", "round"}};
  };
  const auto dots = [](const std::string& colour, double size, double opacity) {
    return nlohmann::json{{"color", colour}, {"filled", true}, {"size", size}, {"opacity", opacity}};
  };
  config["style"] = {
      {"region_90", area(p.posterior, 0.22)},
      {"region_50", area(p.posterior, 0.42)},
      {"density_area", area(p.posterior, 0.25)},
      {"posterior", line(p.posterior, 1.6)},
      {"posterior_dots", dots(p.posterior, 14, 0.55)},
      {"reference", line(p.reference, 1.2)},
      {"truth", line(p.truth, 1.6)},
      {"truth_dot", dots(p.truth, 32, 1)},
      {"panel", {{"stroke", p.line}, {"strokeWidth", 1}}},
      {"series_dots", dots(p.reference, 14, 1)},
      {"number", {{"color", p.muted}, {"fontSize", 12}, {"align", "center"}, {"baseline", "middle"}}},
      {"bar", area(p.posterior, 0.75)},
      {"band", area(p.muted, 0.2)},
      {"zero", line(p.muted, 1)},
      {"faint", line(p.muted, 1.3)},
      {"alarm", line(p.truth, 1.8)},
  };
  return config;
}

}  // namespace catena::report
