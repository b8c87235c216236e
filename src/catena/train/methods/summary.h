/// Methods of whole series in two stages (the paper's NPE+, NPE++, NLE+ and NLE++; docs/theory/npe.md): first an
/// embedding, "summaries", trained to know all that a series says of z (objectives/summary.h); then, with that left as
/// it is, a density: npe_summary the posterior given the summaries, nle_summary the summaries given z.
#pragma once

#include "catena/model/posterior/summary_likelihood_model.h"
#include "catena/train/methods/npe.h"
#include "catena/train/objectives/summary.h"

namespace catena::train {

struct NpeSummarySettings : NpeSettings {
  SummarySettings summary;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    SummarySettings::fields(c.summary, visit);
    NpeSettings::fields(c, visit);
  }
};

struct NleSummarySettings : model::SummaryLikelihoodSettings {
  SummarySettings summary;
  double shortened = 0.1;
  double decay = 0;
  std::string effort = "default";

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    SummarySettings::fields(c.summary, visit);
    model::SummaryLikelihoodSettings::fields(c, visit);
    list_shortened(c.shortened, visit);
    list_decay(c.decay, visit);
    list_effort(c.effort, visit);
  }
};

Method npe_summary_method();
Method nle_summary_method();

}  // namespace catena::train
