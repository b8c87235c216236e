/// Networks for the log ratio r(z, c) ≈ log p(x^(t+1) | x^t, z)/p(x^(t+1) | x^t) of a transition c = (s, T(u))
/// (ratio_inputs.h):
///
///   joint      one residual network of z and c: h₀ = gelu(W_c c + W_z z), h ← layer_norm(gelu(W h + e) + h)
///   separable  r = φ(z)·ψ(c) + b(z) − ½ Σ_m (φ_m(z)·ψ_m(c))² with K terms in φ·ψ and k in each of the M squares: the
///              sum over a series needs T, Σ_t ψ(c_t) and Σ_t ψ_m(c_t) ψ_m(c_t)ᵀ alone
///   gaussian   r = log N(u; L⁻¹b, (LᵀL)⁻¹)/N(u; 0, I), which is separable too:
///              r = Σ_m (l_m(z) + g_m(s)) − ½ Σ_m e_m² + ½‖u‖²,  e_m = e^(l_m(z)) (e^(g_m(s)) u_m + φ_m(z)·ψ_m(s,
///              u_<m))
///
/// with ψ = W [h(c), p(s) ⊙ q(T(u))] and ψ_m = W_m [h(s), p(s) ⊙ q'(u)], h networks, p one of the state, q and q'
/// linear. Where increments are Gaussian given state and parameters, log p = −½‖L u − b‖² + log det L: a square of sums
/// of products of functions of z, of s, and of u. Said outright, drifts that are polynomials in z stay right where
/// transitions are few.
///
/// e_m of a gaussian ratio holds u_m and those before it alone, so that e^r N(u; 0, I) is a density of u whatever the
/// weights are. The mean of ∇_z r over u is zero then, and what the network has wrong does not add up over a series as
/// it does where e^r is normalised by what was learned.
#pragma once

#include <cstddef>
#include <string>

#include "catena/core/config.h"
#include "catena/model/ratio/inputs.h"
#include "catena/model/separable_gaussian.h"
#include "catena/nn/graph.h"

namespace catena::model {

struct RatioNetworkSettings {
  RatioNetworkSettings() = default;  // not an aggregate: GCC 12 warns of uninitialised texts in nested aggregates

  std::string network = "auto";
  int width = 50;
  int layers = 2;
  int terms = 32;
  int products = 64;
  int squares = -1;
  int square_terms = 16;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(
        c.network, "network",
        "the ratio: gaussian or separable, at a cost that does not grow with T, or joint (auto: the better one of the "
        "first two by the held-out loss)",
        one_of({"auto", "gaussian", "separable", "joint"}));
    visit(c.width, "width", "units of each hidden layer", at_least(4));
    visit(c.layers, "layers", "hidden layers of each part (separable), residual layers (joint)", at_least(1));
    const std::vector<std::string> separable{"auto", "gaussian", "separable"};
    visit(c.terms, "terms", "terms K of a separable network", when("network", separable, at_least(1)));
    visit(c.products, "products", "products of a function of the state and one of the increment",
          when("network", separable, at_least(1)));
    visit(c.squares, "squares",
          "squares of sums of products (-1: one for each state, at most 4); a gaussian network has as many as states",
          when("network", {"auto", "separable"}, at_least(-1)));
    visit(c.square_terms, "square_terms", "terms of each of them", when("network", separable, at_least(2)));
  }
  bool separable() const { return network != "joint"; }
  bool gaussian() const { return network == "gaussian"; }
  /// Of a separable network's two parts.
  SeparableLayout layout() const;
};

struct RatioInputs {
  nn::Value z, state, increment;
};

/// The ratio of one transition a lane; `settings` must not say auto or −1 squares any more. With other lanes than one
/// each, z is shared by the lanes of a group.
struct RatioGraph {
  nn::Graph graph;
  RatioInputs inputs;
  nn::Value ratio;
};
RatioGraph record_ratio(const RatioNetworkSettings& settings, const RatioShape& shape,
                        nn::Lanes z_lanes = nn::Lanes::each());

/// The two parts of a separable network, each into a graph that has the inputs, in settings.layout(); what belongs to
/// b(z) is 1. record_products() makes the ratio of them.
nn::Value record_summary(nn::Graph& graph, const RatioNetworkSettings& settings, const RatioShape& shape,
                         nn::Value state, nn::Value increment);
nn::Value record_coefficients(nn::Graph& graph, const RatioNetworkSettings& settings, nn::Value z);

/// The joint network's ratio; z and the transition may have different lanes if one is shared by groups.
nn::Value record_joint(nn::Graph& graph, const RatioNetworkSettings& settings, const RatioInputs& inputs);

}  // namespace catena::model
