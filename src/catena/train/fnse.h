/// FNSE: factorised neural score estimation. Networks:
///
///   whitening   standardises increments given the state (whitening.h)
///   score.0 …   an ensemble of scores, whose mean counts; each holds out other transitions (score.h)
///   centre      the error in that mean which all transitions share, to be subtracted (centre.h)
///   gaussian    local precisions for the rule `gauss` (local_gaussian.h)
///
/// or, with network = likelihood, the score as that of the prior plus the gradient of one density q_τ (blur.h):
///
///   likelihood  log q_τ(x^(t+1) | x^t, ẑ), by maximum likelihood
///   gaussian    as above
#pragma once

#include "catena/train/density_inputs.h"
#include "catena/train/method.h"
#include "catena/train/score.h"

namespace catena::train {

struct FnseSettings {
  FnseSettings() = default;  // not an aggregate: GCC 12 warns of uninitialised texts in nested aggregates

  ScoreSettings score;
  int gaussian_width = 50;
  std::string network = "likelihood";
  int ensemble = 0;
  bool whiten = true;
  bool centre = true;
  DensitySettings density;
  DensityInputSettings inputs;
  double decay = 0;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.network, "network",
          "where scores come from: a separable network, at a cost that does not grow with T; a joint one; auto: "
          "separable unless a joint one has a better held-out loss; likelihood: a density with blurred parameters",
          one_of({"auto", "joint", "separable", "likelihood"}));
    ScoreSettings::fields(c.score, visit);
    visit(c.gaussian_width, "gaussian_width", "units of the layers of the local posteriors' Gaussian", at_least(4));
    visit(c.ensemble, "ensemble",
          "score networks to average, each with other transitions held out (0: 8 separable or 4 joint)", at_least(0));
    visit(c.whiten, "whiten", "standardise increments given the state they start from", anything());
    visit(c.centre, "centre", "learn and subtract the error in the score's mean, which adds up over a series",
          anything());
    visit(c.density.density, "density", "likelihood: the density of an increment (auto: gaussian or mixture)",
          one_of(density_choices()));
    visit(c.density.width, "density_width", "likelihood: units of each hidden layer", at_least(4));
    visit(c.density.z_width, "density_z_width", "likelihood: units of each hidden layer of the parameters (separable)",
          at_least(4));
    visit(c.density.layers, "density_layers", "likelihood: hidden layers", at_least(1));
    visit(c.density.terms, "density_terms", "likelihood: products of a function of the state and one of the parameters",
          at_least(0));
    visit(c.density.components, "components", "likelihood: Gaussians of a mixture", at_least(1));
    visit(c.decay, "decay", "likelihood: weight decay at 10,000 transitions (0: found by the held-out loss)",
          not_negative());
    DensityInputSettings::fields(c.inputs, visit);
  }
  bool by_likelihood() const { return network == "likelihood"; }
};

/// The network of network = likelihood.
inline constexpr const char* likelihood_network = "likelihood";

/// "score.2": the name of a member's network.
std::string score_name(int member);

/// Settings of the score with the network that was chosen, from a model's settings.
ScoreSettings chosen_score(const FnseSettings& settings);

Method fnse_method();

}  // namespace catena::train
