#include "catena/train/fnse.h"

#include <algorithm>

#include "catena/train/centre.h"
#include "catena/train/local_gaussian.h"

namespace catena::train {
namespace {

/// Steps grow with the budget up to where more of them stopped paying (docs/results.md).
int default_steps(std::size_t transitions) {
  return static_cast<int>(std::clamp<double>(4.0 * static_cast<double>(transitions), 10000, 100000));
}

TrainedModel train_fnse(const MethodContext& context) {
  const auto settings = from_json<FnseSettings>("train", context.settings);
  TrainedModel model = empty_model("fnse", context, to_json(settings));
  const std::size_t d = context.data.prior().size(), features = context.data.features().size();

  LoopSettings loop = context.loop;
  if (loop.steps == 0) loop.steps = default_steps(context.data.training_size());
  // The small networks are quickly learned.
  LoopSettings gaussian = loop;
  gaussian.steps = std::min(loop.steps, 4000);

  if (settings.whiten) train_whitening(model, context, gaussian);
  const ScoreObjective score(settings.score, d, features);
  const LocalGaussianObjective local(settings.gaussian_width, d, features);
  std::vector<NetworkJob> jobs;
  for (int k = 0; k < settings.ensemble; ++k) {
    jobs.push_back({score_name(k), score, loop, static_cast<std::size_t>(k) % context.data.folds()});
  }
  jobs.push_back({"gaussian", local, gaussian});
  train_networks(model, jobs, context);
  if (settings.centre) {
    std::vector<const NamedWeights*> members;
    for (int k = 0; k < settings.ensemble; ++k) members.push_back(&model.network(score_name(k)).weights);
    const CentreObjective centre(settings.score, members, model.source, context.data);
    train_networks(model, {{"centre", centre, gaussian}}, context);
  }
  return model;
}

}  // namespace

std::string score_name(int member) { return fmt::format("score.{}", member); }

Method fnse_method() {
  return {"fnse", "scores of single transitions by denoising score matching", describe_fields<FnseSettings>(),
          train_fnse};
}

}  // namespace catena::train
