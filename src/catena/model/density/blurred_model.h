/// A trained density q_τ(x^(t+1) | x^t, ẑ) of blurred parameters (blur.h) as inference sees it: what `fnbe` learns.
/// Networks:
///
///   likelihood  log q_τ, by maximum likelihood
///   gaussian    local precisions for the rule `gauss` (local_gaussian.h)
#pragma once

#include <string>

#include "catena/diffusion/schedule.h"
#include "catena/model/density/density_model.h"
#include "catena/model/trained_model.h"

namespace catena::model {

struct BlurredModelSettings : DensityModelSettings {
  std::string schedule = "variance_preserving";
  int gaussian_width = 50;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    DensityModelSettings::fields(c, visit);
    visit(c.schedule, "schedule", "the noise schedule", one_of(diffusion::schedules().names()));
    visit(c.gaussian_width, "gaussian_width", "units of the layers of the local posteriors' Gaussian", at_least(4));
  }
};

inline constexpr const char* likelihood_network = "likelihood";

/// Ready for use: its settings read back from the file.
struct BlurredModel {
  /// Throws InputError if the model is not of method fnbe. `model` must outlive this.
  explicit BlurredModel(const TrainedModel& model);

  const TrainedModel* model;
  BlurredModelSettings settings;
  diffusion::Schedule schedule;
  DensityMap map;
  DensityShape shape;  // its parameters are what the network sees of (ẑ, τ)

  const NamedWeights& weights() const { return model->network(likelihood_network).weights; }
};

}  // namespace catena::model
