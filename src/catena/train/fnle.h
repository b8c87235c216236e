/// FNLE: factorised neural likelihood estimation (paper section 3.4). One network, named after its density:
/// log q(x^(t+1) | x^t, z), trained by maximum likelihood, E log q over the transitions.
#pragma once

#include <string>
#include <vector>

#include "catena/train/density_inputs.h"
#include "catena/train/method.h"

namespace catena::train {

struct FnleSettings {
  FnleSettings() = default;  // not an aggregate: GCC 12 warns of uninitialised texts in nested aggregates

  DensitySettings density;
  DensityInputSettings inputs;
  double decay = 0;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    DensitySettings::fields(c.density, visit);
    DensityInputSettings::fields(c.inputs, visit);
    visit(
        c.decay, "decay",
        "weight decay at 10,000 transitions, less for more; takes weight_decay's place (0: found by the held-out loss)",
        not_negative());
  }
};

Method fnle_method();

/// A trained FNLE ready for use: its settings read back from the file.
struct DensityModel {
  /// Throws InputError if the model is not of method fnle. `model` must outlive this.
  explicit DensityModel(const TrainedModel& model);

  const TrainedModel* model;
  FnleSettings settings;
  DensityMap map;
  DensityShape shape;

  const NamedWeights& weights() const { return model->network(settings.density.density).weights; }
};

/// The model as a simulator: one draw of x^(t+1) for each row of z and x (`times` only for models that use time).
Matrix draw_transitions(const DensityModel& model, ConstMatrixView z, ConstMatrixView x, std::span<const double> times,
                        const Streams& streams);

}  // namespace catena::train
