/// Posterior draws from a file, whoever wrote it: netCDF with ArviZ's group `posterior` (catena, PyMC, NumPyro, sbi via
/// ArviZ), or CSV with one draw a row.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "catena/core/array.h"

namespace catena::evaluate {

struct Draws {
  std::vector<std::string> parameters;  ///< one per column; empty if the file has no names (CSV without a header)
  Matrix values;                        ///< one draw a row, the chains one after the other
};

/// A file that ends in .csv, .tsv or .txt is CSV, any other one netCDF. In netCDF every numeric variable of `posterior`
/// with dimensions (chain, draw, …) counts. Its further dimensions are spread out: as name[label] or name[0], or, if it
/// is the only variable and its last dimension has texts as coordinates, by those texts alone.
Draws read_draws(const std::filesystem::path& path);

/// B with its columns in the order of A's parameters. Files without names are taken as they are; otherwise an
/// InputError if the names are not the same.
Draws in_order_of(const Draws& a, Draws b);

}  // namespace catena::evaluate
