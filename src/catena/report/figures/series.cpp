// The observed series, one row per state, with the posterior predictive band behind it where the file has one.

#include "catena/report/figures/times.h"

namespace catena::report {

namespace {

nlohmann::json state_view(const Results& results, std::size_t state, bool last) {
  const files::Series& series = *results.observed;
  const auto time = [&](std::size_t t) { return time_of(series, t); };
  const nlohmann::json x = time_channel(last);
  nlohmann::json y = {
      {"field", "y"},
      {"type", "quantitative"},
      {"scale", {{"zero", false}, {"nice", true}}},
      {"axis", {{"title", axis_label(state_name(series, state))}, {"tickCount", 3}, {"minExtent", 32}}}};
  nlohmann::json layers = nlohmann::json::array();
  const std::vector<std::size_t> times = times_drawn(series.values, state);
  if (results.predictive && results.predictive->low.rows() == series.values.rows() &&
      state < results.predictive->low.cols()) {
    const Predictive& predictive = *results.predictive;
    nlohmann::json values = nlohmann::json::array();
    std::vector<std::pair<double, double>> medians;
    for (const std::size_t t : times) {
      values.push_back({{"x", rounded(time(t))},
                        {"y", rounded(predictive.low(t, state))},
                        {"y2", rounded(predictive.high(t, state))}});
      medians.emplace_back(time(t), predictive.median(t, state));
    }
    layers.push_back({{"data", {{"values", std::move(values)}}},
                      {"mark", mark("area", "density_area")},
                      {"encoding", {{"x", x}, {"y", y}, {"y2", {{"field", "y2"}}}}}});
    layers.push_back(
        {{"data", data_of(medians)}, {"mark", mark("line", "posterior")}, {"encoding", {{"x", x}, {"y", y}}}});
  }
  std::vector<std::pair<double, double>> points;
  for (const std::size_t t : times) points.emplace_back(time(t), series.values(t, state));
  nlohmann::json line = mark("line", "reference");
  if (points.size() <= 60) line["point"] = {{"size", 14}, {"style", "series_dots"}};
  layers.push_back({{"data", data_of(points)}, {"mark", std::move(line)}, {"encoding", {{"x", x}, {"y", y}}}});
  return {{"layer", std::move(layers)}};
}

std::optional<Drawing> draw_series(const Results& results) {
  if (!results.observed || results.observed->values.rows() < 2) return std::nullopt;
  const std::size_t states = results.observed->values.cols(), shown = std::min(states, most_states);
  std::vector<nlohmann::json> views;
  for (std::size_t s = 0; s < shown; ++s) views.push_back(state_view(results, s, s + 1 == shown));
  Drawing drawing;
  drawing.spec = grid(std::move(views), row_layout(shown));
  if (results.predictive) {
    drawing.key = {{"line", "reference", "observed"}, {"area", "posterior", "posterior predictive, median and 90 %"}};
  }
  if (shown < states) drawing.caption = fmt::format("The first {} of {} states.", shown, states);
  return drawing;
}

}  // namespace

Figure series_figure() { return {"series", "The observed series", false, draw_series}; }

}  // namespace catena::report
