// One step ahead: each observed state minus the median of what the simulator makes of the state before it, with the
// central 90 % of that, or another share. A simulator that fits has so many values inside, and no pattern over time.

#include <cmath>

#include "catena/report/figures/times.h"

namespace catena::report {

namespace {

nlohmann::json state_step_view(const files::Series& series, const Predictive& band, std::size_t state, bool last) {
  const nlohmann::json x = time_channel(series, last);
  const nlohmann::json y = {
      {"field", "y"},
      {"type", "quantitative"},
      {"scale", {{"zero", true}, {"nice", true}}},
      {"axis", {{"title", axis_label(state_name(series, state))}, {"tickCount", 3}, {"minExtent", 32}}}};
  nlohmann::json area = nlohmann::json::array();
  std::vector<std::pair<nlohmann::json, double>> inside, outside;
  Matrix difference = series.values;
  for (std::size_t t = 0; t < difference.rows(); ++t) difference(t, state) -= band.median(t, state);
  for (const std::size_t t : times_drawn(difference, state)) {
    if (t == 0) continue;  // the start is given, not foreseen
    const double low = band.low(t, state) - band.median(t, state), high = band.high(t, state) - band.median(t, state);
    area.push_back({{"x", along(series, t)}, {"y", rounded(low)}, {"y2", rounded(high)}});
    const double value = difference(t, state);
    if (std::isfinite(value)) (value < low || value > high ? outside : inside).emplace_back(along(series, t), value);
  }
  nlohmann::json layers = nlohmann::json::array();
  layers.push_back({{"data", {{"values", std::move(area)}}},
                    {"mark", mark("area", "density_area")},
                    {"encoding", {{"x", x}, {"y", y}, {"y2", {{"field", "y2"}}}}}});
  const auto add_dots = [&](const std::vector<std::pair<nlohmann::json, double>>& points, const char* style) {
    if (points.empty()) return;  // Vega warns of an axis without values
    layers.push_back(
        {{"data", data_along(points)}, {"mark", mark("point", style)}, {"encoding", {{"x", x}, {"y", y}}}});
  };
  add_dots(inside, "series_dots");
  add_dots(outside, "truth_dot");
  return {{"layer", std::move(layers)}};
}

std::optional<Drawing> draw_one_step(const Results& results) {
  if (!results.observed || !results.one_step) return std::nullopt;
  const files::Series& series = *results.observed;
  const Predictive& band = *results.one_step;
  if (band.low.rows() != series.values.rows() || band.low.cols() != series.values.cols() || series.values.rows() < 2) {
    return std::nullopt;
  }
  const std::size_t states = series.values.cols(), shown = std::min(states, most_states);
  std::vector<nlohmann::json> views;
  for (std::size_t s = 0; s < shown; ++s) views.push_back(state_step_view(series, band, s, s + 1 == shown));
  Drawing drawing;
  drawing.spec = grid(std::move(views), row_layout(shown));
  drawing.key = {
      {"dot", "reference", "observed minus the median"},
      {"area", "posterior",
       fmt::format("central {:.6g} % of what the simulator makes of the state before", 100 * results.style.interval)},
      {"dot", "truth", "outside"}};
  drawing.caption =
      fmt::format("By chance {:.6g} % of the values lie outside; more, or a pattern over time, is a misfit.",
                  100 * (1 - results.style.interval));
  if (shown < states) drawing.caption += fmt::format(" The first {} of {} states.", shown, states);
  return drawing;
}

}  // namespace

Figure one_step_figure() { return {"one_step", "One step ahead", false, draw_one_step}; }

}  // namespace catena::report
