/// NPE: neural posterior estimation from whole series (the paper's baselines; docs/theory/npe.md). One network,
/// "posterior": log q(z | x⁰, …, x^T), trained by maximum likelihood on series and their shortened copies.
#pragma once

#include "catena/model/posterior/posterior_model.h"
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

Method npe_method();
Method npe_windows_method();

}  // namespace catena::train
