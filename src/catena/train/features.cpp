#include "catena/train/features.h"

#include <algorithm>
#include <cmath>

#include "catena/core/check.h"

namespace catena::train {

Features::Features(const simulate::TransitionSet& set) : states_(set.x.cols()), all_(2 * states_ + set.time.cols()) {
  const std::size_t rows = set.size();
  check::at_least("train", "the number of transitions", rows, std::size_t{2});
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const auto value = [&](std::size_t r) {
      return raw(i, set.x.row(r), set.x_next.row(r), set.time.cols() > 0 ? set.time(r, 0) : 0);
    };
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

void Features::apply(std::span<const double> x, std::span<const double> x_next, double time, std::span<float> c) const {
  for (std::size_t i = 0; i < all_.size(); ++i) {
    c[i] = static_cast<float>((raw(i, x, x_next, time) - all_[i].mean) / all_[i].scale);
  }
}

double Features::excess(std::span<const double> x, std::span<const double> x_next, double time) const {
  double worst = 0;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const double value = raw(i, x, x_next, time);
    worst = std::max({worst, (all_[i].low - value) / all_[i].scale, (value - all_[i].high) / all_[i].scale});
  }
  return worst;
}

nlohmann::json Features::to_json() const {
  nlohmann::json json = {{"states", states_}, {"mean", nlohmann::json::array()}};
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
  features.states_ = json["states"].get<std::size_t>();
  features.all_.resize(json["mean"].size());
  if (features.states_ < 1 || features.all_.size() / 2 != features.states_) wrong();
  for (std::size_t i = 0; i < features.all_.size(); ++i) {
    features.all_[i] = {column("mean", i), column("scale", i), column("low", i), column("high", i)};
    if (!(features.all_[i].scale > 0)) wrong();
  }
  return features;
}

}  // namespace catena::train
