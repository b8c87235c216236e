/// Checks at the border, in one sentence format: "FUNCTION: NAME is VALUE, but must be CONDITION".
/// Below the border nothing re-checks, and nothing throws inside a loop.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <span>
#include <string_view>

#include "catena/core/errors.h"

namespace catena::check {

/// The sentence itself, for conditions that none of the named checks covers.
template <class Value>
[[noreturn]] void fail(std::string_view function, std::string_view name, const Value& value, std::string_view must_be) {
  throw InputError(fmt::format("{}: {} is {}, but must be {}", function, name, value, must_be));
}

template <class Value>
void that(bool condition, std::string_view function, std::string_view name, const Value& value,
          std::string_view must_be) {
  if (!condition) fail(function, name, value, must_be);
}

inline void positive(std::string_view function, std::string_view name, double value) {
  that(value > 0 && std::isfinite(value), function, name, value, "positive and finite");
}

inline void not_negative(std::string_view function, std::string_view name, double value) {
  that(value >= 0 && std::isfinite(value), function, name, value, "zero or more, and finite");
}

inline void finite(std::string_view function, std::string_view name, double value) {
  that(std::isfinite(value), function, name, value, "finite");
}

template <class Number>
void at_least(std::string_view function, std::string_view name, Number value, Number bound) {
  if (!(value >= bound)) fail(function, name, value, fmt::format("at least {}", bound));
}

template <class Number>
void between(std::string_view function, std::string_view name, Number value, Number low, Number high) {
  if (!(value >= low && value <= high)) fail(function, name, value, fmt::format("between {} and {}", low, high));
}

template <class Number>
void equal(std::string_view function, std::string_view name, const Number& value, const Number& expected) {
  if (value != expected) fail(function, name, value, fmt::format("{}", expected));
}

/// Every value finite; the sentence names the first one that is not.
inline void all_finite(std::string_view function, std::string_view name, std::span<const double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) fail(function, fmt::format("{}[{}]", name, i), values[i], "finite");
  }
}

}  // namespace catena::check

namespace catena {

/// For what only a bug of ours can break. Cheap enough to stay on in release builds.
#define CATENA_ASSERT(condition)                                                                         \
  do {                                                                                                   \
    if (!(condition))                                                                                    \
      throw ::catena::InternalError(                                                                     \
          ::fmt::format("{}:{}: {} does not hold; please report this", __FILE__, __LINE__, #condition)); \
  } while (false)

}  // namespace catena
