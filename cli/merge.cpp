// catena merge: the shards of catena simulate --shard as one file, or those of a sweep as one table.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "catena/core/check.h"
#include "catena/core/ranks/shard.h"
#include "catena/experiment/merge.h"
#include "catena/simulate/transitions/transitions.h"
#include "common.h"
#include "verb.h"

namespace catena::cli {

namespace {

constexpr std::string_view merge_function = "catena merge";

struct MergeOptions {
  Common common;
  std::vector<std::string> shards;
  std::string output;
};

/// A file that is there is a shard; the name that shards were made with stands for all of them:
/// transitions.nc → transitions.1-of-16.nc, ….
std::vector<std::filesystem::path> shard_files(const std::string& given) {
  const std::filesystem::path path = given;
  std::vector<std::filesystem::path> found;
  std::error_code error;
  const std::string begin = path.stem().string() + ".", end = path.extension().string();
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(begin) || !name.ends_with(end) || name.size() <= begin.size() + end.size()) continue;
    const std::string middle = name.substr(begin.size(), name.size() - begin.size() - end.size());
    const std::size_t of = middle.find("-of-");
    const auto whole = [](const std::string& text) {
      return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
    };
    if (of != std::string::npos && whole(middle.substr(0, of)) && whole(middle.substr(of + 4))) {
      found.push_back(entry.path());
    }
  }
  std::ranges::sort(found);
  if (found.empty()) found.push_back(path);
  return found;
}

int run_merge(const MergeOptions& options) {
  const auto progress = options.common.make_progress();
  std::error_code error;
  const bool sweep = std::filesystem::is_directory(options.shards.front(), error);
  if (sweep) {
    std::vector<std::filesystem::path> folders(options.shards.begin(), options.shards.end());
    const std::filesystem::path output =
        options.output.empty() ? folders.front() : std::filesystem::path(options.output);
    const std::size_t rows = experiment::merge_shards(folders, output);
    if (options.common.json) {
      print_json({{"output", output.string()}, {"rows", rows}});
    } else if (!options.common.quiet) {
      fmt::print("{}: {} rows; catena experiment show {} prints its table\n", (output / "rows.csv").string(), rows,
                 output.string());
    }
    return success;
  }
  std::string output = options.output;
  if (output.empty()) {
    check::equal(merge_function, "the number of names without --output", options.shards.size(), std::size_t{1});
    output = options.shards.front();
  }
  std::vector<std::filesystem::path> files;
  for (const std::string& given : options.shards) {
    if (given != output && std::filesystem::is_regular_file(given, error)) {
      files.emplace_back(given);
    } else {
      const auto found = shard_files(given);
      files.insert(files.end(), found.begin(), found.end());
    }
  }
  const simulate::SimulationInfo info = simulate::merge_transitions(files, output, *progress);
  if (options.common.json) {
    nlohmann::json result = info.provenance;
    result["output"] = output;
    result["transitions"] = info.rows;
    result["shards"] = files.size();
    print_json(result);
  } else if (!options.common.quiet) {
    fmt::print("{}: {} transitions of {} shards", output, info.rows, files.size());
    if (info.invalid > 0) fmt::print(", {} dropped because their result was not finite", info.invalid);
    fmt::print("\n");
  }
  return success;
}

Run set_up_merge(CLI::App& app) {
  const auto options = std::make_shared<MergeOptions>();
  app.add_option(
         "shards", options->shards,
         "files of catena simulate --shard, or the name that all of them were given; for a sweep its directory, "
         "or several")
      ->required()
      ->type_name("FILE");
  app.add_option("-o,--output", options->output, "what to write (default: the name that the shards were given)")
      ->type_name("FILE");
  add_common(app, options->common, Seeded::no);
  return [options] { return run_merge(*options); };
}

}  // namespace

Verb merge_verb() { return {"merge", "put the shards of a job array together", set_up_merge}; }

}  // namespace catena::cli
