#include "catena/train/fnse.h"

#include <algorithm>

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
  train_network(model, "score", ScoreObjective(settings.score, d, features), context, loop);

  // A Gaussian is quickly learned: a tenth of the score's steps.
  LoopSettings gaussian = loop;
  gaussian.steps = std::max(1, loop.steps / 10);
  train_network(model, "gaussian", LocalGaussianObjective(settings.gaussian_width, d, features), context, gaussian);
  return model;
}

}  // namespace

Method fnse_method() {
  return {"fnse", "scores of single transitions by denoising score matching", describe_fields<FnseSettings>(),
          train_fnse};
}

}  // namespace catena::train
