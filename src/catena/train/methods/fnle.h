/// FNLE: factorised neural likelihood estimation (paper section 3.4). One network, named after its density:
/// log q(x^(t+1) | x^t, z), trained by maximum likelihood, E log q over the transitions.
#pragma once

#include "catena/model/density/density_model.h"
#include "catena/train/choose/effort.h"
#include "catena/train/method.h"

namespace catena::train {

struct FnleSettings : model::DensityModelSettings {
  double decay = 0;
  std::string effort = "default";

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    model::DensityModelSettings::fields(c, visit);
    list_decay(c.decay, visit);
    list_effort(c.effort, visit);
  }
};

Method fnle_method();

}  // namespace catena::train
