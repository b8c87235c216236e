#include "catena/prior/prior.h"

#include <algorithm>
#include <utility>

#include "catena/core/check.h"

namespace catena::prior {

void Factor::to_theta_lanes(ConstStateBlock z, StateBlock theta) const {
  std::vector<double> from(size()), to(size());
  for (std::size_t l = 0; l < theta.lanes; ++l) {
    for (std::size_t i = 0; i < size(); ++i) from[i] = z(i, l);
    to_theta(from, to);
    for (std::size_t i = 0; i < size(); ++i) theta(i, l) = to[i];
  }
}

void Factor::sample_lanes(Stream& stream, StateBlock theta) const {
  StateLanes z(size(), theta.lanes);
  fill_normal(stream, z);
  to_theta_lanes(z, theta);
}

void Factor::complete(std::span<const double> theta, std::span<double> seen) const {
  std::ranges::copy(theta, seen.begin());
}

void Prior::add(std::vector<std::string> names, FactorPtr factor) {
  CATENA_ASSERT(factor != nullptr);
  const std::vector<bool> free = factor->free();
  check::equal("prior", "the number of names of a factor", names.size(), free.size());
  std::vector<std::string> all = seen_names_;
  for (const std::string& name : names) {
    check::that(!name.empty() && std::ranges::find(all, name) == all.end(), "prior", "a parameter's name",
                fmt::format("\"{}\"", name), "there and used once");
    all.push_back(name);
  }
  parts_.push_back({names_.size(), std::move(factor), seen_names_.size(), names.size()});
  seen_names_ = std::move(all);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (free[i]) names_.push_back(std::move(names[i]));
  }
}

Prior Prior::standard(std::vector<std::string> names) {
  Prior prior;
  const std::size_t size = names.size();
  prior.add(std::move(names), standard_normal(size));
  return prior;
}

void Prior::to_theta(std::span<const double> z, std::span<double> theta) const {
  CATENA_ASSERT(z.size() == size() && theta.size() == size());
  for (const auto& [begin, factor, seen_begin, seen] : parts_) {
    factor->to_theta(z.subspan(begin, factor->size()), theta.subspan(begin, factor->size()));
  }
}

void Prior::to_z(std::span<const double> theta, std::span<double> z) const {
  CATENA_ASSERT(z.size() == size() && theta.size() == size());
  for (const auto& [begin, factor, seen_begin, seen] : parts_) {
    factor->to_z(theta.subspan(begin, factor->size()), z.subspan(begin, factor->size()),
                 std::span(names_).subspan(begin, factor->size()));
  }
}

void Prior::complete(std::span<const double> theta, std::span<double> seen) const {
  CATENA_ASSERT(theta.size() == size() && seen.size() == seen_names_.size());
  for (const Part& part : parts_) {
    part.factor->complete(theta.subspan(part.begin, part.factor->size()), seen.subspan(part.seen_begin, part.seen));
  }
}

double Prior::log_density(std::span<const double> theta) const {
  CATENA_ASSERT(theta.size() == size());
  double sum = 0;
  for (const auto& [begin, factor, seen_begin, seen] : parts_) {
    sum += factor->log_density(theta.subspan(begin, factor->size()));
  }
  return sum;
}

double Prior::log_jacobian(std::span<const double> z) const {
  CATENA_ASSERT(z.size() == size());
  double sum = 0;
  for (const auto& [begin, factor, seen_begin, seen] : parts_) {
    sum += factor->log_jacobian(z.subspan(begin, factor->size()));
  }
  return sum;
}

void Prior::to_theta(ConstStateBlock z, StateBlock theta) const {
  CATENA_ASSERT(z.features == size() && theta.features == size() && z.lanes == theta.lanes);
  for (const auto& [begin, factor, seen_begin, seen] : parts_) {
    const std::size_t end = begin + factor->size();
    factor->to_theta_lanes(z.slice_features(begin, end), theta.slice_features(begin, end));
  }
}

void Prior::sample(Stream& stream, StateBlock z, StateBlock theta) const {
  fill_normal(stream, z);
  to_theta(z, theta);
}

void Prior::sample_theta(Stream& stream, StateBlock theta) const {
  CATENA_ASSERT(theta.features == size());
  for (const auto& [begin, factor, seen_begin, seen] : parts_) {
    factor->sample_lanes(stream, theta.slice_features(begin, begin + factor->size()));
  }
}

nlohmann::json Prior::to_json() const {
  nlohmann::json factors = nlohmann::json::array();
  for (const auto& [begin, factor, seen_begin, seen] : parts_) {
    nlohmann::json entry = factor->to_json();
    const auto first = seen_names_.begin() + static_cast<std::ptrdiff_t>(seen_begin);
    entry["names"] = std::vector<std::string>(first, first + static_cast<std::ptrdiff_t>(seen));
    factors.push_back(std::move(entry));
  }
  return {{"factors", std::move(factors)}};
}

Prior Prior::from_json(std::string_view function, const nlohmann::json& json) {
  check::that(json.is_object() && json.contains("factors") && json["factors"].is_array(), function, "the prior",
              json.dump(), "an object with a list \"factors\"");
  Prior prior;
  for (const nlohmann::json& entry : json["factors"]) {
    const bool readable = entry.is_object() && entry.contains("family") && entry["family"].is_string() &&
                          entry.contains("names") && entry["names"].is_array() &&
                          std::ranges::all_of(entry["names"], [](const auto& name) { return name.is_string(); });
    check::that(readable, function, "a factor of the prior", entry.dump(),
                "an object with \"family\" (a text) and \"names\" (a list of texts)");
    const FamilyEntry& family = prior_families().at(function, entry["family"].get<std::string>());
    nlohmann::json settings = entry;
    settings.erase("family");
    settings.erase("names");
    prior.add(entry["names"].get<std::vector<std::string>>(), family.from_json(settings));
  }
  check::at_least(function, "the number of the prior's parameters to infer", prior.size(), std::size_t{1});
  return prior;
}

}  // namespace catena::prior
