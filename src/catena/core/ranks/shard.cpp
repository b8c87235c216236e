#include "catena/core/ranks/shard.h"

#include <charconv>

#include "catena/core/check.h"

namespace catena {

std::string Shard::text() const { return fmt::format("{}/{}", number, of); }

Shard Shard::parse(std::string_view function, std::string_view flag, const std::string& text) {
  constexpr std::size_t most = 1'000'000;
  Shard shard;
  const char* const end = text.data() + text.size();
  const auto [slash, first] = std::from_chars(text.data(), end, shard.number);
  if (first != std::errc() || slash == end || *slash != '/') check::fail(function, flag, text, "of the form 3/16");
  const auto [stop, second] = std::from_chars(slash + 1, end, shard.of);
  if (second != std::errc() || stop != end) check::fail(function, flag, text, "of the form 3/16");
  if (shard.of < 1 || shard.of > most || shard.number < 1 || shard.number > shard.of) {
    check::fail(function, flag, text, fmt::format("between 1/n and n/n for a number of shards n, {} at most", most));
  }
  return shard;
}

std::filesystem::path Shard::name(const std::filesystem::path& path) const {
  if (whole()) return path;
  std::filesystem::path own = path;
  return own.replace_filename(
      fmt::format("{}.{}-of-{}{}", path.stem().string(), number, of, path.extension().string()));
}

}  // namespace catena
