/// What figures along the series share: which rows to draw, where they stand, what states are called. Internal to
/// figures/.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "catena/report/figure.h"

namespace catena::report {

constexpr std::size_t most_states = 8;
constexpr std::size_t most_points = 1500;  // more than pixels; beyond it a bucket's extremes stand for all of it

/// Which times to draw: all, or the smallest and the largest of each bucket and what is missing.
inline std::vector<std::size_t> times_drawn(const Matrix& values, std::size_t state) {
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

/// A time along the axis: of dates, the milliseconds that Vega counts in.
inline nlohmann::json along(const files::Series& series, double time) {
  if (!series.calendar) return rounded(time);
  return static_cast<std::int64_t>(std::llround(1000 * series.calendar->seconds(time)));
}

/// Where row t stands along the axis: its time, or its number.
inline nlohmann::json along(const files::Series& series, std::size_t t) {
  return along(series, series.times.empty() ? static_cast<double>(t) : series.times[t]);
}

/// {"values": [{"x": …, "y": …}, …]} of points whose x is along the axis.
inline nlohmann::json data_along(const std::vector<std::pair<nlohmann::json, double>>& points) {
  nlohmann::json values = nlohmann::json::array();
  for (const auto& [x, y] : points) values.push_back({{"x", x}, {"y", rounded(y)}});
  return {{"values", std::move(values)}};
}

inline std::string state_name(const files::Series& series, std::size_t state) {
  return series.names.empty() ? fmt::format("x{}", state) : series.names[state];
}

/// The axis of time, with labels below the last row only.
inline nlohmann::json time_channel(const files::Series& series, bool last) {
  if (series.calendar) {
    return {{"field", "x"},
            {"type", "temporal"},
            {"scale", {{"type", "utc"}, {"nice", false}}},
            {"axis", last ? nlohmann::json{{"title", nullptr}, {"tickCount", 6}} : nlohmann::json()}};
  }
  return {{"field", "x"},
          {"type", "quantitative"},
          {"scale", {{"nice", false}, {"zero", false}}},
          {"axis", last ? nlohmann::json{{"title", "time"}, {"tickCount", 6}} : nlohmann::json()}};
}

/// Rows of equal width below each other.
inline Layout row_layout(std::size_t rows) {
  return {.width = 640,
          .least = 200,
          .most = 1000,
          .height = rows == 1   ? 200.0
                    : rows == 2 ? 140.0
                                : 90.0,
          .spacing = 16};
}

}  // namespace catena::report
