/// Draws from models that have local scores (fnse, fnbe): local precisions, composition by a rule, a diffusion sampler.
#pragma once

#include "catena/compose/rule.h"
#include "catena/diffusion/schedule.h"
#include "catena/sample/diffusion/sample.h"
#include "catena/sample/posterior.h"

namespace catena::sample {

struct ScorePosteriorSettings {
  std::string rule = "gauss";
  std::string precisions = "amortised";
  compose::RuleSettings compose;
  SampleSettings sample;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.rule, "rule", "how local scores are composed", one_of(compose::rules().names()));
    visit(c.precisions, "precisions",
          "local precisions: the model's amortised Gaussian, read off the scores, or sampled as in the paper (auto: "
          "scores, of joint networks alone)",
          when_any({{{"precisions", {"auto", "amortised"}}}, {{"rule", {"gauss"}}}},
                   one_of({"auto", "amortised", "scores", "sampled", "sampled_full"})));
    compose::RuleSettings::fields(c.compose, visit);
    SampleSettings::fields(c.sample, visit);
  }
};

/// Scores that were learned by matching are known down to the smallest noise of training and least well there: no
/// Langevin steps, which ask them again and again at every level, and no levels below (docs/fnse.md). Precisions of
/// joint networks are theirs: the amortised Gaussian is another network's, and on sir they contradict each other.
struct MatchedScorePosteriorSettings : ScorePosteriorSettings {
  MatchedScorePosteriorSettings() {
    precisions = "auto";
    sample.sampler = "stochastic_heun";
    sample.steps = 60;
    sample.smallest_a = diffusion::Schedule().a_min;
  }
};

PosteriorSampler fnse_posterior_sampler();
PosteriorSampler fnbe_posterior_sampler();

}  // namespace catena::sample
