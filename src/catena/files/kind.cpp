#include "catena/files/kind.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>

namespace catena::files {

std::string looks_like(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return "";
  std::ifstream file(path, std::ios::binary);
  std::string head(512, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  if (head.empty()) return "empty";
  if (head.starts_with("\x89HDF") || head.starts_with("CDF")) return "a netCDF file";
  std::uint64_t header = 0;
  if (head.size() > sizeof header) std::memcpy(&header, head.data(), sizeof header);
  if (header > 0 && header < (std::uint64_t{1} << 32) && head.size() > 8 && head[8] == '{') {
    return "a model (safetensors)";
  }
  const auto printable = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 32 || byte == '\n' || byte == '\r' || byte == '\t';
  };
  if (!std::ranges::all_of(head, printable)) return "";
  const std::size_t first = head.find_first_not_of(" \n\r\t");
  const bool braced = first != std::string::npos && (head[first] == '{' || head[first] == '[');
  return braced ? "JSON" : "a CSV or another text";
}

}  // namespace catena::files
