#include "catena/model/features.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "catena/core/check.h"

namespace catena::model {

std::size_t Features::without_periods() const {
  return condition() + target() + (shape_.time ? 1 : 0) + (shape_.step ? 1 : 0) + (shape_.initial() ? 1 : 0) +
         shape_.inputs();
}

bool Features::logarithmic(std::size_t i) const {
  return std::ranges::find(logarithmic_, i % shape_.states) != logarithmic_.end();
}

const Feature& Features::plain(std::size_t i) const {
  const auto found = std::ranges::find(logarithmic_, i);
  return found == logarithmic_.end() ? all_[i] : plain_[static_cast<std::size_t>(found - logarithmic_.begin())];
}

double Features::raw(std::size_t i, const simulate::RecordView& record) const {
  const std::size_t n = shape_.states;
  const std::size_t state = i < condition() ? i : i - condition();
  const bool in_logarithms = !logarithmic_.empty() && i < condition() + target() && logarithmic(state);
  const auto seen = [&](double x) { return in_logarithms ? std::log(x) : x; };
  if (i < condition()) return i < n ? seen(record.x[i]) : seen(record.x[i - n]) - seen(record.x[i]);
  i -= condition();
  if (i < target()) {
    if (i >= n) return seen(record.x_next[i]) - seen(record.x_next[i - n]);
    return shape_.initial() ? seen(record.x_next[i]) : seen(record.x_next[i]) - seen(record.x[i]);
  }
  i -= target();
  if (shape_.time && i == 0) return record.time;
  if (const std::size_t first = without_periods() - condition() - target(); i >= first) {
    const double angle = 2 * std::numbers::pi * record.time / periods_[(i - first) / 2];
    return (i - first) % 2 == 0 ? std::sin(angle) : std::cos(angle);
  }
  if (const std::size_t first = without_periods() - condition() - target() - shape_.inputs(); i >= first) {
    return record.u[i - first];
  }
  return shape_.step ? std::log(record.step) : 0;
}

namespace {

/// Mean, deviation and range of value(r) over rows r.
template <class Value>
Feature feature_of(std::size_t rows, const Value& value) {
  Feature feature;
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
  // A coordinate that never varies says nothing; it is left at its own scale. Its deviation need not be zero: the mean
  // of equal numbers is rounded.
  feature.scale = feature.low < feature.high && sd > 0 && std::isfinite(sd) ? sd : 1;
  return feature;
}

}  // namespace

Features::Features(const simulate::TransitionSet& set, std::vector<std::size_t> logarithmic,
                   std::vector<double> periods)
    : shape_(set.shape()), periods_(std::move(periods)), all_(expected_size()), logarithmic_(std::move(logarithmic)) {
  const std::size_t rows = set.size();
  CATENA_ASSERT(periods_.empty() || shape_.time);
  check::at_least("train", "the number of transitions", rows, std::size_t{2});
  std::ranges::sort(logarithmic_);
  for (std::size_t i = 0; i < all_.size(); ++i) {
    all_[i] = feature_of(rows, [&](std::size_t r) { return raw(i, set.record(r)); });
  }
  joint_ = JointRange(standardised(set));
  if (shape_.initial()) return;
  for (const std::size_t i : logarithmic_) {
    plain_.push_back(feature_of(rows, [&](std::size_t r) { return set.x(r, i); }));
  }
}

/// Rows for the joint range: all, or evenly chosen ones of a large set.
Matrix Features::standardised(const simulate::TransitionSet& set) const {
  constexpr std::size_t most_rows = 20000;
  const std::size_t rows = std::min(most_rows, set.size());
  Matrix c(rows, all_.size());
  for (std::size_t r = 0; r < rows; ++r) {
    const simulate::RecordView record = set.record(r * set.size() / rows);
    for (std::size_t i = 0; i < all_.size(); ++i) c(r, i) = (raw(i, record) - all_[i].mean) / all_[i].scale;
  }
  return c;
}

void Features::apply(const simulate::RecordView& record, std::span<float> c) const {
  for (std::size_t i = 0; i < all_.size(); ++i) {
    c[i] = static_cast<float>((raw(i, record) - all_[i].mean) / all_[i].scale);
  }
}

double Features::excess(const simulate::RecordView& record) const {
  double worst = 0;
  std::vector<double> c(all_.size());
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const double value = raw(i, record);
    c[i] = (value - all_[i].mean) / all_[i].scale;
    worst = std::max({worst, (all_[i].low - value) / all_[i].scale, (value - all_[i].high) / all_[i].scale});
  }
  return std::max(worst, joint_.excess(c));
}

