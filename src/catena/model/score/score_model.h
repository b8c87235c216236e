/// A trained local score as inference sees it: what `fnse` learns by denoising score matching. Networks:
///
///   whitening   standardises increments given the state (whitening.h)
///   score.0 …   an ensemble of scores, whose mean counts
///   centre      the error in that mean which all transitions share, to be subtracted
///   gaussian    local precisions for the rule `gauss` (local_gaussian.h)
#pragma once

#include <memory>
#include <string>

#include "catena/diffusion/schedule.h"
#include "catena/model/local_gaussian.h"
#include "catena/model/score/network.h"
#include "catena/model/trained_model.h"

namespace catena::model {

struct ScoreModelSettings {
  ScoreModelSettings() = default;  // not an aggregate: GCC 12 warns of uninitialised texts in nested aggregates

  std::string network = "auto";
  ScoreNetworkSettings sizes;
  std::string schedule = "variance_preserving";
  int gaussian_width = 50;
  int ensemble = 0;
  bool whiten = false;
  bool centre = true;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.network, "network",
          "the score: joint (paper), local, at the scale of each transition's own posterior, or separable, at a cost "
          "that does not grow with T (auto: by the held-out loss)",
          one_of({"auto", "joint", "local", "separable"}));
    ScoreNetworkSettings::fields(c.sizes, visit);
    visit(c.schedule, "schedule", "the noise schedule", one_of(diffusion::schedules().names()));
    visit(c.gaussian_width, "gaussian_width", "units of the layers of the local posteriors' Gaussian", at_least(4));
    visit(c.ensemble, "ensemble",
          "score networks to average, each with other transitions held out (0: 8 separable or 4 others)", at_least(0));
    visit(c.whiten, "whiten", "standardise increments given the state they start from", anything());
    visit(c.centre, "centre", "learn and subtract the error in the score's mean, which adds up over a series",
          anything());
  }
};

/// "score.2": the name of a member's network.
std::string score_name(int member);

/// Sizes of the network that was chosen.
ScoreNetworkSettings chosen_network(const ScoreModelSettings& settings);

/// The model's network `gaussian`, ready for use.
std::unique_ptr<LocalGaussianNetwork> local_gaussian(const TrainedModel& model, const ScoreModelSettings& settings);

/// Of the network `centre`: separable and small, for a mean is a simpler function than the score.
ScoreNetworkSettings centre_network();

/// Ready for use: its settings read back from the file.
struct ScoreModel {
  /// Throws InputError if the model is not of method fnse. `model` must outlive this.
  explicit ScoreModel(const TrainedModel& model);

  const TrainedModel* model;
  ScoreModelSettings settings;
  diffusion::Schedule schedule;

  Precondition at(double a) const { return Precondition(schedule, a, settings.sizes.prior_share); }
};

}  // namespace catena::model
