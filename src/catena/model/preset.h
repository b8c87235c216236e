/// Presets: the settings of a whole recipe by one name, for training and sampling. `paper` is the recipe of Gloeckler
/// et al. (docs/refs.bib: gloeckler2025), as its text and its authors' code have it; where the engine has no
/// counterpart the nearest stands here and docs/paper.md says what differs. What a user names wins over the preset.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "catena/core/config.h"

namespace catena::model {

struct Preset {
  std::string_view name;
  std::string_view method;
  std::string_view help;
  nlohmann::json train;      // settings of the loop and of the method; "epochs" stands for steps
  nlohmann::json sample;     // of the posterior's sampler
  std::size_t held_out = 0;  // transitions that decide when to stop, at most; 0: the usual share
};

/// One for each name and method.
const std::vector<Preset>& presets();
std::vector<std::string> preset_names();

/// The setting "preset", which every method and sampler has.
FieldInfo preset_field();

/// What `named` says, over what its "preset" says for this stage ("train" or "sample") of a method.
struct PresetSettings {
  std::string preset;  // empty: none
  nlohmann::json settings;
  std::size_t held_out = 0;  // as above
};
/// Throws InputError for an unknown preset, and for a method that it has no recipe for.
PresetSettings with_preset(std::string_view function, std::string_view method, std::string_view stage,
                           nlohmann::json named);

}  // namespace catena::model
