/// netCDF-4: arrays with names, named dimensions and attributes, in groups. ArviZ, xarray, R and Julia open what this
/// writes. Whole files here; data larger than memory in netcdf_rows.h. Reading happens in a child process, because the
/// HDF5 library below crashes on damaged files (see isolate.h); writing and all other calls take turns on one lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "catena/files/atomic.h"

namespace catena::files {

/// A number, a text, or a list of numbers or of texts. Whole numbers are stored as 64-bit integers, others as doubles.
using Attributes = std::map<std::string, nlohmann::json>;

using Values =
    std::variant<std::vector<double>, std::vector<float>, std::vector<std::int64_t>, std::vector<std::string>>;

struct Dimension {
  std::string name;
  std::size_t size = 0;
  bool operator==(const Dimension&) const = default;
};

/// An array, row-major over its dimensions; none = a scalar. A variable with the name of its only dimension holds the
/// coordinates along it.
struct Variable {
  std::string name;
  std::vector<std::string> dimensions;
  Values values;
  Attributes attributes = {};
  bool operator==(const Variable&) const = default;
};

/// A variable finds its dimensions in its own group, then in those around it.
struct Group {
  std::string name;  // "" for the root
  std::vector<Dimension> dimensions = {};
  std::vector<Variable> variables = {};
  Attributes attributes = {};
  std::vector<Group> groups = {};

  bool contains(std::string_view variable) const;
  /// Throw InputError if there is none of that name.
  const Variable& variable(std::string_view wanted) const;
  const Group& group(std::string_view wanted) const;
  std::size_t dimension(std::string_view wanted) const;
  bool operator==(const Group&) const = default;
};

void write_netcdf(const std::filesystem::path& path, const Group& root);

/// Reads netCDF-4 and the classic formats. Integers of every width become 64-bit ones, characters become texts along
/// the last dimension. A small file may claim terabytes (compressed, or never written): refused beyond
/// min(max_bytes, 64 × file size + 64 MiB), where 64 is beyond the ratio that deflate reaches on any data.
Group read_netcdf(const std::filesystem::path& path, const ReadLimits& limits = {});

}  // namespace catena::files
