/// The local score s(θ_a, a, c) ≈ ∇ log p(θ_a | x^t, x^(t+1)) as a network y inside the paper's preconditioning
/// (docs/refs.bib: gloeckler2025, appendix B): with s₀² = ½ of the prior's variance, which is 1 in z-space,
///
///   s = (m y − θ_a)/v,   v = m² s₀² + σ²,   y = y(c_in θ_a, σ, c),   c_in = s₀/√v.
///
/// With s₀² = 1, the prior's whole variance, y = 0 is the score of the prior itself, and a network has only to learn
/// what a transition says beyond it.
///
/// Networks for y:
///   joint      one residual network of all three (model/score/conditional_network.h)
///   local      the same in the coordinates of each local posterior (local_precondition.h)
///   separable  y = Φ(θ_a, a) ψ(c) + b(θ_a, a) with K terms: the sum over a series needs Σ_t ψ(c_t) alone
#pragma once

#include <cstddef>
#include <string>

#include "catena/core/config.h"
#include "catena/diffusion/schedule.h"
#include "catena/nn/graph.h"

namespace catena::model {

struct ScoreNetworkSettings {
  std::string network = "separable";
  int width = 50;
  int layers = 5;
  int terms = 64;
  double prior_share = 1;

  /// `network` itself is listed by whoever chooses it.
  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.width, "width", "units of each hidden layer", at_least(4));
    visit(c.layers, "layers", "hidden layers", at_least(1));
    visit(c.terms, "terms", "terms K of a separable network", when("network", {"auto", "separable"}, at_least(1)));
    visit(c.prior_share, "prior_share", "s0^2, the share of the prior's variance that scales the score (paper: 0.5)",
          between(1e-3, 1.0));
  }
  bool separable() const { return network == "separable"; }
  bool local() const { return network == "local"; }
};

/// s₀² of the paper, and of models of before it was a setting.
inline constexpr double papers_prior_share = 0.5;

/// m, σ and the preconditioning at one noise level.
struct Precondition {
  /// `share` is s₀².
  explicit Precondition(const diffusion::Schedule& schedule, double a, double share);
  double m, sigma, v, c_in;
};

/// The whole network, for training and for one transition at a time.
struct ScoreGraph {
  nn::Graph graph;
  nn::Value variable, condition, level;  // c_in θ_a, c, σ
  nn::Value y;
};
ScoreGraph record_score(const ScoreNetworkSettings& settings, std::size_t parameters, std::size_t features,
                        nn::Lanes level_lanes);

/// The two parts of a separable network on their own, with the same names of weights: ψ(c), K features, and
/// [Φ by rows, b], d·(K + 1) features, row i being Φ_i1 … Φ_iK, b_i.
struct SummaryGraph {
  nn::Graph graph;
  nn::Value condition, psi;
};
SummaryGraph record_summary(const ScoreNetworkSettings& settings, std::size_t features);
struct CoefficientGraph {
  nn::Graph graph;
  nn::Value variable, level, phi;
};
CoefficientGraph record_coefficients(const ScoreNetworkSettings& settings, std::size_t parameters,
                                     nn::Lanes level_lanes);

}  // namespace catena::model
