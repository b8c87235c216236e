#include "catena/train/method.h"

#include "catena/model/preset.h"
#include "catena/train/choose_season.h"
#include "catena/train/fnbe.h"
#include "catena/train/fnle.h"
#include "catena/train/fnre.h"
#include "catena/train/fnse.h"
#include "catena/train/objectives/whitening.h"

namespace catena::train {

const Registry<Method>& methods() {
  static const Registry<Method> registry = [] {
    std::vector<Method> list{fnle_method(), fnre_method(), fnse_method(), fnbe_method()};
    for (Method& method : list) {
      method.settings.push_back(period_field());
      method.settings.push_back(model::preset_field());
    }
    return Registry<Method>("method", std::move(list));
  }();
  return registry;
}

namespace {

constexpr std::string_view checkpoint_ending = ".checkpoint";

std::filesystem::path checkpoint_path(const MethodContext& context, const std::string& network) {
  std::filesystem::path path = context.checkpoint.path;
  return path.empty() ? path : path += fmt::format(".{}{}", network, checkpoint_ending);
}

}  // namespace

model::TrainedModel train(std::string_view name, const MethodContext& context) {
  const Method& method = methods().at("train", name);
  MethodContext own = context;
  nlohmann::json period;
  if (const auto named = own.settings.find("period"); named != own.settings.end()) {
    period = *named;
    own.settings.erase(named);
  }
  const Season season = choose_season(period, own, name);
  model::TrainedModel model = method.train(own);
  if (!season.setting.is_null()) model.settings["period"] = season.setting;
  if (!season.notes.is_null()) model.notes["period"] = season.notes;
  return model;
}

void remove_checkpoints(const MethodContext& context) {
  if (context.checkpoint.path.empty()) return;
  const std::string prefix = context.checkpoint.path.filename().string() + ".";
  std::filesystem::path folder = context.checkpoint.path.parent_path();
  for (const auto& entry : std::filesystem::directory_iterator(folder.empty() ? "." : folder)) {
    const std::string name = entry.path().filename().string();
    // A run that was killed while it wrote a checkpoint has left the temporary file (files/atomic.h).
    const bool left_over = name.starts_with("." + prefix) && name.ends_with(".tmp");
    if (left_over || (name.starts_with(prefix) && name.ends_with(checkpoint_ending))) {
      std::filesystem::remove(entry.path());
    }
  }
}

model::TrainedModel empty_model(std::string_view method, const MethodContext& context, const nlohmann::json& settings) {
  model::TrainedModel model;
  model.method = method;
  model.preset = context.preset;
  model.settings = settings;
  model.training = to_json(context.loop);
  model.seed = context.streams.seed();
  model.prior = context.data.prior();
  model.state_names = context.data.state_names();
  model.features = context.data.features();
  model.provenance = context.data.provenance();
  model.notes["records"] = context.data.size();
  return model;
}

namespace {

/// One phase for several loops: their steps are added up.
class SharedProgress final : public Progress {
 public:
  explicit SharedProgress(Progress& whole) : whole_(whole) {}
  void start(std::string_view, std::string_view, std::uint64_t) override {}
  void advance(std::uint64_t units) override { whole_.advance(units); }
  void note(std::string_view text) override { whole_.note(text); }
  void finish() override {}
  bool stop_requested() const override { return whole_.stop_requested(); }

 private:
  Progress& whole_;
};

model::TrainedNetwork train_one(const model::TrainedModel& model, const NetworkJob& job, const MethodContext& context,
                                const Parallel& parallel, Progress& progress) {
  CheckpointPlan plan = context.checkpoint;
  plan.path = checkpoint_path(context, job.name);
  plan.keep = !plan.path.empty();
  const nlohmann::json identity = {{"method", model.method},     {"network", job.name},
                                   {"settings", model.settings}, {"loop", to_json(job.loop)},
                                   {"seed", model.seed},         {"rows", context.data.size()},
                                   {"fold", job.fold},           {"features", model.features.to_json()}};
  LoopResult result = train_loop(job.name, job.objective, context.data, job.fold, job.loop,
                                 context.streams.child("train"), parallel, progress, plan, identity);
  model::TrainedNetwork network;
  network.weights = model::named_weights(job.objective.graph(), result.weights);
  network.curve = std::move(result.curve);
  network.outcome = result.outcome;
  network.steps = result.steps;
  network.best_step = result.best_step;
  network.held_out_loss = result.best_loss;
  return network;
}

}  // namespace

void train_networks(model::TrainedModel& model, const std::vector<NetworkJob>& jobs, const MethodContext& context) {
  std::vector<model::TrainedNetwork> networks(jobs.size());
  // A set in windows keeps one window in memory, which loops cannot share.
  const bool together = jobs.size() > 1 && context.parallel.threads() > 1 && context.data.windows() == 1;
  if (!together) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      networks[i] = train_one(model, jobs[i], context, context.parallel, context.progress);
    }
  } else {
    std::uint64_t steps = 0;
    for (const NetworkJob& job : jobs) steps += static_cast<std::uint64_t>(job.loop.steps);
    context.progress.start(fmt::format("{} networks", jobs.size()), "steps", steps);
    SharedProgress shared(context.progress);
    const int share = std::max(1, context.parallel.threads() / static_cast<int>(jobs.size()));
    context.parallel.for_each(
        jobs.size(), [&](std::size_t i) { networks[i] = train_one(model, jobs[i], context, Parallel(share), shared); });
    context.progress.finish();
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) model.networks[jobs[i].name] = std::move(networks[i]);
}

void train_whitening(model::TrainedModel& model, const MethodContext& context, const LoopSettings& loop) {
  const WhiteningObjective objective(model.features);
  train_networks(model, {{"whitening", objective, loop}}, context);
  context.data.whiten(
      std::make_shared<model::Whitening>(model.network("whitening").weights, model.source, model.features));
}

}  // namespace catena::train
