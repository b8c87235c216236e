/// Clouds of parameters that a round of correction simulates with, around the modes of a posterior's draws.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/random.h"
#include "catena/sample/correct/basis.h"
#include "catena/sample/finite_rows.h"
#include "catena/sample/mcmc/start/modes.h"

namespace catena::sample {

inline constexpr std::size_t cloud_points = 4000;

/// Where simulations of a round start from: its parameters, and the modes that they were made around.
struct Cloud {
  Matrix z;
  double width = 1;  // of the cloud, in widths of the posterior
  Modes modes;       // of z
  Matrix anchors;    // one for each of them: the draw that is nearest to its middle
};

/// The modes of draws, the heaviest first.
Modes ordered_modes(ConstMatrixView draws);

/// The draw of each mode that is nearest to its middle.
Matrix anchors_of(ConstMatrixView draws, const Modes& modes);

/// A cloud whose points belong to the modes of the posterior's draws, with the shapes that the points give them.
Cloud cloud_of(Matrix z, double width, ConstMatrixView draws, const Modes& modes);

/// Every mode of the draws `width` times as wide, and all of them equally often: learned weights are not to be trusted.
Cloud widened(ConstMatrixView draws, const Modes& modes, double width, Stream stream);

// Rows of matrices.
Matrix stacked_rows(const std::vector<const Matrix*>& parts);  ///< one below the other
std::vector<std::size_t> first_numbers(std::size_t count);     ///< 0, 1, …

}  // namespace catena::sample
