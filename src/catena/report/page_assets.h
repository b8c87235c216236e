/// The page's own style sheet and script. The script fits each figure to the width it has, and draws it again when that
/// changes; colours are CSS variables, so light, dark and paper need no drawing again.
#pragma once

#include <string_view>

namespace catena::report {

/// Without the variables of theme.h, which page.cpp puts in front.
extern const std::string_view page_style;
extern const std::string_view page_script;

}  // namespace catena::report
