#include "catena/train/method.h"

#include "catena/train/fnle.h"
#include "catena/train/fnse.h"

namespace catena::train {

const Registry<Method>& methods() {
  static const Registry<Method> registry("method", {fnse_method(), fnle_method()});
  return registry;
}

namespace {

std::filesystem::path checkpoint_path(const MethodContext& context, const std::string& network) {
  std::filesystem::path path = context.checkpoint.path;
  return path.empty() ? path : path += "." + network + ".checkpoint";
}

}  // namespace

TrainedModel train(std::string_view name, const MethodContext& context) {
  const Method& method = methods().at("train", name);
  return method.train(context);
}

void remove_checkpoints(const MethodContext& context, const TrainedModel& model) {
  for (const auto& [name, network] : model.networks) std::filesystem::remove(checkpoint_path(context, name));
}

TrainedModel empty_model(std::string_view method, const MethodContext& context, const nlohmann::json& settings) {
  TrainedModel model;
  model.method = method;
  model.settings = settings;
  model.training = to_json(context.loop);
  model.seed = context.streams.seed();
  model.prior = context.data.prior();
  model.state_names = context.data.state_names();
  model.features = context.data.features();
  model.provenance = context.data.provenance();
  return model;
}

void train_network(TrainedModel& model, const std::string& name, const Objective& objective,
                   const MethodContext& context, const LoopSettings& loop) {
  CheckpointPlan plan = context.checkpoint;
  plan.path = checkpoint_path(context, name);
  plan.keep = !plan.path.empty();
  const nlohmann::json identity = {{"method", model.method},
                                   {"network", name},
                                   {"settings", model.settings},
                                   {"loop", to_json(loop)},
                                   {"seed", model.seed},
                                   {"rows", context.data.training_size()},
                                   {"features", model.features.to_json()}};
  LoopResult result = train_loop(name, objective, context.data, loop, context.streams.child("train"), context.parallel,
                                 context.progress, plan, identity);
  TrainedNetwork& network = model.networks[name];
  network.weights = named_weights(objective.graph(), result.weights);
  network.curve = std::move(result.curve);
  network.outcome = result.outcome;
  network.steps = result.steps;
  network.best_step = result.best_step;
  network.held_out_loss = result.best_loss;
}

}  // namespace catena::train
