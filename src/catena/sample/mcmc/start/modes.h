/// The modes of a cloud of points: a mixture of Gaussians whose number of components the points decide themselves. From
/// it the kernel `cloud` proposes independent draws and steps of the right width (cloud.h).
#pragma once

#include <cstddef>
#include <vector>

#include "catena/core/array.h"
#include "catena/sample/mcmc/kernels/cloud_shape.h"

namespace catena::sample {

/// How many modes of a posterior proposals and starts know of at most: periodic_sde has four that are alike.
inline constexpr std::size_t usual_modes = 8;

struct Mode {
  double weight = 1;  // they add up to 1
  CloudShape shape;
};

struct Modes {
  std::vector<Mode> all;
  std::vector<std::size_t> of;  // the mode of each point that is most likely its own
};

/// At most `most` components; one where the points do not ask for more. Points one a row, at least two.
Modes find_modes(ConstMatrixView points, std::size_t most);

}  // namespace catena::sample
