/// The tables of a sweep's shards (benchmark.h), put together to the one that an undivided sweep leaves.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

namespace catena::experiment {

/// rows.1-of-n.csv, …, rows.n-of-n.csv of these directories to rows.csv of `output`, in the order of the sweep. Throws
/// InputError with the number of a shard that is missing, there twice, of another sweep or without some of its rows.
/// Returns how many rows there are.
std::size_t merge_shards(const std::vector<std::filesystem::path>& directories, const std::filesystem::path& output);

}  // namespace catena::experiment
