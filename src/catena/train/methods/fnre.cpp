#include "catena/train/methods/fnre.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "catena/core/check.h"
#include "catena/train/choose/decay_search.h"
#include "catena/train/choose/inputs.h"

namespace catena::train {
namespace {

/// A step takes some 8 ms on one core (gaussian: 3). The search tries three or four networks of each kind (effort.h).
int fnre_steps(std::size_t transitions) { return transitions < 30000 ? 3000 : 10000; }

constexpr std::size_t most_squares = 4;  // pairs of lanes cost as much as their number

/// The kinds of network that are tried.
std::vector<std::string> kinds_of(const FnreSettings& settings, std::size_t states) {
  const std::string& network = settings.network.network;
  const bool to_marginal = ratio_losses().at("train", settings.loss.loss).to_marginal;
  check::that(network != "gaussian" || !to_marginal, "train", "loss", settings.loss.loss,
              "contrastive, nce or nce_contrastive for a gaussian network");
  if (network != "auto") return {network};
  if (to_marginal || states > model::most_separable_states) return {"separable"};
  return {"gaussian", "separable"};
}

model::RatioNetworkSettings network_of_kind(model::RatioNetworkSettings network, const std::string& kind,
                                            std::size_t states) {
  network.network = kind;
  if (network.gaussian()) network.squares = static_cast<int>(states);
  if (network.squares < 0) network.squares = static_cast<int>(std::min(states, most_squares));
  return network;
}

void choose_atoms(FnreSettings& settings) {
  int& atoms = settings.loss.atoms;
  const bool separable = settings.network.separable();
  if (atoms == 0) atoms = separable ? 64 : 8;
  check::that(atoms >= 2 && (separable ? atoms <= ratio_block_lanes : ratio_block_lanes % atoms == 0), "train", "atoms",
              atoms, separable ? "0 or between 2 and 128" : "0 or one of 2, 4, 8, …, 128 for a joint network");
}

model::TrainedModel train_fnre(const MethodContext& context) {
  context.data.see_tails();
  auto settings = from_json<FnreSettings>("train", context.settings);
  if (settings.loss.loss == "auto") {
    settings.loss.loss = settings.network.separable() ? "nce_contrastive" : "contrastive";
  }
  check::that(settings.network.separable() || !ratio_losses().at("train", settings.loss.loss).noise, "train", "loss",
              settings.loss.loss, "one without noise for a joint network");
  choose_atoms(settings);
  const std::size_t states = context.data.features().target();
  const std::vector<std::string> kinds = kinds_of(settings, states);
  if (context.data.embedded() && settings.logarithms == "auto") settings.logarithms = "none";  // of what has no names
  settings.logarithms = choose_inputs({.logarithms = settings.logarithms}, context.data).logarithms;
  model::TrainedModel model = empty_model("fnre", context, to_json(settings));
  LoopSettings loop = context.loop;
  loop.steps = chosen_steps(loop.steps, fnre_steps(context.data.training_size()), settings.effort);
  LoopSettings whitening = loop;
  whitening.steps = std::min(loop.steps, 4000);  // a small network, quickly learned

  const auto objective = [&](const std::string& kind) {
    return std::make_unique<RatioObjective>(
        network_of_kind(settings.network, kind, states), settings.loss,
        model::RatioMap(context.data.features(), context.data.state_names(), settings.logarithms),
        context.data.prior().size());
  };
  const DecaySearch search = with_effort(
      {.kinds = kinds, .others = {}, .decay = settings.decay, .loop = loop, .objective = objective}, settings.effort);
  context.progress.expect(static_cast<std::uint64_t>(settings.whiten ? whitening.steps : 0) + most_steps(search) +
                          static_cast<std::uint64_t>(settings.ensemble - 1) * static_cast<std::uint64_t>(loop.steps));
  if (settings.whiten) train_whitening(model, context, whitening);
  const SearchResult best = search_decay(model, model::ratio_name(0), search, context);
  settings.network = network_of_kind(settings.network, best.kind, states);
  settings.decay = best.decay;
  const auto member = objective(best.kind);
  const LoopSettings decayed = with_decay(loop, settings.decay, context.data.training_size());
  std::vector<NetworkJob> jobs;
  for (int k = 1; k < settings.ensemble; ++k) {
    jobs.push_back({model::ratio_name(k), *member, decayed, static_cast<std::size_t>(k) % context.data.folds()});
  }
  train_networks(model, jobs, context);
  model.settings = to_json(settings);  // with what was chosen
  model.main_network = model::ratio_name(0);
  return model;
}

}  // namespace

Method fnre_method() {
  return {"fnre",
          "ratios of single transitions by classification",
          describe_fields<FnreSettings>(),
          train_fnre,
          /*any_prior=*/false,
          /*own_decay=*/false,
          /*whole_series=*/false,
          /*sees_frames=*/true};
}

}  // namespace catena::train
