/// FNSE: factorised neural score estimation (paper section 3.1): the networks of model/score/score_model.h, by
/// denoising score matching (score_objective.h, centre.h).
#pragma once

#include "catena/model/score/score_model.h"
#include "catena/train/choose/effort.h"
#include "catena/train/method.h"
#include "catena/train/objectives/score.h"

namespace catena::train {

struct FnseSettings : model::ScoreModelSettings {
  ScoreLossSettings loss;
  double decay = 0;
  std::string effort = "default";

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    model::ScoreModelSettings::fields(c, visit);
    ScoreLossSettings::fields(c.loss, visit);
    list_decay(c.decay, visit);
    list_effort(c.effort, visit);
  }
};

Method fnse_method();

}  // namespace catena::train
