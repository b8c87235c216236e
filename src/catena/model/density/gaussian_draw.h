/// What the Gaussian and the mixture of Gaussians share: densities and draws where some coordinates sit at atoms.
#pragma once

#include <span>

#include "catena/core/random.h"
#include "catena/nn/gaussian.h"

namespace catena::model {

/// Σ_i keep_i (½ e_i² − l_i)
nn::Value record_masked_gaussian(nn::Graph& graph, const nn::GaussianNode& node, nn::Value keep);

/// v_i = (b_i + ε_i − Σ_{j<i} L_ij v_j)/L_ii for the coordinates that are kept; the others stay as they are.
void draw_gaussian(std::span<const float> parameters, std::span<const double> keep, Stream& stream,
                   std::span<double> v);

}  // namespace catena::model
