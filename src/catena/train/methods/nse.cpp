#include "catena/train/methods/nse.h"

#include <algorithm>

#include "catena/train/choose/decay_search.h"

namespace catena::train {
namespace {

/// A score is learned from noise: it needs more steps than a density.
int nse_steps(std::size_t examples) {
  return static_cast<int>(std::clamp<double>(0.25 * static_cast<double>(examples), 4000, 30000));
}

model::TrainedModel train_nse(const MethodContext& context) {
  const auto settings = from_json<NseSettings>("train", context.settings);
  model::TrainedModel model = series_model("nse", context, settings.shortened, to_json(settings));
  LoopSettings loop = context.loop;
  loop.steps = chosen_steps(loop.steps, nse_steps(context.data.training_size()), settings.effort);
  const DecaySearch search =
      with_effort({.kinds = {settings.embedding.embedding},
                   .others = {},
                   .decay = settings.decay,
                   .loop = loop,
                   .objective =
                       [&](const std::string&) {
                         return std::make_unique<SeriesScoreObjective>(settings, settings.loss, context.data);
                       }},
                  settings.effort);
  context.progress.expect(most_steps(search));
  model.settings["decay"] = search_decay(model, "score", search, context).decay;
  model.main_network = "score";
  return model;
}

}  // namespace

Method nse_method() {
  Method method{"nse", "scores of the posterior of whole series by denoising score matching",
                describe_fields<NseSettings>(), train_nse};
  method.own_decay = method.whole_series = true;
  return method;
}

}  // namespace catena::train