void Features::check_positive(std::string_view function, const std::vector<std::string>& names,
                              std::span<const double> states) const {
  for (const std::size_t i : logarithmic_) {
    for (std::size_t at = i; at < states.size(); at += shape_.states) {
      check::that(states[at] > 0, function, fmt::format("a value of the state {}", names[i]), states[at],
                  "positive: the model has learned increments of its logarithm");
    }
  }
}

namespace {

void put_columns(nlohmann::json& json, std::span<const Feature> features) {
  for (const Feature& feature : features) {
    json["mean"].push_back(feature.mean);
    json["scale"].push_back(feature.scale);
    json["low"].push_back(feature.low);
    json["high"].push_back(feature.high);
  }
}

[[noreturn]] void wrong_features(const std::string& source) {
  throw FileError(fmt::format("{}: its features are not those of a model", source));
}

Feature feature_at(const std::string& source, const nlohmann::json& json, std::size_t i) {
  const auto column = [&](const char* name) {
    const auto found = json.find(name);
    if (found == json.end() || !found->is_array() || i >= found->size() || !(*found)[i].is_number()) {
      wrong_features(source);
    }
    return (*found)[i].get<double>();
  };
  const Feature feature{column("mean"), column("scale"), column("low"), column("high")};
  if (!(feature.scale > 0)) wrong_features(source);
  return feature;
}

}  // namespace

nlohmann::json Features::to_json() const {
  nlohmann::json json = {{"states", states()}, {"mean", nlohmann::json::array()}};
  if (!shape_.first_format()) json["records"] = shape_.to_json();
  put_columns(json, all_);
  if (!periods_.empty()) json["periods"] = periods_;
  if (joint_.known()) json["joint"] = joint_.to_json();
  if (!logarithmic_.empty()) {
    json["logarithmic"]["of"] = logarithmic_;
    put_columns(json["logarithmic"], plain_);
  }
  return json;
}

Features Features::from_json(const std::string& source, const nlohmann::json& json) {
  const auto wrong = [&] { wrong_features(source); };
  if (!json.is_object() || !json.contains("states") || !json["states"].is_number_unsigned() || !json.contains("mean") ||
      !json["mean"].is_array()) {
    wrong();
  }
  Features features;
  features.all_.resize(json["mean"].size());
  for (const auto& period : json.value("periods", nlohmann::json::array())) {
    if (!period.is_number() || !(period.get<double>() > 0)) wrong();
    features.periods_.push_back(period.get<double>());
  }
  if (json.contains("records")) {
    features.shape_ = simulate::RecordShape::from_json(source, json["records"]);
  } else {
    features.shape_.states = json["states"].get<std::size_t>();
    const std::size_t others = features.all_.size() - std::min(features.all_.size(), 2 * features.periods_.size());
    if (features.shape_.states < 1 || others / 2 != features.shape_.states) wrong();
    features.shape_.time = others % 2 == 1;
  }
  if (!features.periods_.empty() && !features.shape_.time) wrong();
  if (features.all_.size() != features.expected_size()) wrong();
  for (std::size_t i = 0; i < features.all_.size(); ++i) features.all_[i] = feature_at(source, json, i);
  if (const auto found = json.find("joint"); found != json.end()) {
    features.joint_ = JointRange::from_json(source, *found, features.all_.size());
  }
  if (const auto found = json.find("logarithmic"); found != json.end()) {
    if (!found->is_object() || !found->contains("of") || !(*found)["of"].is_array()) wrong();
    for (const auto& state : (*found)["of"]) {
      if (!state.is_number_unsigned() || state.get<std::size_t>() >= features.shape_.states) wrong();
      features.logarithmic_.push_back(state.get<std::size_t>());
    }
    const std::size_t plain = features.shape_.initial() ? 0 : features.logarithmic_.size();
    for (std::size_t k = 0; k < plain; ++k) features.plain_.push_back(feature_at(source, *found, k));
  }
  return features;
}

}  // namespace catena::model
