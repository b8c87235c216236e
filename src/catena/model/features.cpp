#include "catena/model/features.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "catena/core/check.h"
#include "catena/core/quantile.h"

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
                   std::vector<double> periods, bool tails)
    : shape_(set.shape()), periods_(std::move(periods)), all_(expected_size()), logarithmic_(std::move(logarithmic)) {
  const std::size_t rows = set.size();
  CATENA_ASSERT(periods_.empty() || shape_.time);
  check::at_least("train", "the number of transitions", rows, std::size_t{2});
  std::ranges::sort(logarithmic_);
  for (std::size_t i = 0; i < all_.size(); ++i) {
    all_[i] = feature_of(rows, [&](std::size_t r) { return raw(i, set.record(r)); });
  }
  if (tails) see_tails(set);
  joint_ = JointRange(standardised(set));
  if (shape_.initial()) return;
  for (const std::size_t i : logarithmic_) {
    plain_.push_back(feature_of(rows, [&](std::size_t r) { return set.x(r, i); }));
  }
}

namespace {

/// All rows, or evenly chosen ones of a large set.
constexpr std::size_t most_rows = 20000;
std::vector<std::size_t> chosen_rows(const simulate::TransitionSet& set) {
  std::vector<std::size_t> rows(std::min(most_rows, set.size()));
  for (std::size_t k = 0; k < rows.size(); ++k) rows[k] = k * set.size() / rows.size();
  return rows;
}

/// value(record) of these rows, in ascending order.
template <class Value>
std::vector<double> sorted_values(const simulate::TransitionSet& set, std::span<const std::size_t> rows,
                                  const Value& value) {
  std::vector<double> values;
  for (const std::size_t r : rows) values.push_back(value(set.record(r)));
  std::ranges::sort(values);
  return values;
}

/// Whole numbers and point masses are no tails.
bool is_discrete(const std::vector<double>& sorted) {
  std::size_t ties = 0;
  for (std::size_t r = 1; r < sorted.size(); ++r) ties += sorted[r] == sorted[r - 1] ? 1U : 0U;
  return 100 * ties > sorted.size() ||
         std::ranges::all_of(sorted, [](double value) { return value == std::round(value); });
}

/// A deviation so many times that of the quartiles. At states in the middle the increments of built-in tasks have 2.7
/// at most, Cauchy's noise 12 (the median over sets of 3,000 transitions).
constexpr double heavy = 4;
constexpr double far_out = 8;  // deviations of the largest value; less is no tail, and need not be looked at

bool may_be_heavy(const Feature& feature) {
  return std::max(feature.high - feature.mean, feature.mean - feature.low) > far_out * feature.scale;
}

bool is_heavy(std::vector<double> sorted) {
  const double scale = deviation_of_quartiles(sorted);
  const Feature whole = feature_of(sorted.size(), [&](std::size_t r) { return sorted[r]; });
  return scale > 0 && whole.scale > heavy * scale;
}

/// The half of the rows whose states lie nearest to their medians, in distances of their quartiles.
std::vector<std::size_t> middle_half(const simulate::TransitionSet& set, std::vector<std::size_t> rows,
                                     std::size_t states) {
  std::vector<double> distance(set.size(), 0.0);
  for (std::size_t i = 0; i < states; ++i) {
    const auto x = [&](const simulate::RecordView& record) { return record.x[i]; };
    std::vector<double> sorted = sorted_values(set, rows, x);
    const double middle = quantile(sorted, 0.5), scale = deviation_of_quartiles(sorted);
    if (!(scale > 0)) continue;
    for (const std::size_t r : rows) distance[r] = std::max(distance[r], std::abs(set.x(r, i) - middle) / scale);
  }
  std::ranges::stable_sort(rows, {}, [&](std::size_t r) { return distance[r]; });
  rows.resize((rows.size() + 1) / 2);
  return rows;
}

}  // namespace

bool Features::tails() const {
  return std::ranges::any_of(all_, [](const Feature& feature) { return feature.tails; });
}

/// States of a proposal with wide tails have increments with wide tails, which are not the noise's: these are looked
/// for among the middle states. Where a state's increments have them, the state itself may, too.
void Features::see_tails(const simulate::TransitionSet& set) {
  const std::vector<std::size_t> rows = chosen_rows(set);
  const auto values_of = [&](std::size_t i, std::span<const std::size_t> some) {
    return sorted_values(set, some, [&](const simulate::RecordView& record) { return raw(i, record); });
  };
  const auto see = [&](std::size_t i, std::vector<double>& values) {
    all_[i].tails = true;
    all_[i].mean = quantile(values, 0.5);
    all_[i].scale = deviation_of_quartiles(values);
  };
  std::vector<std::size_t> middle;
  for (std::size_t i = 0; i < target(); ++i) {
    const std::size_t place = condition() + i;
    if (!may_be_heavy(all_[place])) continue;
    if (middle.empty()) middle = condition() > 0 ? middle_half(set, rows, states()) : rows;
    std::vector<double> values = values_of(place, rows);
    const auto next = [&](const simulate::RecordView& record) { return record.x_next[i]; };
    if (!is_heavy(values_of(place, middle)) || !is_heavy(values) || is_discrete(values) ||
        is_discrete(sorted_values(set, rows, next))) {
      continue;
    }
    see(place, values);
    for (std::size_t k = i % states(); k < condition(); k += states()) {
      if (all_[k].tails || !may_be_heavy(all_[k])) continue;
      std::vector<double> before = values_of(k, rows);
      if (is_heavy(before) && !is_discrete(before)) see(k, before);
    }
  }
}

/// Rows for the joint range.
Matrix Features::standardised(const simulate::TransitionSet& set) const {
  const std::vector<std::size_t> rows = chosen_rows(set);
  Matrix c(rows.size(), all_.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t i = 0; i < all_.size(); ++i) c(r, i) = all_[i].seen(raw(i, set.record(rows[r])));
  }
  return c;
}

void Features::apply(const simulate::RecordView& record, std::span<float> c) const {
  for (std::size_t i = 0; i < all_.size(); ++i) {
    c[i] = static_cast<float>(all_[i].seen(raw(i, record)));
  }
}

double Features::excess(const simulate::RecordView& record) const {
  double worst = 0;
  std::vector<double> c(all_.size());
  for (std::size_t i = 0; i < all_.size(); ++i) {
    c[i] = all_[i].seen(raw(i, record));
    worst = std::max({worst, all_[i].seen(all_[i].low) - c[i], c[i] - all_[i].seen(all_[i].high)});
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
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (all_[i].tails) json["tails"].push_back(i);
  }
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
  for (const auto& place : json.value("tails", nlohmann::json::array())) {
    if (!place.is_number_unsigned() || place.get<std::size_t>() >= features.condition() + features.target()) wrong();
    features.all_[place.get<std::size_t>()].tails = true;
  }
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
