/// How far a figure of the paper is: which of its rows are there, and what the others will take.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "catena/core/parallel.h"
#include "catena/experiment/estimate.h"
#include "catena/experiment/figures/figure.h"
#include "catena/experiment/rows.h"
#include "catena/experiment/sweep.h"

namespace catena::experiment {

struct FigureSweep {
  std::string file;
  Sweep sweep;
};
/// The figure's sweeps in its order; a FileError if one is not in `directory`.
std::vector<FigureSweep> sweeps_of(const PaperFigure& figure, const std::filesystem::path& directory);

struct FigureState {
  std::size_t there = 0, all = 0;  // rows
  Estimate missing;
};
/// `results` is where models are kept between runs.
FigureState state_of(const std::vector<FigureSweep>& sweeps, const std::vector<Row>& rows,
                     const std::filesystem::path& results, const Parallel& parallel);

/// "144 of 432 rows; 288 missing, about 12 min"
std::string in_words(const FigureState& state);

}  // namespace catena::experiment
