#include "catena/evaluate/reference/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "catena/core/check.h"
#include "catena/sample/draws.h"
#include "catena/tasks/likelihood.h"

namespace catena::evaluate {

namespace {

std::vector<double> flat(ConstMatrixView matrix) {
  std::vector<double> values;
  for (std::size_t r = 0; r < matrix.rows; ++r) values.insert(values.end(), matrix.row(r).begin(), matrix.row(r).end());
  return values;
}

/// FNV-1a, 64 bits: enough for a file name whose content is checked.
class Hash {
 public:
  void add(std::string_view bytes) {
    for (const char c : bytes) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  }
  void add(std::uint64_t word) {
    for (int shift = 0; shift < 64; shift += 8) state_ = (state_ ^ ((word >> shift) & 0xFFU)) * 0x100000001B3U;
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xCBF29CE484222325U;
};

}  // namespace

nlohmann::json reference_request(const tasks::Task& task, std::size_t n, std::uint64_t seed,
                                 const ReferenceSettings& settings) {
  return {
      {"task", task.name},
      {"options", task.options},
      {"n", n},
      {"seed", seed},
      {"settings", to_json(settings)},
      {"versions", {{"task", task.version}, {"density", tasks::likelihood_version}, {"reference", reference_version}}}};
}

Matrix stacked(std::span<const simulate::Path> paths) {
  std::size_t rows = 0;
  for (const simulate::Path& path : paths) rows += path.states.rows();
  Matrix all(rows, paths.empty() ? 0 : paths.front().states.cols());
  std::size_t at = 0;
  for (const simulate::Path& path : paths) {
    std::ranges::copy(path.states.values(), all.values().begin() + static_cast<std::ptrdiff_t>(at));
    at += path.states.values().size();
  }
  return all;
}

void describe_paths(std::span<const simulate::Path> paths, nlohmann::json& request) {
  const auto regular = [](const simulate::Path& path) {
    return path.from_start && std::ranges::all_of(path.steps, [](double step) { return step == 1; }) &&
           (path.times.empty() || path.times.front() == 0);
  };
  if (paths.size() == 1 && regular(paths.front())) return;
  for (const simulate::Path& path : paths) {
    request["paths"].push_back({{"states", path.states.rows()},
                                {"from_start", path.from_start},
                                {"first_time", path.times.front()},
                                {"steps", path.steps}});
  }
}

void describe_covariates(std::span<const simulate::Path> paths, nlohmann::json& request) {
  Hash hash;
  bool any = false;
  for (const simulate::Path& path : paths) {
    for (const double value : path.covariates.values()) hash.add(std::bit_cast<std::uint64_t>(value));
    any = any || path.covariates.cols() > 0;
  }
  if (any) request["covariates"] = fmt::format("{:016x}", hash.value());
}

files::Group reference_group(const tasks::Task& task, ConstMatrixView series, const nlohmann::json& request,
                             const Reference& reference) {
  sample::Draws draws{task.simulator.parameter_names, reference.draws};
  files::Series& observed = draws.series.emplace_back();
  observed.names = task.simulator.state_names;
  observed.values = Matrix(series.rows, series.cols);
  for (std::size_t r = 0; r < series.rows; ++r) std::ranges::copy(series.row(r), observed.values.row(r).begin());
  draws.health = reference.health;
  draws.record = {{"request", request.dump()},
                  {"outcome", std::string(name(reference.outcome))},
                  {"method", reference.method},
                  {"evaluations", static_cast<std::int64_t>(reference.evaluations)}};
  if (!reference.start.empty()) draws.record["start"] = reference.start;
  return sample::draws_group(draws);
}

std::optional<ReferenceCache> ReferenceCache::of_user() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::filesystem::path(value == nullptr ? "" : value);
  };
  // The XDG rules: a relative path is to be ignored.
  const std::filesystem::path cache = variable("XDG_CACHE_HOME"), home = variable("HOME");
  if (cache.is_absolute()) return ReferenceCache(cache / "catena" / "references");
  if (home.is_absolute()) return ReferenceCache(home / ".cache" / "catena" / "references");
  return std::nullopt;
}

std::filesystem::path ReferenceCache::path(const nlohmann::json& request, ConstMatrixView series) const {
  Hash hash;
  hash.add(request.dump());
  hash.add(series.rows);
  hash.add(series.cols);
  for (const double value : flat(series)) hash.add(std::bit_cast<std::uint64_t>(value));
  return directory_ / fmt::format("{:016x}.nc", hash.value());
}

std::optional<files::Group> ReferenceCache::find(const nlohmann::json& request, ConstMatrixView series) const {
  const std::filesystem::path file = path(request, series);
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return std::nullopt;
  try {
    files::Group group = files::read_netcdf(file);
    const bool answers = group.attributes.at("request") == request.dump() &&
                         group.group("observed_data").variable("series").values == files::Values(flat(series));
    if (answers) return group;
  } catch (const InputError&) {
    // Damaged or of an older layout: as good as none.
  } catch (const std::out_of_range&) {
  }
  return std::nullopt;
}

bool ReferenceCache::store(const nlohmann::json& request, ConstMatrixView series, const files::Group& group) const {
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  if (error) return false;
  try {
    files::write_netcdf(path(request, series), group);
  } catch (const FileError&) {
    return false;
  }
  return true;
}

FoundReference find_reference(const tasks::Task& task, ConstMatrixView series, std::size_t n, std::uint64_t seed,
                              const ReferenceSettings& settings, const std::optional<ReferenceCache>& cache,
                              const Parallel& parallel, Progress& progress) {
  check::at_least("reference", "the number of states in the series", series.rows, std::size_t{1});
  const simulate::SeriesView view{series};
  const auto paths = simulate::paths_of("reference", {&view, 1}, task.simulator.states(), {}, {});
  return find_reference(task, paths, n, seed, settings, cache, parallel, progress);
}

FoundReference find_reference(const tasks::Task& task, std::span<const simulate::Path> paths, std::size_t n,
                              std::uint64_t seed, const ReferenceSettings& settings,
                              const std::optional<ReferenceCache>& cache, const Parallel& parallel,
                              Progress& progress) {
  const auto likelihood = tasks::series_likelihood(task, paths);  // checks the series
  const Matrix series = stacked(paths);
  nlohmann::json request = reference_request(task, n, seed, settings);
  describe_paths(paths, request);
  describe_covariates(paths, request);
  FoundReference found;
  found.transitions = likelihood->transitions();
  if (cache) found.group = cache->find(request, series);
  found.cached = found.group.has_value();
  if (found.cached) return found;
  const Reference reference = sample_reference(*likelihood, task.prior, n, settings, Streams(seed), parallel, progress);
  found.outcome = reference.outcome;
  if (found.outcome != Outcome::ok) return found;
  found.group = reference_group(task, series, request, reference);
  if (cache) cache->store(request, series, *found.group);
  return found;
}

}  // namespace catena::evaluate
