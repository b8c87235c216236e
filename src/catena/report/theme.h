/// How figures look. Their marks bear the names of styles (`posterior`, `reference`, `truth`, …) and no colours; a
/// theme is the Vega configuration that says what these names look like, so that anyone can restyle a figure by its
/// `config`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace catena::report {

/// Any CSS colours.
struct Palette {
  std::string ink, muted, line, posterior, reference, truth;
};

/// Dark ink on white: for figures that stand alone.
Palette light_palette();
Palette dark_palette();
/// var(--posterior), …: for figures in a page, whose style sheet then decides, also on paper.
Palette css_palette();

nlohmann::json vega_config(const Palette& palette);

/// The declarations of css_palette()'s variables: "--ink: #222; …".
std::string css_variables(const Palette& palette);

}  // namespace catena::report
