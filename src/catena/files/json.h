/// JSON from files that may be hostile: size and depth are bounded, a name may stand only once in an object, and
/// everything that is not JSON is a one-sentence FileError. Writing is atomic and refuses NaN, which JSON cannot hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace catena::files {

struct JsonLimits {
  std::uint64_t max_bytes = std::uint64_t{64} << 20;
  std::size_t max_depth = 64;  // copying and printing JSON recurse, and a stack is finite
};

/// `source` is the name in the sentence of an error: the file the text comes from.
nlohmann::json parse_json(std::string_view text, const std::string& source, const JsonLimits& limits = {});
nlohmann::json read_json(const std::filesystem::path& path, const JsonLimits& limits = {});

/// Indented, with shortest exact doubles. Throws InputError for a NaN, an infinity or text that is not UTF-8.
void write_json(const std::filesystem::path& path, const nlohmann::json& value);

/// The text of `value` on one line, or (indent ≥ 0) on many; the same refusals as write_json.
std::string dump_json(const nlohmann::json& value, int indent = -1);

}  // namespace catena::files
