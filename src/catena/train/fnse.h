/// FNSE: factorised neural score estimation. Networks:
///
///   whitening   standardises increments given the state (whitening.h)
///   score.0 …   an ensemble of scores, whose mean counts; each holds out other transitions (score.h)
///   centre      the error in that mean which all transitions share, to be subtracted (centre.h)
///   gaussian    local precisions for the rule `gauss` (local_gaussian.h)
#pragma once

#include "catena/train/method.h"
#include "catena/train/score.h"

namespace catena::train {

struct FnseSettings {
  FnseSettings() = default;  // not an aggregate: GCC 12 warns of uninitialised texts in nested aggregates

  ScoreSettings score;
  int gaussian_width = 50;
  std::string network = "separable";
  int ensemble = 0;
  bool whiten = true;
  bool centre = true;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.network, "network",
          "the score network: separable, at a cost that does not grow with T, joint, or auto: separable unless a joint "
          "one has a better held-out loss",
          one_of({"auto", "joint", "separable"}));
    ScoreSettings::fields(c.score, visit);
    visit(c.gaussian_width, "gaussian_width", "units of the layers of the local posteriors' Gaussian", at_least(4));
    visit(c.ensemble, "ensemble",
          "score networks to average, each with other transitions held out (0: 8 separable or 4 joint)", at_least(0));
    visit(c.whiten, "whiten", "standardise increments given the state they start from", anything());
    visit(c.centre, "centre", "learn and subtract the error in the score's mean, which adds up over a series",
          anything());
  }
};

/// "score.2": the name of a member's network.
std::string score_name(int member);

/// Settings of the score with the network that was chosen, from a model's settings.
ScoreSettings chosen_score(const FnseSettings& settings);

Method fnse_method();

}  // namespace catena::train
