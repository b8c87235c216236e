// The observed series, one row per state, with the posterior predictive band behind it and the
// forecast beyond it, where the files have them.

#include "catena/report/figures/times.h"

namespace catena::report {

namespace {

using Points = std::vector<std::pair<nlohmann::json, double>>;

/// A band and the line of its medians.
class BandLayers {
 public:
  void add(const nlohmann::json& x, const Predictive& band, std::size_t row, std::size_t state) {
    area_.push_back({{"x", x}, {"y", rounded(band.low(row, state))}, {"y2", rounded(band.high(row, state))}});
    medians_.emplace_back(x, band.median(row, state));
  }
  void add_to(nlohmann::json& layers, const char* area, nlohmann::json line, const nlohmann::json& x,
              const nlohmann::json& y) {
    layers.push_back({{"data", {{"values", std::move(area_)}}},
                      {"mark", mark("area", area)},
                      {"encoding", {{"x", x}, {"y", y}, {"y2", {{"field", "y2"}}}}}});
    layers.push_back({{"data", data_along(medians_)}, {"mark", std::move(line)}, {"encoding", {{"x", x}, {"y", y}}}});
  }

 private:
  nlohmann::json area_ = nlohmann::json::array();
  Points medians_;
};

bool fits(const std::optional<Predictive>& band, std::size_t state) { return band && state < band->low.cols(); }

nlohmann::json state_view(const Results& results, std::size_t state, bool last) {
  const files::Series& series = *results.observed;
  const nlohmann::json x = time_channel(series, last);
  nlohmann::json y = {
      {"field", "y"},
      {"type", "quantitative"},
      {"scale", {{"zero", false}, {"nice", true}}},
      {"axis", {{"title", axis_label(state_name(series, state))}, {"tickCount", 3}, {"minExtent", 32}}}};
  nlohmann::json layers = nlohmann::json::array();
  const std::vector<std::size_t> times = times_drawn(series.values, state);
  if (fits(results.predictive, state) && results.predictive->low.rows() == series.values.rows()) {
    BandLayers band;
    for (const std::size_t t : times) band.add(along(series, t), *results.predictive, t, state);
    band.add_to(layers, "density_area", mark("line", "posterior"), x, y);
  }
  if (fits(results.forecast, state)) {
    BandLayers band;
    const Predictive& forecast = *results.forecast;
    const double end = series.times.empty() ? static_cast<double>(series.values.rows()) : 0;
    for (std::size_t h = 0; h < forecast.low.rows(); ++h) {
      const double time = forecast.times.empty() ? end + static_cast<double>(h) : forecast.times[h];
      band.add(along(series, time), forecast, h, state);
    }
    nlohmann::json line = mark("line", "faint");
    line["strokeDash"] = {4, 3};
    band.add_to(layers, "band", std::move(line), x, y);
  }
  Points points;
  for (const std::size_t t : times) points.emplace_back(along(series, t), series.values(t, state));
  nlohmann::json line = mark("line", "reference");
  if (points.size() <= 60) line["point"] = {{"size", 14}, {"style", "series_dots"}};
  layers.push_back({{"data", data_along(points)}, {"mark", std::move(line)}, {"encoding", {{"x", x}, {"y", y}}}});
  return {{"layer", std::move(layers)}};
}

std::optional<Drawing> draw_series(const Results& results) {
  if (!results.observed || results.observed->values.rows() < 2) return std::nullopt;
  const std::size_t states = results.observed->values.cols(), shown = std::min(states, most_states);
  std::vector<nlohmann::json> views;
  for (std::size_t s = 0; s < shown; ++s) views.push_back(state_view(results, s, s + 1 == shown));
  Drawing drawing;
  drawing.spec = grid(std::move(views), row_layout(shown));
  const std::string share = fmt::format("median and {:.6g} %", 100 * results.style.interval);
  if (results.predictive || results.forecast) drawing.key = {{"line", "reference", "observed"}};
  if (results.predictive) drawing.key.push_back({"area", "posterior", "posterior predictive, " + share});
  if (results.forecast) drawing.key.push_back({"area", "muted", "forecast, " + share});
  if (shown < states) drawing.caption = fmt::format("The first {} of {} states.", shown, states);
  return drawing;
}

}  // namespace

Figure series_figure() { return {"series", "The observed series", false, draw_series}; }

}  // namespace catena::report
