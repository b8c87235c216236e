/// A configuration is listed once: each struct of settings has
///
///   template <class Self, class Visit> static void fields(Self& c, Visit&& visit) {
///     visit(c.batch_size, "batch_size", "transitions per gradient step", at_least(1));
///     visit(c.learning_rate, "learning_rate", "largest step of AdamW", positive());
///   }
///
/// and that list feeds the flags and the help of the command line, the metadata of the model file, Python's keywords
/// and the checks. A field is a bool, an integer, a double or a string.
///
/// A setting that only some choices of another one use says so in its condition,
///
///     visit(c.bins, "bins", "bins of the splines", when("density", {"nsf"}, between(2, 64)));
///
/// and whoever names it beside another choice is told (check_used), instead of being ignored.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "catena/core/check.h"

namespace catena {

/// Conditions on a field: `holds(value)` decides, `text()` completes "…, but must be …".
struct anything {
  template <class T>
  bool holds(const T&) const {
    return true;
  }
  std::string text() const { return "anything"; }
};

struct positive {
  bool holds(double value) const { return value > 0 && std::isfinite(value); }
  std::string text() const { return "positive and finite"; }
};

struct not_negative {
  bool holds(double value) const { return value >= 0 && std::isfinite(value); }
  std::string text() const { return "zero or more, and finite"; }
};

template <class T>
struct at_least {
  T bound;
  explicit at_least(T low) : bound(low) {}
  bool holds(double value) const { return value >= static_cast<double>(bound) && std::isfinite(value); }
  std::string text() const { return fmt::format("at least {}", bound); }
};

template <class T>
struct between {
  T low, high;
  between(T lowest, T highest) : low(lowest), high(highest) {}
  bool holds(double value) const { return value >= static_cast<double>(low) && value <= static_cast<double>(high); }
  std::string text() const { return fmt::format("between {} and {}", low, high); }
};

struct one_of {
  std::vector<std::string> choices;
  explicit one_of(std::vector<std::string> allowed) : choices(std::move(allowed)) {}
  bool holds(const std::string& value) const { return std::ranges::find(choices, value) != choices.end(); }
  std::string text() const { return fmt::format("one of {}", fmt::join(choices, ", ")); }
};

/// Values of another setting: "density", {"maf", "nsf"}. "> 0" stands for all positive numbers, "auto" where one of its
/// candidates uses the setting.
struct Choice {
  std::string setting;
  std::vector<std::string> values;
};
/// What has to be chosen for a setting to be of use: all choices of one of the alternatives. None: it always is.
using Uses = std::vector<std::vector<Choice>>;

/// A condition on a field that is not always used.
template <class Condition>
struct Conditional : Condition {
  Uses uses;
  Conditional(Condition condition, Uses when) : Condition(std::move(condition)), uses(std::move(when)) {}
};
template <class Condition>
Conditional<Condition> when(std::string setting, std::vector<std::string> values, Condition condition) {
  return {std::move(condition), {{{std::move(setting), std::move(values)}}}};
}
template <class Condition>
Conditional<Condition> when_any(Uses alternatives, Condition condition) {
  return {std::move(condition), std::move(alternatives)};
}

template <class Condition>
Uses uses_of(const Condition& condition) {
  if constexpr (requires { condition.uses; }) return condition.uses;
  return {};
}
/// The help of a field with what uses it: "bins of the splines (with density = nsf)".
std::string help_with_uses(std::string_view help, const Uses& uses);

/// A struct of settings that lists its fields.
template <class C>
concept Config = std::default_initializable<C> && requires(C& c) { C::fields(c, [](auto&&...) {}); };

template <Config C>
void check_config(std::string_view function, const C& config) {
  C::fields(config, [&](const auto& value, std::string_view name, std::string_view, const auto& condition) {
    check::that(condition.holds(value), function, name, value, condition.text());
  });
}

template <Config C>
nlohmann::json to_json(const C& config) {
  nlohmann::json json = nlohmann::json::object();
  C::fields(config, [&](const auto& value, std::string_view name, std::string_view, const auto&) {
    json[std::string(name)] = value;
  });
  return json;
}

/// One field, for help texts, docs and bindings.
struct FieldInfo {
  std::string name, help, default_value, must_be;
  Uses uses = {};
};

template <Config C>
std::vector<FieldInfo> describe_fields() {
  std::vector<FieldInfo> result;
  const C defaults{};
  C::fields(defaults, [&](const auto& value, std::string_view name, std::string_view help, const auto& condition) {
    const Uses uses = uses_of(condition);
    result.push_back({std::string(name), help_with_uses(help, uses), fmt::format("{}", value), condition.text(), uses});
  });
  return result;
}

/// Throws InputError if `named`, what a user has set by name, has a setting that the other settings make no use of:
/// "train: bins is 12, but density = gaussian does not use it (nsf does)". `all` are those with what was set for the
/// user, by a preset; other settings have their defaults.
void check_used(std::string_view function, std::span<const FieldInfo> fields, const nlohmann::json& named,
                const nlohmann::json& all);
/// What somebody would have to name to get `settings`: those in use that are not at their defaults.
nlohmann::json worth_naming(std::span<const FieldInfo> fields, const nlohmann::json& settings);

namespace detail {

/// Whether `value` is of field type T and fits into it.
template <class T>
bool json_has_type(const nlohmann::json& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value.is_boolean();
  } else if constexpr (std::is_integral_v<T>) {
    if (value.is_number_unsigned()) return std::in_range<T>(value.get<std::uint64_t>());
    return value.is_number_integer() && std::in_range<T>(value.get<std::int64_t>());
  } else if constexpr (std::is_floating_point_v<T>) {
    return value.is_number();
  } else {
    return value.is_string();
  }
}

template <class T>
std::string type_text() {
  if constexpr (std::is_same_v<T, bool>) {
    return "true or false";
  } else if constexpr (std::is_integral_v<T>) {
    return fmt::format("a whole number between {} and {}", std::numeric_limits<T>::min(),
                       std::numeric_limits<T>::max());
  } else if constexpr (std::is_floating_point_v<T>) {
    return "a number";
  } else {
    return "a text";
  }
}

/// A JSON value for a sentence: short, on one line, and never a walk through a deep or huge structure.
inline std::string json_text(const nlohmann::json& value) {
  constexpr std::size_t longest = 60;
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  if (value.is_string() && value.get_ref<const std::string&>().size() > longest) return "a long text";
  return value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace detail

/// Reads the fields that `json` names, leaves the others at their defaults and checks all. `json` may have names of
/// others: what inference needs of a model's settings is a part of what training was told.
template <Config C>
C from_json_part(std::string_view function, const nlohmann::json& json) {
  C config{};
  check::that(json.is_object(), function, "the configuration", json.type_name(), "a JSON object");
  C::fields(config, [&](auto& value, std::string_view name, std::string_view, const auto&) {
    using T = std::remove_cvref_t<decltype(value)>;
    const auto found = json.find(std::string(name));
    if (found == json.end()) return;
    check::that(detail::json_has_type<T>(*found), function, name, detail::json_text(*found), detail::type_text<T>());
    value = found->template get<T>();
  });
  check_config(function, config);
  return config;
}

/// The same, and refuses names that no field has.
template <Config C>
C from_json(std::string_view function, const nlohmann::json& json) {
  C config = from_json_part<C>(function, json);
  std::vector<std::string> known;
  C::fields(config, [&](auto&, std::string_view name, std::string_view, const auto&) { known.emplace_back(name); });
  for (const auto& [name, value] : json.items()) {
    check::that(std::ranges::find(known, name) != known.end(), function, "setting", detail::json_text(name),
                fmt::format("one of {}", fmt::join(known, ", ")));
  }
  return config;
}

}  // namespace catena
