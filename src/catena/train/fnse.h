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
  int ensemble = 4;
  bool whiten = true;
  bool centre = true;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    ScoreSettings::fields(c.score, visit);
    visit(c.gaussian_width, "gaussian_width", "units of the layers of the local posteriors' Gaussian", at_least(4));
    visit(c.ensemble, "ensemble", "score networks to average, each with other transitions held out", at_least(1));
    visit(c.whiten, "whiten", "standardise increments given the state they start from", anything());
    visit(c.centre, "centre", "learn and subtract the error in the score's mean, which adds up over a series",
          anything());
  }
};

/// "score.2": the name of a member's network.
std::string score_name(int member);

Method fnse_method();

}  // namespace catena::train
