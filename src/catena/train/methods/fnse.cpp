#include "catena/train/methods/fnse.h"

#include <algorithm>
#include <memory>

#include "catena/train/choose/decay_search.h"
#include "catena/train/objectives/centre.h"
#include "catena/train/objectives/local_gaussian.h"

namespace catena::train {
namespace {

/// One recipe for all tasks, found on observations and seeds that no table uses (docs/fnse.md). Score matching learns
/// slowly: its target is noise around the score.
int fnse_steps(std::size_t transitions) { return transitions < 30000 ? 20000 : 45000; }

/// The kinds of network that are tried. A separable one, which costs the same for any T, is kept unless another one is
/// better, and is all that a quick search has. One step of states that have to be embedded may say nearly everything of
/// a parameter: a quick search takes a local one there, which sees each posterior at its own scale.
std::vector<std::string> kinds_of(const FnseSettings& settings, bool embedded) {
  if (settings.network != "auto") return {settings.network};
  if (is_quick(settings.effort)) return {embedded ? "local" : "separable"};
  return {"separable", "local", "joint"};
}

model::ScoreNetworkSettings network_of_kind(const FnseSettings& settings, const std::string& kind) {
  model::ScoreNetworkSettings network = model::chosen_network(settings);
  network.network = kind;
  return network;
}

int members_of(const FnseSettings& settings) {
  if (settings.ensemble != 0) return settings.ensemble;
  if (is_quick(settings.effort)) return 1;
  return (settings.network == "separable" ? 8 : 4) * (is_thorough(settings.effort) ? 2 : 1);
}

model::TrainedModel train_fnse(const MethodContext& context) {
  context.data.see_tails();
  auto settings = from_json<FnseSettings>("train", context.settings);
  model::TrainedModel model = empty_model("fnse", context, to_json(settings));
  const std::size_t d = context.data.prior().size(), features = context.data.features().size();

  LoopSettings loop = context.loop;
  loop.steps = chosen_steps(loop.steps, fnse_steps(context.data.size()), settings.effort);
  // The small networks are quickly learned.
  LoopSettings small = loop;
  small.steps = std::min(loop.steps, 4000);

  std::shared_ptr<const model::LocalGaussianNetwork> gaussians;
  const auto objective = [&](const std::string& kind) {
    return std::make_unique<ScoreObjective>(network_of_kind(settings, kind), settings.schedule, settings.loss, d,
                                            features, kind == "local" ? gaussians : nullptr);
  };
  const DecaySearch search = with_effort({.kinds = kinds_of(settings, context.data.embedded()),
                                          .others = {},
                                          .decay = settings.decay,
                                          .loop = loop,
                                          .objective = objective},
                                         settings.effort);
  const auto members = static_cast<std::uint64_t>(members_of(settings));
  context.progress.expect(most_steps(search) + (members - 1) * static_cast<std::uint64_t>(loop.steps) +
                          static_cast<std::uint64_t>(small.steps) *
                              (1 + (settings.whiten ? 1 : 0) + (settings.centre ? 1 : 0)));
  if (settings.whiten) train_whitening(model, context, small);
  const LocalGaussianObjective local(settings.gaussian_width, d, features);
  train_networks(model, {{"gaussian", local, small}}, context);
  gaussians = model::local_gaussian(model, settings);

  const SearchResult best = search_decay(model, model::score_name(0), search, context);
  settings.network = best.kind;
  settings.decay = best.decay;
  settings.ensemble = members_of(settings);
  const auto member = objective(best.kind);
  const LoopSettings decayed = with_decay(loop, best.decay, context.data.training_size());
  std::vector<NetworkJob> jobs;
  for (int k = 1; k < settings.ensemble; ++k) {
    jobs.push_back({model::score_name(k), *member, decayed, static_cast<std::size_t>(k) % context.data.folds()});
  }
  train_networks(model, jobs, context);
  if (settings.centre) {
    std::vector<const model::NamedWeights*> weights;
    for (int k = 0; k < settings.ensemble; ++k) weights.push_back(&model.network(model::score_name(k)).weights);
    const CentreObjective centre(model::chosen_network(settings), settings.schedule, settings.loss, weights,
                                 model.source, context.data, best.kind == "local" ? gaussians : nullptr);
    train_networks(model, {{"centre", centre, small}}, context);
  }
  model.settings = to_json(settings);  // with what was chosen
  model.main_network = model::score_name(0);
  return model;
}

}  // namespace

Method fnse_method() {
  return {"fnse",
          "scores of single transitions by denoising score matching",
          describe_fields<FnseSettings>(),
          train_fnse,
          /*any_prior=*/false,
          /*own_decay=*/true,
          /*whole_series=*/false,
          /*sees_frames=*/true};
}

}  // namespace catena::train
