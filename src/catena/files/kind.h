/// What a file looks like, for the sentence about one that was named in place of another.
#pragma once

#include <filesystem>
#include <string>

namespace catena::files {

/// "a netCDF file", "a model (safetensors)", "JSON", "a CSV or another text"; empty if it looks like nothing that we
/// know, or cannot be read.
std::string looks_like(const std::filesystem::path& path);

}  // namespace catena::files
