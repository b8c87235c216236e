/// Network weights with their metadata, in the safetensors format: 8 bytes of header length (little-endian), a JSON
/// header that names type, shape and place of every tensor, then the values without gaps. Python's `safetensors` reads
/// what this writes and the other way round. Metadata is one JSON object, kept as text under "__metadata__".
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "catena/files/atomic.h"

namespace catena::files {

/// Stands in "__metadata__" as "format": "catena-1"; raised when older readers could no longer understand the metadata.
inline constexpr int safetensors_version = 1;

struct Tensor {
  std::string name;
  std::vector<std::size_t> shape;  // row-major; empty = a scalar
  std::variant<std::vector<float>, std::vector<double>, std::vector<std::int64_t>> values;
  bool operator==(const Tensor&) const = default;
};

struct TensorFile {
  nlohmann::json metadata = nlohmann::json::object();
  std::vector<Tensor> tensors = {};
  std::map<std::string, std::string> other = {};  // entries of "__metadata__" that are not ours, kept as they are

  bool contains(std::string_view name) const;
  /// Throws InputError if there is no such tensor.
  const Tensor& at(std::string_view name) const;
  bool operator==(const TensorFile&) const = default;
};

TensorFile read_safetensors(const std::filesystem::path& path, const ReadLimits& limits = {});
/// `source` is the name in the sentence of an error.
TensorFile parse_safetensors(std::string_view bytes, const std::string& source);

/// Tensors keep their order, except that eight-byte types come first: so every value stands on its own alignment.
void write_safetensors(const std::filesystem::path& path, const TensorFile& file);
/// The bytes of that file.
std::string safetensors_bytes(const TensorFile& file);

}  // namespace catena::files
