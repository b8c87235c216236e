/// FNRE: factorised neural ratio estimation (paper section 3.4): the networks of model/ratio/ratio_model.h, by
/// classification (ratio_objective.h).
#pragma once

#include "catena/model/ratio/ratio_model.h"
#include "catena/train/choose/effort.h"
#include "catena/train/method.h"
#include "catena/train/objectives/ratio.h"

namespace catena::train {

struct FnreSettings : model::RatioModelSettings {
  RatioLossSettings loss;
  double decay = 0;
  std::string effort = "default";

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    model::RatioModelSettings::fields(c, visit);
    RatioLossSettings::fields(c.loss, visit);
    list_decay(c.decay, visit);
    list_effort(c.effort, visit);
  }
};

Method fnre_method();

}  // namespace catena::train
