/// Records that are whole series of different lengths, each with its θ: what a network that reads a series as a whole
/// is trained on. The states of all series stand in one array, one series after another, and record r has its rows
/// offsets[r] … offsets[r + 1] − 1: a "contiguous ragged array" of the CF conventions, and a netCDF file of that kind.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "catena/core/array.h"
#include "catena/prior/prior.h"
#include "catena/simulate/series.h"

namespace catena::simulate {

struct SeriesSet {
  prior::Prior prior;  // with the parameters' names
  std::vector<std::string> state_names;
  nlohmann::json provenance = nlohmann::json::object();  // what made it
  std::vector<double> theta;                             // record after record
  std::vector<double> states;                            // row after row of all series
  std::vector<double> times;                             // of each row
  std::vector<std::size_t> offsets = {0};                // rows before each record, and all rows
  bool uses_time = false;                                // the simulator's steps depend on time: networks see it

  std::size_t size() const { return offsets.size() - 1; }
  std::size_t length(std::size_t record) const { return offsets[record + 1] - offsets[record]; }
  std::span<const double> theta_of(std::size_t record) const {
    return {theta.data() + record * prior.size(), prior.size()};
  }
  SeriesView series(std::size_t record) const;

  /// One more record, of any number of states, none included. Throws InputError where sizes differ from those of the
  /// set or a number is not finite.
  void add(std::span<const double> theta_of_record, const SeriesView& one);
};

std::vector<std::size_t> lengths_of(const SeriesSet& set, std::span<const std::size_t> records);

/// A batch as layers over series take it (nn/sequences.h): record records[l] in lane l, time t in the features t·n …
/// t·n + n − 1, zeros after its end. `to` has room for the longest; nn::fill_mask makes the mask of lengths_of.
void pack(const SeriesSet& set, std::span<const std::size_t> records, Block to);

void write_series_set(const std::filesystem::path& path, const SeriesSet& set);
SeriesSet read_series_set(const std::filesystem::path& path);

}  // namespace catena::simulate
