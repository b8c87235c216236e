#include "catena/train/methods/fnbe.h"

#include <algorithm>

#include "catena/train/choose/coordinates.h"
#include "catena/train/choose/decay_search.h"
#include "catena/train/objectives/density.h"
#include "catena/train/objectives/local_gaussian.h"

namespace catena::train {
namespace {

/// One recipe for all tasks, found on observations and seeds that no table uses (docs/fnbe.md).
int fnbe_steps(std::size_t transitions) { return transitions < 30000 ? 8000 : 30000; }

/// Blurs (σ/m, in prior standard deviations) below the first are none to a network, and above the second a transition
/// says next to nothing: τ = 0.98 already.
constexpr double smallest_blur = 0.003, largest_blur = 5;

model::TrainedModel train_fnbe(const MethodContext& context) {
  auto settings = from_json<FnbeSettings>("train", context.settings);
  const Coordinates coordinates = choose_coordinates(settings, context, "fnbe");
  settings.inputs = coordinates.inputs;
  model::TrainedModel model = empty_model("fnbe", context, to_json(settings));
  if (!coordinates.notes.is_null()) model.notes["log_increments"] = coordinates.notes;
  const diffusion::Schedule& schedule = diffusion::schedules().at("train", settings.schedule).schedule;
  const BlurLevels blur{smallest_blur, std::min(largest_blur, schedule.eta(1))};
  LoopSettings loop = context.loop;
  loop.steps = chosen_steps(loop.steps, fnbe_steps(context.data.size()), settings.effort);
  const DecaySearch search =
      density_search(settings.density, settings.inputs, settings.decay, settings.effort, loop, context.data, blur);
  constexpr int small_steps = 4000;  // a small network is quickly learned
  context.progress.expect(most_steps(search) + static_cast<std::uint64_t>(std::min(loop.steps, small_steps)));
  const SearchResult best = search_decay(model, model::likelihood_network, search, context);
  settings.density.density = best.kind;
  settings.decay = best.decay;

  loop.steps = std::min(loop.steps, small_steps);
  const LocalGaussianObjective local(settings.gaussian_width, context.data.prior().size(),
                                     context.data.features().size());
  train_networks(model, {{"gaussian", local, loop}}, context);
  model.settings = to_json(settings);
  model.main_network = model::likelihood_network;
  return model;
}

}  // namespace

Method fnbe_method() {
  return {"fnbe", "scores of single transitions as gradients of a likelihood with blurred parameters",
          describe_fields<FnbeSettings>(), train_fnbe};
}

}  // namespace catena::train
