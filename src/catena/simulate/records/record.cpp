#include "catena/simulate/records/record.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "catena/core/check.h"

namespace catena::simulate {

nlohmann::json RecordShape::to_json() const {
  nlohmann::json json = {{"states", states}, {"order", order}, {"block", block}, {"time", time}, {"step", step}};
  if (covariates > 0) json["covariates"] = covariates;
  return json;
}

RecordShape RecordShape::from_json(const std::string& source, const nlohmann::json& json) {
  RecordShape shape;
  try {
    json.at("states").get_to(shape.states);
    json.at("order").get_to(shape.order);
    json.at("block").get_to(shape.block);
    json.at("time").get_to(shape.time);
    json.at("step").get_to(shape.step);
    shape.covariates = json.value("covariates", std::size_t{0});
  } catch (const nlohmann::json::exception&) {
    throw FileError(fmt::format("{}: the shape of its records cannot be read", source));
  }
  constexpr std::size_t most = 10000000;
  if (shape.states < 1 || shape.states > most || shape.order > most || shape.block < 1 || shape.block > most ||
      shape.covariates > most || (shape.initial() && shape.covariates > 0)) {
    throw FileError(fmt::format("{}: the shape of its records is {}, which cannot be", source, json.dump()));
  }
  return shape;
}

StepRange parse_steps(std::string_view function, std::string_view what, const std::string& text) {
  const auto number = [&](std::string_view part) {
    double value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    const bool right = error == std::errc() && end == part.data() + part.size() && std::isfinite(value) && value > 0;
    check::that(right, function, what, text, "a positive number or a range of them, LOW..HIGH");
    return value;
  };
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) return {number(text), number(text)};
  const StepRange range{number(std::string_view(text).substr(0, dots)),
                        number(std::string_view(text).substr(dots + 2))};
  check::that(range.low <= range.high, function, what, text, "LOW..HIGH with LOW no more than HIGH");
  return range;
}

}  // namespace catena::simulate
