/// From what a user names to what training is told: settings of the loop and of the method, those of a preset
/// (model/preset.h) under them. The command line, Python and sweeps come through here.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "catena/train/method.h"

namespace catena::train {

struct Recipe {
  LoopSettings loop;
  nlohmann::json settings;  // of the method
  std::string preset;       // empty: none
};

/// How transitions are shared: by the share that is named, else by the preset's, else as usual.
Split split_of(std::string_view function, const Method& method, const nlohmann::json& named,
               std::optional<double> held_out = std::nullopt);

/// `named`: settings of the loop and of the method by name, and "preset". `transitions`: those trained on, for presets
/// that count in epochs. Throws InputError for a setting that the others make no use of.
Recipe recipe_of(std::string_view function, const Method& method, const nlohmann::json& named, std::size_t transitions);

}  // namespace catena::train
