/// FNBE: factorised neural estimation by a blurred likelihood: the score of a diffused local posterior as that of the
/// prior plus the gradient of one density q_τ (model/density/blur.h, docs/theory/fnbe.md). A density's gradient has
/// mean zero over x^(t+1) whatever its network has wrong, so that errors which all transitions share cannot add up.
#pragma once

#include "catena/model/density/blurred_model.h"
#include "catena/train/choose/effort.h"
#include "catena/train/method.h"

namespace catena::train {

struct FnbeSettings : model::BlurredModelSettings {
  double decay = 0;
  std::string effort = "default";

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    model::BlurredModelSettings::fields(c, visit);
    list_decay(c.decay, visit);
    list_effort(c.effort, visit);
  }
};

Method fnbe_method();

}  // namespace catena::train
