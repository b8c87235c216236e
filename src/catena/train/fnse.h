/// FNSE: factorised neural score estimation. Networks: "score" (score.h) and "gaussian" (local_gaussian.h), whose local
/// precisions the rule `gauss` takes.
#pragma once

#include "catena/train/method.h"
#include "catena/train/score.h"

namespace catena::train {

struct FnseSettings {
  FnseSettings() = default;  // not an aggregate: GCC 12 warns of uninitialised texts in nested aggregates

  ScoreSettings score;
  int gaussian_width = 50;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    ScoreSettings::fields(c.score, visit);
    visit(c.gaussian_width, "gaussian_width", "units of the layers of the local posteriors' Gaussian", at_least(4));
  }
};

Method fnse_method();

}  // namespace catena::train
