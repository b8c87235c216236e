/// NPE: neural posterior estimation from whole series (the paper's baselines; docs/theory/npe.md). One network,
/// "posterior": log q(z | x⁰, …, x^T), trained by maximum likelihood on series and their shortened copies.
#pragma once

#include <algorithm>

#include "catena/model/posterior/posterior_model.h"
#include "catena/train/choose/decay_search.h"
#include "catena/train/choose/effort.h"
#include "catena/train/method.h"

namespace catena::train {

struct NpeSettings : model::PosteriorModelSettings {
  double shortened = 0.1;
  double decay = 0;
  std::string effort = "default";

  /// With the embeddings that may be chosen.
  template <class Self, class Visit>
  static void list(Self& c, Visit&& visit, std::vector<std::string> choices) {
    model::PosteriorModelSettings::list(c, visit, std::move(choices));
    list_shortened(c.shortened, visit);
    list_decay(c.decay, visit);
    list_effort(c.effort, visit);
  }
  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    list(c, visit, model::embeddings().names());
  }
};

/// The paper's NPE′.
struct NpeWindowsSettings : NpeSettings {
  NpeWindowsSettings() { embedding.embedding = "windows"; }

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    list(c, visit, {"windows"});
  }
};

/// The held-out loss was best after 440 to 560 steps of npe_windows on 10,000 transitions of lotka_volterra, and after
/// 960 of npe on 100,000 of gaussian_rw; patience ends the rest.
inline constexpr int least_series_trial = 500;
/// The gradient steps that a density of whole series takes by default.
int series_steps(std::size_t examples);

/// The search over weight decays of a density of whole series, whose settings name embedding, decay and effort.
template <class Settings, class Make>
DecaySearch series_search(const Settings& settings, const MethodContext& context, const Make& objective) {
  LoopSettings loop = context.loop;
  loop.steps = chosen_steps(loop.steps, series_steps(context.data.training_size()), settings.effort);
  DecaySearch search = with_effort({.kinds = {settings.embedding.embedding},
                                    .others = {},
                                    .decay = settings.decay,
                                    .loop = loop,
                                    .objective = [objective](const std::string&) { return objective(); }},
                                   settings.effort);
  search.trial_steps = std::min(search.trial_steps, std::max(least_series_trial, loop.steps / 4));
  return search;
}

Method npe_method();
Method npe_windows_method();

}  // namespace catena::train
