#include "catena/model/features.h"

#include <algorithm>
#include <cmath>

#include "catena/core/check.h"

namespace catena::model {

std::size_t Features::expected_size() const {
  return condition() + target() + (shape_.time ? 1 : 0) + (shape_.step ? 1 : 0) + (shape_.initial() ? 1 : 0);
}

double Features::raw(std::size_t i, const simulate::RecordView& record) const {
  const std::size_t n = shape_.states;
  if (i < condition()) return i < n ? record.x[i] : record.x[i - n] - record.x[i];
  i -= condition();
  if (i < target()) {
    if (i >= n) return record.x_next[i] - record.x_next[i - n];
    return shape_.initial() ? record.x_next[i] : record.x_next[i] - record.x[i];
  }
  i -= target();
  if (shape_.time && i == 0) return record.time;
  return shape_.step ? std::log(record.step) : 0;
}

Features::Features(const simulate::TransitionSet& set) : shape_(set.shape()), all_(expected_size()) {
  const std::size_t rows = set.size();
  check::at_least("train", "the number of transitions", rows, std::size_t{2});
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const auto value = [&](std::size_t r) { return raw(i, set.record(r)); };
    Feature& feature = all_[i];
    feature.low = feature.high = value(0);
    double sum = 0, squares = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      sum += value(r);
      feature.low = std::min(feature.low, value(r));
      feature.high = std::max(feature.high, value(r));
    }
    feature.mean = sum / static_cast<double>(rows);
    for (std::size_t r = 0; r < rows; ++r) squares += (value(r) - feature.mean) * (value(r) - feature.mean);
    const double sd = std::sqrt(squares / static_cast<double>(rows - 1));
    // A coordinate that never varies says nothing; it is left at its own scale.
    feature.scale = sd > 0 && std::isfinite(sd) ? sd : 1;
  }
}

void Features::apply(const simulate::RecordView& record, std::span<float> c) const {
  for (std::size_t i = 0; i < all_.size(); ++i) {
    c[i] = static_cast<float>((raw(i, record) - all_[i].mean) / all_[i].scale);
  }
}

double Features::excess(const simulate::RecordView& record) const {
  double worst = 0;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const double value = raw(i, record);
    worst = std::max({worst, (all_[i].low - value) / all_[i].scale, (value - all_[i].high) / all_[i].scale});
  }
  return worst;
}

nlohmann::json Features::to_json() const {
  nlohmann::json json = {{"states", states()}, {"mean", nlohmann::json::array()}};
  if (!shape_.plain()) json["records"] = shape_.to_json();
  for (const Feature& feature : all_) {
    json["mean"].push_back(feature.mean);
    json["scale"].push_back(feature.scale);
    json["low"].push_back(feature.low);
    json["high"].push_back(feature.high);
  }
  return json;
}

Features Features::from_json(const std::string& source, const nlohmann::json& json) {
  const auto wrong = [&] { throw FileError(fmt::format("{}: its features are not those of a model", source)); };
  const auto column = [&](const char* name, std::size_t i) {
    const auto found = json.find(name);
    if (found == json.end() || !found->is_array() || i >= found->size() || !(*found)[i].is_number()) wrong();
    return (*found)[i].get<double>();
  };
  if (!json.is_object() || !json.contains("states") || !json["states"].is_number_unsigned() || !json.contains("mean") ||
      !json["mean"].is_array()) {
    wrong();
  }
  Features features;
  features.all_.resize(json["mean"].size());
  if (json.contains("records")) {
    features.shape_ = simulate::RecordShape::from_json(source, json["records"]);
  } else {
    features.shape_.states = json["states"].get<std::size_t>();
    if (features.shape_.states < 1 || features.all_.size() / 2 != features.shape_.states) wrong();
    features.shape_.time = features.all_.size() % 2 == 1;
  }
  if (features.all_.size() != features.expected_size()) wrong();
  for (std::size_t i = 0; i < features.all_.size(); ++i) {
    features.all_[i] = {column("mean", i), column("scale", i), column("low", i), column("high", i)};
    if (!(features.all_[i].scale > 0)) wrong();
  }
  return features;
}

}  // namespace catena::model
