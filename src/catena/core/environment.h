#pragma once

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace catena {

/// The whole number that an environment variable begins with, as launchers of ranks set them; `otherwise` without one.
inline int environment_number(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  if (text == nullptr) return otherwise;
  const std::string_view digits = text;
  std::from_chars(digits.data(), digits.data() + digits.size(), otherwise);
  return otherwise;
}

}  // namespace catena
