#include "catena/train/methods/npe.h"

#include "catena/train/objectives/posterior.h"

namespace catena::train {

int series_steps(std::size_t examples) {
  return static_cast<int>(std::clamp<double>(0.2 * static_cast<double>(examples), 2000, 20000));
}

namespace {

template <class Settings>
model::TrainedModel train_posterior(std::string_view method, const MethodContext& context) {
  const auto settings = from_json<Settings>("train", context.settings);
  model::TrainedModel model = series_model(method, context, settings.shortened, to_json(settings));
  const DecaySearch search =
      series_search(settings, context, [&] { return std::make_unique<PosteriorObjective>(settings, context.data); });
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
