#include "catena/train/fnse.h"

#include <algorithm>
#include <cmath>

#include "catena/train/centre.h"
#include "catena/train/decay_search.h"
#include "catena/train/density_objective.h"
#include "catena/train/local_gaussian.h"

namespace catena::train {
namespace {

/// One recipe for all tasks, found on observations and seeds that no table uses (docs/fnse.md).
int fnse_steps(std::size_t transitions) { return transitions < 30000 ? 8000 : 30000; }

/// A separable network must not be worse than a joint one by more than this share of the loss.
constexpr double tolerance = 0.004;

/// Trains one network of each kind on the same transitions and keeps the one to be preferred as member 0.
std::string choose_network(TrainedModel& model, FnseSettings settings, const MethodContext& context,
                           const LoopSettings& loop) {
  const std::size_t d = context.data.prior().size(), features = context.data.features().size();
  settings.network = "separable";
  const ScoreObjective separable(chosen_score(settings), d, features);
  settings.network = "joint";
  const ScoreObjective joint(chosen_score(settings), d, features);
  train_networks(model, {{score_name(0), separable, loop}, {"joint", joint, loop}}, context);
  const double loss = model.network(score_name(0)).held_out_loss, joint_loss = model.network("joint").held_out_loss;
  const bool joint_wins = !(loss <= joint_loss + tolerance * std::abs(joint_loss));
  model.notes["held_out_loss"] = {{"separable", loss}, {"joint", joint_loss}};
  if (joint_wins) model.networks[score_name(0)] = std::move(model.networks["joint"]);
  model.networks.erase("joint");
  return joint_wins ? "joint" : "separable";
}

/// Blurs (σ/m, in prior standard deviations) below the first are none to a network, and above the second a transition
/// says next to nothing: τ = 0.98 already.
constexpr double smallest_blur = 0.003, largest_blur = 5;

TrainedModel train_likelihood(FnseSettings settings, const MethodContext& context) {
  settings.inputs = resolve(settings.inputs, context.data);
  settings.whiten = settings.centre = false;  // the density knows the increment's size, and its score has mean zero
  settings.ensemble = 1;
  TrainedModel model = empty_model("fnse", context, to_json(settings));
  const diffusion::Schedule& schedule = diffusion::schedules().at("train", settings.score.schedule).schedule;
  const BlurLevels blur{smallest_blur, std::min(largest_blur, schedule.eta(1))};
  LoopSettings loop = context.loop;
  if (loop.steps == 0) loop.steps = fnse_steps(context.data.size());
  const DecaySearch search =
      density_search(settings.density, settings.inputs, settings.decay, loop, context.data, blur);
  const SearchResult best = search_decay(model, likelihood_network, search, context);
  settings.density.density = best.kind;
  settings.decay = best.decay;

  loop.steps = std::min(loop.steps, 4000);  // a small network is quickly learned
  const LocalGaussianObjective local(settings.gaussian_width, context.data.prior().size(),
                                     context.data.features().size());
  train_networks(model, {{"gaussian", local, loop}}, context);
  model.settings = to_json(settings);
  model.main_network = likelihood_network;
  return model;
}

TrainedModel train_fnse(const MethodContext& context) {
  auto settings = from_json<FnseSettings>("train", context.settings);
  if (settings.by_likelihood()) return train_likelihood(settings, context);
  TrainedModel model = empty_model("fnse", context, to_json(settings));
  const std::size_t d = context.data.prior().size(), features = context.data.features().size();

  LoopSettings loop = context.loop;
  if (loop.steps == 0) loop.steps = fnse_steps(context.data.size());
  // The small networks are quickly learned.
  LoopSettings gaussian = loop;
  gaussian.steps = std::min(loop.steps, 4000);

  if (settings.whiten) train_whitening(model, context, gaussian);
  const bool choose = settings.network == "auto";
  if (choose) settings.network = choose_network(model, settings, context, loop);
  if (settings.ensemble == 0) settings.ensemble = settings.network == "joint" ? 4 : 8;

  const ScoreObjective score(chosen_score(settings), d, features);
  const LocalGaussianObjective local(settings.gaussian_width, d, features);
  std::vector<NetworkJob> jobs;
  for (int k = choose ? 1 : 0; k < settings.ensemble; ++k) {
    jobs.push_back({score_name(k), score, loop, static_cast<std::size_t>(k) % context.data.folds()});
  }
  jobs.push_back({"gaussian", local, gaussian});
  train_networks(model, jobs, context);
  if (settings.centre) {
    std::vector<const NamedWeights*> members;
    for (int k = 0; k < settings.ensemble; ++k) members.push_back(&model.network(score_name(k)).weights);
    const CentreObjective centre(chosen_score(settings), members, model.source, context.data);
    train_networks(model, {{"centre", centre, gaussian}}, context);
  }
  model.settings = to_json(settings);  // with what was chosen
  model.main_network = score_name(0);
  return model;
}

}  // namespace

ScoreSettings chosen_score(const FnseSettings& settings) {
  ScoreSettings score = settings.score;
  score.network.network = settings.network;
  return score;
}

std::string score_name(int member) { return fmt::format("score.{}", member); }

Method fnse_method() {
  return {"fnse", "scores of single transitions by denoising score matching", describe_fields<FnseSettings>(),
          train_fnse};
}

}  // namespace catena::train
