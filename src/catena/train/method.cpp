#include "catena/train/method.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "catena/core/check.h"
#include "catena/core/ranks/bytes.h"
#include "catena/core/ranks/ranks.h"
#include "catena/model/preset.h"
#include "catena/train/choose/season.h"
#include "catena/train/frames/embed.h"
#include "catena/train/methods/fnbe.h"
#include "catena/train/methods/fnle.h"
#include "catena/train/methods/fnre.h"
#include "catena/train/methods/fnse.h"
#include "catena/train/methods/npe.h"
#include "catena/train/methods/nse.h"
#include "catena/train/methods/summary.h"
#include "catena/train/objectives/whitening.h"
#include "catena/train/one_bar.h"

namespace catena::train {

const Registry<Method>& methods() {
  static const Registry<Method> registry = [] {
    std::vector<Method> list{fnle_method(),        fnre_method(),        fnse_method(),
                             fnbe_method(),        npe_method(),         npe_windows_method(),
                             npe_summary_method(), nle_summary_method(), nse_method()};
    for (Method& method : list) {
      if (method.sees_frames) std::ranges::copy(frame_fields(), std::back_inserter(method.settings));
      if (!method.whole_series) method.settings.push_back(period_field());
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
  check::that(method.whole_series == context.data.whole_series(), "train", "the kind of training data",
              context.data.whole_series() ? "whole series" : "single transitions",
              method.whole_series
                  ? fmt::format("whole series for {} (catena simulate --series, catena.simulate(…, series=10))", name)
                  : fmt::format("single transitions for {}", name));
  OneBar bar(context.progress, fmt::format("training {}", name));
  MethodContext own{context.data,     context.loop, context.settings,   context.streams,
                    context.parallel, bar,          context.checkpoint, context.preset};
  nlohmann::json period;
  if (const auto named = own.settings.find("period"); named != own.settings.end() && !method.whole_series) {
    period = *named;
    own.settings.erase(named);
  }
  std::optional<TrainedFrames> frames;
  if (method.sees_frames) {
    if (const model::FrameNetworkSettings settings = take_frame_settings(own.settings); settings.used()) {
      frames = embed_frames(name, settings, own);
    }
  }
  const Season season = method.whole_series ? Season{} : choose_season(period, own, name);
  model::TrainedModel model = method.train(own);
  bar.expect(0);
  context.progress.finish();
  if (frames) {
    model.settings.update(to_json(frames->settings));
    model.networks[model::frames_network] = std::move(frames->network);
    model.embedding = frames->embedding;
    model.state_names = frames->state_names;
  }
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
  model.covariate_names = context.data.covariate_names();
  model.features = context.data.features();
  model.provenance = context.data.provenance();
  model.notes["records"] = context.data.size();
  return model;
}

model::TrainedModel series_model(std::string_view method, const MethodContext& context, double shortened,
                                 const nlohmann::json& settings) {
  if (shortened > 0) context.data.add_shortened(shortened, context.streams.child("shortened"));
  model::TrainedModel model = empty_model(method, context, settings);
  model.notes["series"] = {{"count", context.data.series()}, {"longest", context.data.longest()}};
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

LoopResult train_one(const model::TrainedModel& model, const NetworkJob& job, const MethodContext& context,
                     const Parallel& parallel, Progress& progress) {
  CheckpointPlan plan = context.checkpoint;
  plan.path = checkpoint_path(context, job.name);
  plan.keep = !plan.path.empty();
  const nlohmann::json identity = {{"method", model.method},     {"network", job.name},
                                   {"settings", model.settings}, {"loop", to_json(job.loop)},
                                   {"seed", model.seed},         {"rows", context.data.size()},
                                   {"fold", job.fold},           {"features", model.features.to_json()}};
  return train_loop(job.name, job.objective, context.data, job.fold, job.loop, context.streams.child("train"), parallel,
                    progress, plan, identity);
}

model::TrainedNetwork network_of(const NetworkJob& job, LoopResult result) {
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

namespace {

/// What was learned, for the ranks that did not train it.
std::string bytes_of(const LoopResult& result) {
  BytesWriter bytes;
  const auto put = [&]<class Values>(const Values& values) {
    bytes.put<std::uint64_t>(values.size()).put_all(std::span(std::as_const(values)));
  };
  bytes.put(result.outcome).put(result.steps).put(result.best_step).put(result.best_loss).put(result.skipped_steps);
  put(result.weights);
  for (const auto* column :
       {&result.curve.step, &result.curve.train_loss, &result.curve.held_out_loss, &result.curve.seconds}) {
    put(*column);
  }
  return bytes.take();
}

LoopResult result_from(std::string_view text) {
  LoopResult result;
  BytesReader bytes(text);
  const auto get = [&]<class Values>(Values& values) {
    values.resize(bytes.get<std::uint64_t>());
    bytes.get_all(std::span(values));
  };
  result.outcome = bytes.get<Outcome>();
  result.steps = bytes.get<std::int64_t>();
  result.best_step = bytes.get<std::int64_t>();
  result.best_loss = bytes.get<double>();
  result.skipped_steps = bytes.get<std::int64_t>();
  get(result.weights);
  for (auto* column :
       {&result.curve.step, &result.curve.train_loss, &result.curve.held_out_loss, &result.curve.seconds}) {
    get(*column);
  }
  return result;
}

/// Some of the jobs, those of the given numbers, by the ranks of `parallel` and no others.
void train_some(const model::TrainedModel& model, const std::vector<NetworkJob>& jobs,
                const std::vector<std::size_t>& numbers, const MethodContext& context, const Parallel& parallel,
                std::vector<LoopResult>& results) {
  // A set in windows keeps one window in memory, which loops cannot share.
  const bool together = numbers.size() > 1 && parallel.threads() > 1 && context.data.windows() == 1;
  if (!together) {
    for (const std::size_t i : numbers) results[i] = train_one(model, jobs[i], context, parallel, context.progress);
    return;
  }
  std::uint64_t steps = 0;
  for (const std::size_t i : numbers) steps += static_cast<std::uint64_t>(jobs[i].loop.steps);
  context.progress.start(fmt::format("{} networks", numbers.size()), "steps", steps);
  SharedProgress shared(context.progress);
  const int share = std::max(1, parallel.threads() / static_cast<int>(numbers.size()));
  parallel.for_each(numbers.size(), [&](std::size_t k) {
    results[numbers[k]] = train_one(model, jobs[numbers[k]], context, Parallel(share), shared);
  });
  context.progress.finish();
}

}  // namespace

void train_networks(model::TrainedModel& model, const std::vector<NetworkJob>& jobs, const MethodContext& context) {
  if (jobs.empty()) return;
  std::vector<LoopResult> results(jobs.size());
  Ranks& ranks = context.parallel.ranks();
  // Whole networks go to groups of ranks, which share the blocks of each batch only if there are more ranks than
  // networks: networks wait for nobody, blocks at every step.
  const int groups = std::min(ranks.size(), static_cast<int>(jobs.size()));
  int mine = 0;
  const std::shared_ptr<Ranks> group = ranks.group(groups, mine);
  std::vector<std::size_t> numbers;
  for (auto i = static_cast<std::size_t>(mine); i < jobs.size(); i += static_cast<std::size_t>(groups)) {
    numbers.push_back(i);
  }
  train_some(model, jobs, numbers, context, context.parallel.with(group), results);
  if (groups > 1) {
    BytesWriter learned;
    for (const std::size_t i : numbers) {
      if (group->first()) learned.put<std::uint64_t>(i).put_text(bytes_of(results[i]));
    }
    for (const std::string& text : ranks.all_gather(learned.take())) {
      for (BytesReader bytes(text); !bytes.at_end();) {
        const auto i = bytes.get<std::uint64_t>();
        results[i] = result_from(bytes.get_text());
      }
    }
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    model.networks[jobs[i].name] = network_of(jobs[i], std::move(results[i]));
  }
}

void train_whitening(model::TrainedModel& model, const MethodContext& context, const LoopSettings& loop) {
  const WhiteningObjective objective(model.features);
  train_networks(model, {{"whitening", objective, loop}}, context);
  context.data.whiten(
      std::make_shared<model::Whitening>(model.network("whitening").weights, model.source, model.features));
}

}  // namespace catena::train
