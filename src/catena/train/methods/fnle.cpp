#include "catena/train/methods/fnle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "catena/core/check.h"
#include "catena/train/choose/coordinates.h"
#include "catena/train/choose/decay_search.h"
#include "catena/train/objectives/density.h"

namespace catena::train {
namespace {

/// One network takes 1.5 to 2 ms a step on one core. `auto` tries seven or eight of them (effort.h).
/// Where transitions have little noise (sir), the last digits of the mean need many steps (docs/fnle.md).
int fnle_steps(std::size_t transitions) {
  return static_cast<int>(std::clamp<double>(0.6 * static_cast<double>(transitions), 8000, 60000));
}

model::TrainedModel train_fnle(const MethodContext& context) {
  auto settings = from_json<FnleSettings>("train", context.settings);
  const Coordinates coordinates = choose_coordinates(settings, context, "fnle");
  settings.inputs = coordinates.inputs;
  model::TrainedModel model = empty_model("fnle", context, to_json(settings));
  if (!coordinates.notes.is_null()) model.notes["log_increments"] = coordinates.notes;
  LoopSettings loop = context.loop;
  loop.steps = chosen_steps(loop.steps, fnle_steps(context.data.training_size()), settings.effort);
  const DecaySearch search =
      density_search(settings.density, settings.inputs, settings.decay, settings.effort, loop, context.data);
  context.progress.expect(most_steps(search));
  const SearchResult best = search_decay(model, "", search, context);
  model.main_network = best.kind;
  model.settings["density"] = best.kind;
  model.settings["decay"] = best.decay;
  return model;
}

}  // namespace

Method fnle_method() {
  return {"fnle",
          "densities of single transitions by maximum likelihood",
          describe_fields<FnleSettings>(),
          train_fnle,
          /*any_prior=*/true,
          /*own_decay=*/true};
}

}  // namespace catena::train
