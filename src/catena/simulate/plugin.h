/// Loads a simulator from a shared library with the C interface of catena_simulator.h. Whatever is wrong with it (no
/// library, no symbols, another version, a bad description, a step that fails or throws) is one sentence.
#pragma once

#include <filesystem>

#include "catena/simulate/model.h"

namespace catena::simulate {

/// The library stays loaded as long as a copy of the model lives.
Model load_plugin(const std::filesystem::path& library);

}  // namespace catena::simulate
