/// A reference posterior as a netCDF file that ArviZ opens, and the cache of such files.
///
/// Groups: `posterior` (one chain of n near-independent draws, one variable per parameter, with its R-hat and effective
/// sample sizes as attributes) and `observed_data` (the series). The root's attribute `request` says in JSON what the
/// file answers: task, options, n, seed and the versions of the code.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "catena/core/array.h"
#include "catena/evaluate/reference/reference.h"
#include "catena/files/netcdf/netcdf.h"
#include "catena/simulate/paths.h"
#include "catena/tasks/task.h"

namespace catena::evaluate {

/// What a reference is asked for: equal requests have equal answers, bit for bit.
nlohmann::json reference_request(const tasks::Task& task, std::size_t n, std::uint64_t seed,
                                 const ReferenceSettings& settings);

/// The states of several paths as one series, and what else the answer depends on in the request: where paths begin,
/// their steps and times. A single path without gaps changes nothing.
Matrix stacked(std::span<const simulate::Path> paths);
void describe_paths(std::span<const simulate::Path> paths, nlohmann::json& request);

files::Group reference_group(const tasks::Task& task, ConstMatrixView series, const nlohmann::json& request,
                             const Reference& reference);

/// What tells one series' covariates from another's, for the request.
void describe_covariates(std::span<const simulate::Path> paths, nlohmann::json& request);

/// Files of references under one directory, named after a hash of request and series. Since a file contains both, a
/// clash of hashes is seen and counts as a miss.
class ReferenceCache {
 public:
  explicit ReferenceCache(std::filesystem::path directory) : directory_(std::move(directory)) {}

  /// $XDG_CACHE_HOME/catena/references or ~/.cache/catena/references; none if the environment names neither.
  static std::optional<ReferenceCache> of_user();

  std::filesystem::path path(const nlohmann::json& request, ConstMatrixView series) const;
  /// The stored file, if there is one that answers this request for this series; a damaged one counts as none.
  std::optional<files::Group> find(const nlohmann::json& request, ConstMatrixView series) const;
  /// False if the directory cannot be written: a cache is a convenience, not a reason to fail.
  bool store(const nlohmann::json& request, ConstMatrixView series, const files::Group& group) const;

 private:
  std::filesystem::path directory_;
};

struct FoundReference {
  Outcome outcome = Outcome::ok;
  std::optional<files::Group> group;  // none unless the outcome is ok
  bool cached = false;
  std::size_t transitions = 0;
};

/// The reference of a series: from the cache, if there is one and it has it, or sampled and then kept there.
FoundReference find_reference(const tasks::Task& task, ConstMatrixView series, std::size_t n, std::uint64_t seed,
                              const ReferenceSettings& settings, const std::optional<ReferenceCache>& cache,
                              const Parallel& parallel, Progress& progress);
/// The same for several paths of one θ.
FoundReference find_reference(const tasks::Task& task, std::span<const simulate::Path> paths, std::size_t n,
                              std::uint64_t seed, const ReferenceSettings& settings,
                              const std::optional<ReferenceCache>& cache, const Parallel& parallel, Progress& progress);

}  // namespace catena::evaluate
