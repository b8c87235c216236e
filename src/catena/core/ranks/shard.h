/// One of n parts of a long piece of work, for job arrays: `--shard 3/16` is the third of sixteen.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace catena {

struct Shard {
  std::size_t number = 1, of = 1;

  bool whole() const { return of == 1; }
  bool operator==(const Shard&) const = default;
  /// "3/16"
  std::string text() const;
  /// Throws "FUNCTION: FLAG is TEXT, but must be …".
  static Shard parse(std::string_view function, std::string_view flag, const std::string& text);

  /// [begin, end) of `count` things, as even as can be; all parts together are all of them, in order.
  std::pair<std::size_t, std::size_t> range(std::size_t count) const {
    return {count * (number - 1) / of, count * number / of};
  }
  /// transitions.nc → transitions.3-of-16.nc, so that the jobs of an array may all be given the same name.
  std::filesystem::path name(const std::filesystem::path& path) const;
};

}  // namespace catena
