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
  std::vector<const NamedWeights*> members;
  for (int k = 0; k < settings.ensemble; ++k) {
    train_network(model, score_name(k), ScoreObjective(settings.score, d, features), context, loop,
                  static_cast<std::size_t>(k) % context.data.folds());
  }
  train_network(model, "gaussian", LocalGaussianObjective(settings.gaussian_width, d, features), context, gaussian);
  if (settings.centre) {
    for (int k = 0; k < settings.ensemble; ++k) members.push_back(&model.network(score_name(k)).weights);
    const CentreObjective centre(settings.score, members, model.source, context.data);
    train_network(model, "centre", centre, context, gaussian);
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
