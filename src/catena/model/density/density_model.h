/// A trained density q(x^(t+1) | x^t, z) as inference sees it: what `fnle` learns. One network, named after its
/// density.
#pragma once

#include <span>

#include "catena/core/random.h"
#include "catena/model/density/inputs.h"
#include "catena/model/trained_model.h"

namespace catena::model {

struct DensityModelSettings {
  DensityModelSettings() = default;  // not an aggregate: GCC 12 warns of uninitialised texts in nested aggregates

  DensitySettings density;
  DensityInputSettings inputs;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    DensitySettings::fields(c.density, visit);
    DensityInputSettings::fields(c.inputs, visit);
  }
};

/// Ready for use: its settings read back from the file.
struct DensityModel {
  /// Throws InputError if the model is not of method fnle. `model` must outlive this.
  explicit DensityModel(const TrainedModel& model);

  const TrainedModel* model;
  DensityModelSettings settings;
  DensityMap map;
  DensityShape shape;

  const NamedWeights& weights() const { return model->network(settings.density.density).weights; }
};

/// The model as a simulator: one draw of x^(t+1) for each row of z and x (`times` only for models that use time, u for
/// those with covariates).
Matrix draw_transitions(const DensityModel& model, ConstMatrixView z, ConstMatrixView x, std::span<const double> times,
                        const Streams& streams, ConstMatrixView u = {});

}  // namespace catena::model
