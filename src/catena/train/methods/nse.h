/// NSE: neural score estimation from whole series (the paper's baseline; docs/theory/npe.md). One network, "score", by
/// denoising score matching on series and their shortened copies.
#pragma once

#include "catena/model/posterior/series_score_model.h"
#include "catena/train/choose/effort.h"
#include "catena/train/method.h"
#include "catena/train/objectives/series_score.h"

namespace catena::train {

struct NseSettings : model::SeriesScoreSettings {
  ScoreLossSettings loss;
  double shortened = 0.1;
  double decay = 0;
  std::string effort = "default";

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    model::SeriesScoreSettings::fields(c, visit);
    ScoreLossSettings::list_levels(c.loss, visit);
    list_shortened(c.shortened, visit);
    list_decay(c.decay, visit);
    list_effort(c.effort, visit);
  }
};

Method nse_method();

}  // namespace catena::train
