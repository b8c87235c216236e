/// Losses of ratio estimation by name, all from the log ratios r_s = r(z_s, c) of one transition c with S parameters:
/// z_0 is the one that made c, the others were drawn independently of it.
///
///   bce          −log σ(r_0) − mean_{s>0} log(1 − σ(r_s))                          (NRE-A: hermans2020)
///   contrastive  −r_0 + log (1/S) Σ_s e^(r_s)                                      (NRE-B: durkan2020)
///   nre_c        −γ/(1+γ) log( γ e^(r_0)/(K + γ Σ_{s<K} e^(r_s)) ) − 1/(1+γ) log( K/(K + γ Σ_{s≥K} e^(r_s)) ), K = S/2
///                                                                                  (NRE-C: miller2022)
///   balanced     bce + λ E[σ(r_0) + mean_{s>0} σ(r_s) − 1]², the square estimated from the block  (BNRE: delaunoy2022)
///   nce          noise-contrastive estimation (gutmann2012), for transitions that are real in one lane and
///                noise in the next: x^t as in the real one, u' ~ N(0, I), the Gaussian to which increments are
///                whitened. With S of z for each and r' = r − log S,  real: −log σ(r'_0),
///                noise: −Σ_s log(1 − σ(r'_s))
///   nce_contrastive  the sum of both
///
/// Those with noise learn the ratio to that Gaussian, log p(x^(t+1) | x^t, z)/q(x^(t+1) | x^t), which is as good for a
/// posterior. What they gain: e^r is normalised over x^(t+1) for every x^t and z, by noise of which there is no end, so
/// that only the way in which real increments depend on z has to be learned from the transitions.
///
/// `contrastive` leaves a function of c free in r, which no posterior sees; the others determine r.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catena/core/config.h"
#include "catena/core/registry.h"
#include "catena/nn/graph.h"

namespace catena::train {

struct RatioLossSettings {
  RatioLossSettings() = default;  // not an aggregate: GCC 12 warns of uninitialised texts in nested aggregates

  std::string loss = "auto";
  int atoms = 0;
  double gamma = 1;
  double balance = 100;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit);
};

struct RatioLoss {
  std::string_view name;
  std::string_view help;
  bool noise;        // lanes alternate between real transitions and noise
  bool to_marginal;  // r has to be the ratio to p(x^(t+1) | x^t), not to any other function of c
  /// `ratios` has S features; the result has one, on the same lanes. `real`, for losses with noise: 1 or 0.
  nn::Value (*record)(nn::Graph& graph, const RatioLossSettings& settings, nn::Value ratios, nn::Value real);
};

const Registry<RatioLoss>& ratio_losses();
/// Their names, and auto.
std::vector<std::string> ratio_loss_choices();

template <class Self, class Visit>
void RatioLossSettings::fields(Self& c, Visit&& visit) {
  visit(c.loss, "loss",
        "bce (NRE-A), contrastive (NRE-B), nre_c, balanced (BNRE), nce, nce_contrastive; auto: the last one, or "
        "contrastive "
        "for a joint network",
        one_of(ratio_loss_choices()));
  visit(c.atoms, "atoms",
        "parameters that each transition is compared with, its own included (0: 64 separable, 8 joint)", at_least(0));
  visit(c.gamma, "gamma", "odds of the dependent class", when("loss", {"nre_c"}, positive()));
  visit(c.balance, "balance", "weight lambda of the balance condition", when("loss", {"balanced"}, not_negative()));
}

}  // namespace catena::train
