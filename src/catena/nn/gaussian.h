/// A Gaussian density whose parameters come out of a network: with e = L v − b, L lower triangular with the diagonal
/// exp(l),
///
///   −log N(v; μ, C⁻¹) = ½‖e‖² − Σ_i l_i + ½ k log 2π,   C = LᵀL,   μ = L⁻¹ b.
///
/// Linear in b and in L's lower part, so that training is as well behaved as a regression.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <span>

#include "catena/nn/graph.h"

namespace catena::nn {

/// How many outputs of a network describe a Gaussian in k dimensions: b, l, and L's rows below the diagonal.
constexpr std::size_t gaussian_parameters(std::size_t k) { return 2 * k + k * (k - 1) / 2; }

struct GaussianNode {
  Value residual;      // e
  Value log_diagonal;  // l
  Value loss;          // −log density, without its constant ½ k log 2π
};

/// `parameters` has gaussian_parameters(k) features for a `variable` of k.
GaussianNode record_gaussian(Graph& graph, Value parameters, Value variable);

/// The same outputs, outside the graph: L and b of one lane.
struct GaussianValues {
  Eigen::MatrixXd l;
  Eigen::VectorXd b;
};
GaussianValues gaussian_values(std::span<const float> parameters, std::size_t k);

}  // namespace catena::nn
