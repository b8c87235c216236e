#include "catena/train/npe.h"

#include <algorithm>

#include "catena/train/decay_search.h"
#include "catena/train/objectives/posterior.h"

namespace catena::train {
namespace {

/// 60 epochs of batches of 1,000 and at least 3,000 steps: the held-out loss is at its best after a fraction of them,
/// and patience ends the rest (docs/theory/npe.md).
int npe_steps(std::size_t examples) {
  return static_cast<int>(std::clamp<double>(0.06 * static_cast<double>(examples), 3000, 20000));
}

template <class Settings>
model::TrainedModel train_posterior(std::string_view method, const MethodContext& context) {
  const auto settings = from_json<Settings>("train", context.settings);
  if (settings.shortened > 0) context.data.add_shortened(settings.shortened, context.streams.child("shortened"));
  model::TrainedModel model = empty_model(method, context, to_json(settings));
  model.notes["series"] = {{"count", context.data.series()}, {"longest", context.data.longest()}};
  LoopSettings loop = context.loop;
  loop.steps = chosen_steps(loop.steps, npe_steps(context.data.training_size()), settings.effort);
  const DecaySearch search = with_effort(
      {.kinds = {settings.embedding.embedding},
       .others = {},
       .decay = settings.decay,
       .loop = loop,
       .objective = [&](const std::string&) { return std::make_unique<PosteriorObjective>(settings, context.data); }},
      settings.effort);
  context.progress.expect(most_steps(search));
  model.settings["decay"] = search_decay(model, "posterior", search, context).decay;
  model.main_network = "posterior";
  return model;
}

}  // namespace

Method npe_method() {
  Method method{"npe", "posteriors of whole series by maximum likelihood: a spline flow on an embedding of the series",
                describe_fields<NpeSettings>(),
                [](const MethodContext& context) { return train_posterior<NpeSettings>("npe", context); }};
  method.own_decay = method.whole_series = true;
  return method;
}

Method npe_windows_method() {
  Method method{
      "npe_windows", "npe whose embedding is a sum over transitions", describe_fields<NpeWindowsSettings>(),
      [](const MethodContext& context) { return train_posterior<NpeWindowsSettings>("npe_windows", context); }};
  method.own_decay = method.whole_series = true;
  return method;
}

}  // namespace catena::train
