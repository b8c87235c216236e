// The observed series, one row per state, with the posterior predictive band behind it where the file has one.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "catena/report/figure.h"

namespace catena::report {

namespace {

constexpr std::size_t most_states = 8;
constexpr std::size_t most_points = 1500;  // more than pixels; beyond it a bucket's extremes stand for all of it

/// Which times to draw: all, or the smallest and the largest of each bucket and what is missing.
std::vector<std::size_t> times_drawn(const Matrix& values, std::size_t state) {
  std::vector<std::size_t> times;
  const std::size_t bucket = std::max<std::size_t>(1, 2 * values.rows() / most_points);
  for (std::size_t begin = 0; begin < values.rows(); begin += bucket) {
    const std::size_t end = std::min(begin + bucket, values.rows());
    std::size_t low = begin, high = begin;
    for (std::size_t t = begin; t < end; ++t) {
      if (!(values(t, state) >= values(low, state))) low = t;
      if (!(values(t, state) <= values(high, state))) high = t;
    }
    times.push_back(std::min(low, high));
    if (low != high) times.push_back(std::max(low, high));
  }
  return times;
}

nlohmann::json state_view(const Results& results, std::size_t state, bool last) {
  const files::Series& series = *results.observed;
  const auto time = [&](std::size_t t) { return series.times.empty() ? static_cast<double>(t) : series.times[t]; };
  const std::string name = series.names.empty() ? fmt::format("x{}", state) : series.names[state];
  const nlohmann::json x = {{"field", "x"},
                            {"type", "quantitative"},
                            {"scale", {{"nice", false}, {"zero", false}}},
                            {"axis", last ? nlohmann::json{{"title", "time"}, {"tickCount", 6}} : nlohmann::json()}};
  nlohmann::json y = {{"field", "y"},
                      {"type", "quantitative"},
                      {"scale", {{"zero", false}, {"nice", true}}},
                      {"axis", {{"title", axis_label(name)}, {"tickCount", 3}, {"minExtent", 32}}}};
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

std::optional<Drawing> draw(const Results& results) {
  if (!results.observed || results.observed->values.rows() < 2) return std::nullopt;
  const std::size_t states = results.observed->values.cols(), shown = std::min(states, most_states);
  std::vector<nlohmann::json> views;
  for (std::size_t s = 0; s < shown; ++s) views.push_back(state_view(results, s, s + 1 == shown));
  Drawing drawing;
  drawing.spec = grid(std::move(views), {.width = 640,
                                         .least = 200,
                                         .most = 1000,
                                         .height = shown == 1   ? 200.0
                                                   : shown == 2 ? 140.0
                                                                : 90.0,
                                         .spacing = 16});
  if (results.predictive) {
    drawing.key = {{"line", "reference", "observed"}, {"area", "posterior", "posterior predictive, median and 90 %"}};
  }
  if (shown < states) drawing.caption = fmt::format("The first {} of {} states.", shown, states);
  return drawing;
}

}  // namespace

Figure series_figure() { return {"series", "The observed series", false, draw}; }

}  // namespace catena::report
