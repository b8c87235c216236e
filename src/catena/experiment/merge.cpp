#include "catena/experiment/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "catena/core/check.h"
#include "catena/core/ranks/shard.h"
#include "catena/experiment/benchmark.h"
#include "catena/experiment/rows.h"
#include "catena/files/atomic.h"
#include "catena/files/json.h"

namespace catena::experiment {
namespace {

namespace fs = std::filesystem;

/// rows.3-of-16.csv → 3/16
std::optional<Shard> shard_of(const fs::path& path) {
  const std::string name = path.filename().string();
  constexpr std::string_view begin = "rows.", end = ".csv", between = "-of-";
  if (!name.starts_with(begin) || !name.ends_with(end)) return std::nullopt;
  const char *at = name.data() + begin.size(), *const last = name.data() + name.size() - end.size();
  Shard shard;
  const auto [middle, first] = std::from_chars(at, last, shard.number);
  if (first != std::errc() || !std::string_view(middle, last).starts_with(between)) return std::nullopt;
  const auto [stop, second] = std::from_chars(middle + between.size(), last, shard.of);
  if (second != std::errc() || stop != last || shard.number < 1 || shard.number > shard.of) return std::nullopt;
  return shard;
}

}  // namespace

std::size_t merge_shards(const std::vector<fs::path>& directories, const fs::path& output) {
  constexpr std::string_view function = "merge";
  std::map<std::size_t, fs::path> tables;  // by the shards' numbers
  std::size_t of = 0;
  for (const fs::path& directory : directories) {
    for (const auto& entry : fs::directory_iterator(directory)) {
      const std::optional<Shard> shard = shard_of(entry.path());
      if (!shard) continue;
      if (of != 0 && shard->of != of) {
        throw InputError(
            fmt::format("{}: {} is one of {} shards, but another one is of {}: all must be of the same "
                        "number",
                        function, entry.path().string(), shard->of, of));
      }
      of = shard->of;
      const auto [place, is_new] = tables.emplace(shard->number, entry.path());
      if (!is_new) {
        throw InputError(fmt::format("{}: shard {} is there twice: {} and {}", function, shard->text(),
                                     place->second.string(), entry.path().string()));
      }
    }
  }
  if (of == 0) {
    throw InputError(fmt::format("{}: {} holds no shards of a sweep (rows.1-of-n.csv), but must", function,
                                 directories.front().string()));
  }
  nlohmann::json whole;
  std::map<std::string, Row> rows;
  for (std::size_t number = 1; number <= of; ++number) {
    const Shard shard{number, of};
    const auto found = tables.find(number);
    if (found == tables.end()) throw InputError(fmt::format("{}: shard {} is missing", function, shard.text()));
    const fs::path& table = found->second;
    const nlohmann::json json = files::read_json(shard.name(table.parent_path() / "sweep.json"));
    if (whole.is_null()) whole = json;
    if (json != whole) {
      throw InputError(fmt::format("{}: shard {} is of another sweep than shard 1/{}", function, shard.text(), of));
    }
    for (Row& row : read_rows(table)) rows.emplace(row.key(), std::move(row));
    const Sweep sweep = Sweep::from_json(table.string(), whole);
    for (const std::string& key : row_keys(sweep, shard)) {
      if (rows.contains(key)) continue;
      throw InputError(fmt::format("{}: shard {} lacks the row {}: the same command goes on where it was", function,
                                   shard.text(), key));
    }
  }
  const Sweep sweep = Sweep::from_json(output.string(), whole);
  files::make_directories(output);
  Rows table(output / "rows.csv", row_columns(sweep));
  std::size_t count = 0;
  for (const std::string& key : row_keys(sweep, {})) {
    table.append(rows.at(key));
    ++count;
  }
  const fs::path sweeps = output / "sweeps.json";
  nlohmann::json list = fs::exists(sweeps) ? files::read_json(sweeps) : nlohmann::json::array();
  if (list.is_array() && std::ranges::find(list, whole) == list.end()) {
    list.push_back(whole);
    files::write_json(sweeps, list);
  }
  return count;
}

}  // namespace catena::experiment
