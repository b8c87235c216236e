/// A Gaussian of u given s and z whose logarithm is a sum of products of functions of z and functions of (s, u):
///
///   log q = Σ_m (l_m(z) + g_m(s) − ½ e_m²),   e_m = e^(l_m(z)) (e^(g_m(s)) u_m + φ_m(z)·ψ_m(s, u_<m)),
///   ψ_m = W_m [s, h(s), p(s) ⊙ q_m(u_<m), 1],
///
/// h, l, φ and g by networks, p and q_m linear in h and in u. It integrates to one over u whatever the weights are, and
/// Σ_t log q needs Σ_t g_m(s_t) and Σ_t Ψ_m Ψ_mᵀ alone, Ψ_m = (e^(g_m) u_m, ψ_m), so that a series' likelihood costs
/// the same whatever its length. Where drift and noise are sums of products of functions of parameters and of the state
/// it is exact; the network of z has products of linear forms beside its hidden layers, since drifts are often
/// polynomials.
///
/// Used by densities (density_separable.cpp) and ratios (ratio_network.h).
#pragma once

#include <cstddef>

#include "catena/nn/graph.h"

namespace catena::model {

/// Networks are chosen among separable ones up to so many coordinates, n: each of them has a row of ψ and of φ, and
/// nobody has measured more.
inline constexpr std::size_t most_separable_states = 16;

struct SeparableGaussian {
  std::size_t states = 0;  // n
  std::size_t state_width = 0, z_width = 0;
  int state_layers = 0, z_layers = 0;
  std::size_t forms = 0;     // products of linear forms of z
  std::size_t products = 0;  // of p ⊙ q
  std::size_t terms = 0;     // of φ_m·ψ_m, and one: the length of e_m's product
};

/// The layout that both parts have, as record_products() and compose/density/separable_sum.h take them: `linear`
/// features whose products are added, then `terms` for each of the squares.
struct SeparableLayout {
  std::size_t linear = 0;   // features whose products are added
  std::size_t squares = 0;  // sums of products whose squares are subtracted, halved
  std::size_t terms = 0;    // features of each of them

  std::size_t square_features() const { return squares * terms; }
  std::size_t features() const { return linear + square_features(); }
  /// The first feature of the square that feature f belongs to.
  std::size_t first_of_square(std::size_t f) const { return f - (f - linear) % terms; }
};
SeparableLayout layout_of(const SeparableGaussian& gaussian);

/// [s, h(s)] of a state
nn::Value record_state(nn::Graph& graph, const SeparableGaussian& gaussian, nn::Value state);

/// Σ_m k_m g_m(s) and k_1 … k_n, then k_m e^(g_m(s)) u_m and k_m ψ_m for each m, of what record_state gave. `keep` has
/// k_m, 0 where a coordinate does not count; with none, all do. `more`, if there is any, is added to the first feature
/// and so to log q.
nn::Value record_gaussian_summary(nn::Graph& graph, const SeparableGaussian& gaussian, nn::Value of_state, nn::Value u,
                                  nn::Value keep = {}, nn::Value more = {});

/// 1 and l_1(z) … l_n(z), then e^(l_m(z)) and e^(l_m(z)) φ_m(z) for each m.
nn::Value record_gaussian_coefficients(nn::Graph& graph, const SeparableGaussian& gaussian, nn::Value z);

/// [z, (A z) ⊙ (B z), hidden layers of z]
nn::Value record_forms(nn::Graph& graph, nn::Value z, std::size_t forms, std::size_t width, int layers);

/// Σ of the products of linear features − ½ Σ of the squares, in each lane; with `pairs` > 0 of each transition with
/// the z of so many lanes, its own first (nn/ops/pairs.cpp).
nn::Value record_products(nn::Graph& graph, const SeparableLayout& layout, nn::Value coefficients, nn::Value summary,
                          std::size_t pairs = 0);

}  // namespace catena::model
