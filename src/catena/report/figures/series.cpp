// The observed series, one row per state, with the posterior predictive band behind it and the
// forecast beyond it, where the files have them, and the covariates that acted on it below.

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

constexpr std::size_t most_covariates = 4;  // half of most_states: the states are what the figure is about

nlohmann::json value_channel(const std::string& name) {
  return {{"field", "y"},
          {"type", "quantitative"},
          {"scale", {{"zero", false}, {"nice", true}}},
          {"axis", {{"title", axis_label(name)}, {"tickCount", 3}, {"minExtent", 32}}}};
}

double forecast_time(const files::Series& series, const Predictive& forecast, std::size_t h) {
  if (!forecast.times.empty()) return forecast.times[h];
  return static_cast<double>(h) + (series.times.empty() ? static_cast<double>(series.values.rows()) : 0);
}

/// The axis of time; with covariates one range for all rows, for these end where the forecast begins.
nlohmann::json shared_time(const Results& results, bool last) {
  const files::Series& series = *results.observed;
  nlohmann::json channel = time_channel(series, last);
  if (series.covariate_names.empty()) return channel;
  nlohmann::json end = along(series, series.values.rows() - 1);
  if (results.forecast && results.forecast->low.rows() > 0) {
    const nlohmann::json ahead =
        along(series, forecast_time(series, *results.forecast, results.forecast->low.rows() - 1));
    if (ahead.get<double>() > end.get<double>()) end = ahead;
  }
  channel["scale"]["domain"] = {along(series, std::size_t{0}), end};
  return channel;
}

nlohmann::json covariate_view(const Results& results, std::size_t covariate, bool last) {
  const files::Series& series = *results.observed;
  Points points;
  for (const std::size_t t : times_drawn(series.covariates, covariate)) {
    points.emplace_back(along(series, t), series.covariates(t, covariate));
  }
  nlohmann::json layers = nlohmann::json::array();
  layers.push_back(
      {{"data", data_along(points)},
       {"mark", mark("line", "faint")},
       {"encoding", {{"x", shared_time(results, last)}, {"y", value_channel(series.covariate_names[covariate])}}}});
  return {{"layer", std::move(layers)}};
}

nlohmann::json state_view(const Results& results, std::size_t state, bool last) {
  const files::Series& series = *results.observed;
  const nlohmann::json x = shared_time(results, last), y = value_channel(state_name(series, state));
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
    for (std::size_t h = 0; h < forecast.low.rows(); ++h) {
      band.add(along(series, forecast_time(series, forecast, h)), forecast, h, state);
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
  const std::size_t known = results.observed->covariate_names.size(), below = std::min(known, most_covariates);
  std::vector<nlohmann::json> views;
  for (std::size_t s = 0; s < shown; ++s) views.push_back(state_view(results, s, below == 0 && s + 1 == shown));
  for (std::size_t i = 0; i < below; ++i) views.push_back(covariate_view(results, i, i + 1 == below));
  Drawing drawing;
  drawing.spec = grid(std::move(views), row_layout(shown + below));
  const std::string share = fmt::format("median and {:.6g} %", 100 * results.style.interval);
  if (results.predictive || results.forecast) drawing.key = {{"line", "reference", "observed"}};
  if (results.predictive) drawing.key.push_back({"area", "posterior", "posterior predictive, " + share});
  if (results.forecast) drawing.key.push_back({"area", "muted", "forecast, " + share});
  if (shown < states) drawing.caption = fmt::format("The first {} of {} states.", shown, states);
  if (below == 0) return drawing;
  if (!drawing.caption.empty()) drawing.caption += ' ';
  drawing.caption += below == known ? "Below the states: the covariates that acted on the steps."
                                    : fmt::format("Below the states: the first {} of {} covariates.", below, known);
  return drawing;
}

}  // namespace

Figure series_figure() { return {"series", "The observed series", false, draw_series}; }

}  // namespace catena::report
