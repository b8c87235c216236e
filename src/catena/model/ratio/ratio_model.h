/// A trained log ratio r(z, c) as inference sees it: what `fnre` learns. Networks:
///
///   whitening   standardises increments given the state (whitening.h)
///   ratio.0 …   an ensemble of log ratios, whose mean counts
#pragma once

#include <string>

#include "catena/model/ratio/network.h"
#include "catena/model/trained_model.h"

namespace catena::model {

struct RatioModelSettings {
  RatioModelSettings() = default;  // not an aggregate: GCC 12 warns of uninitialised texts in nested aggregates

  RatioNetworkSettings network;
  std::string logarithms = "auto";
  bool whiten = true;
  int ensemble = 1;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    RatioNetworkSettings::fields(c.network, visit);
    visit(c.logarithms, "logarithms", "states whose logarithm is seen too: auto, none or names with commas",
          anything());
    visit(c.whiten, "whiten", "standardise increments given the state they start from", anything());
    visit(c.ensemble, "ensemble", "ratio networks to average, each with other transitions held out", at_least(1));
  }
};

/// "ratio.2": the name of a member's network.
std::string ratio_name(int member);

/// Ready for use: its settings read back from the file.
struct RatioModel {
  /// Throws InputError if the model is not of method fnre. `model` must outlive this.
  explicit RatioModel(const TrainedModel& model);

  const TrainedModel* model;
  RatioModelSettings settings;
  RatioMap map;
  RatioShape shape;

  const NamedWeights& weights(int member) const { return model->network(ratio_name(member)).weights; }
};

}  // namespace catena::model
