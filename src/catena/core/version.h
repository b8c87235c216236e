#pragma once

#include <string_view>

namespace catena {

/// "0.1.0", as in CMakeLists.txt.
std::string_view version();

}  // namespace catena
