#include "catena/train/methods/fnse.h"

#include <algorithm>
#include <cmath>

#include "catena/train/objectives/centre.h"
#include "catena/train/objectives/local_gaussian.h"

namespace catena::train {
namespace {

/// One recipe for all tasks, found on observations and seeds that no table uses (docs/fnse.md).
int fnse_steps(std::size_t transitions) { return transitions < 30000 ? 8000 : 30000; }

/// A separable network must not be worse than a joint one by more than this share of the loss.
constexpr double tolerance = 0.004;

/// Trains one network of each kind on the same transitions and keeps the one to be preferred as member 0.
std::string choose_network(model::TrainedModel& model, FnseSettings settings, const MethodContext& context,
                           const LoopSettings& loop) {
  const std::size_t d = context.data.prior().size(), features = context.data.features().size();
  settings.network = "separable";
  const ScoreObjective separable(model::chosen_network(settings), settings.schedule, settings.loss, d, features);
  settings.network = "joint";
  const ScoreObjective joint(model::chosen_network(settings), settings.schedule, settings.loss, d, features);
  train_networks(model, {{model::score_name(0), separable, loop}, {"joint", joint, loop}}, context);
  const double loss = model.network(model::score_name(0)).held_out_loss,
               joint_loss = model.network("joint").held_out_loss;
  const bool joint_wins = !(loss <= joint_loss + tolerance * std::abs(joint_loss));
  model.notes["held_out_loss"] = {{"separable", loss}, {"joint", joint_loss}};
  if (joint_wins) model.networks[model::score_name(0)] = std::move(model.networks["joint"]);
  model.networks.erase("joint");
  return joint_wins ? "joint" : "separable";
}

model::TrainedModel train_fnse(const MethodContext& context) {
  context.data.see_tails();
  auto settings = from_json<FnseSettings>("train", context.settings);
  model::TrainedModel model = empty_model("fnse", context, to_json(settings));
  const std::size_t d = context.data.prior().size(), features = context.data.features().size();

  LoopSettings loop = context.loop;
  loop.steps = chosen_steps(loop.steps, fnse_steps(context.data.size()), settings.effort);
  // The small networks are quickly learned.
  LoopSettings gaussian = loop;
  gaussian.steps = std::min(loop.steps, 4000);

  if (is_quick(settings.effort)) {
    if (settings.network == "auto") settings.network = "separable";
    if (settings.ensemble == 0) settings.ensemble = 1;
  }
  const bool choose = settings.network == "auto";
  const auto members_of = [&](const std::string& network) {
    if (settings.ensemble != 0) return settings.ensemble;
    return (network == "joint" ? 4 : 8) * (is_thorough(settings.effort) ? 2 : 1);
  };
  context.progress.expect(static_cast<std::uint64_t>((choose ? 1 : 0) + members_of(settings.network)) *
                              static_cast<std::uint64_t>(loop.steps) +
                          static_cast<std::uint64_t>(gaussian.steps) *
                              (1 + (settings.whiten ? 1 : 0) + (settings.centre ? 1 : 0)));
  if (settings.whiten) train_whitening(model, context, gaussian);
  if (choose) settings.network = choose_network(model, settings, context, loop);
  settings.ensemble = members_of(settings.network);

  const ScoreObjective score(model::chosen_network(settings), settings.schedule, settings.loss, d, features);
  const LocalGaussianObjective local(settings.gaussian_width, d, features);
  std::vector<NetworkJob> jobs;
  for (int k = choose ? 1 : 0; k < settings.ensemble; ++k) {
    jobs.push_back({model::score_name(k), score, loop, static_cast<std::size_t>(k) % context.data.folds()});
  }
  jobs.push_back({"gaussian", local, gaussian});
  train_networks(model, jobs, context);
  if (settings.centre) {
    std::vector<const model::NamedWeights*> members;
    for (int k = 0; k < settings.ensemble; ++k) members.push_back(&model.network(model::score_name(k)).weights);
    const CentreObjective centre(model::chosen_network(settings), settings.schedule, settings.loss, members,
                                 model.source, context.data);
    train_networks(model, {{"centre", centre, gaussian}}, context);
  }
  model.settings = to_json(settings);  // with what was chosen
  model.main_network = model::score_name(0);
  return model;
}

}  // namespace

Method fnse_method() {
  return {"fnse", "scores of single transitions by denoising score matching", describe_fields<FnseSettings>(),
          train_fnse};
}

}  // namespace catena::train
