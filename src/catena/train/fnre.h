/// FNRE: factorised neural ratio estimation (paper section 3.4). Networks:
///
///   whitening   standardises increments given the state (whitening.h)
///   ratio.0 …   an ensemble of log ratios, whose mean counts; each holds out other transitions (ratio.h)
#pragma once

#include <string>

#include "catena/train/method.h"
#include "catena/train/ratio.h"

namespace catena::train {

struct FnreSettings {
  FnreSettings() = default;  // not an aggregate: GCC 12 warns of uninitialised texts in nested aggregates

  RatioNetworkSettings network;
  RatioLossSettings loss;
  std::string logarithms = "auto";
  bool whiten = true;
  int ensemble = 1;
  double decay = 0;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    RatioNetworkSettings::fields(c.network, visit);
    RatioLossSettings::fields(c.loss, visit);
    visit(c.logarithms, "logarithms", "states whose logarithm is seen too: auto, none or names with commas",
          anything());
    visit(c.whiten, "whiten", "standardise increments given the state they start from", anything());
    visit(c.ensemble, "ensemble", "ratio networks to average, each with other transitions held out", at_least(1));
    visit(
        c.decay, "decay",
        "weight decay at 10,000 transitions, less for more; takes weight_decay's place (0: found by the held-out loss)",
        not_negative());
  }
};

/// "ratio.2": the name of a member's network.
std::string ratio_name(int member);

Method fnre_method();

/// A trained FNRE ready for use: its settings read back from the file.
struct RatioModel {
  /// Throws InputError if the model is not of method fnre. `model` must outlive this.
  explicit RatioModel(const TrainedModel& model);

  const TrainedModel* model;
  FnreSettings settings;
  RatioMap map;
  RatioShape shape;

  const NamedWeights& weights(int member) const { return model->network(ratio_name(member)).weights; }
};

}  // namespace catena::train
