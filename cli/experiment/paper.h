/// catena experiment paper: the paper's figures, each by one command.
#pragma once

#include "verb.h"

namespace catena::cli {

/// Adds the flags of `catena experiment paper`.
Run set_up_paper(CLI::App& app);

}  // namespace catena::cli
