/// The sentence of the InputError that a call ends in, for all folders of tests; empty if it ends in none.
#pragma once

#include <functional>
#include <string>

#include "catena/core/errors.h"

namespace catena {

inline std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace catena
