#include "catena/train/choose/trial.h"

#include <algorithm>

#include "catena/train/choose/decay_search.h"
#include "catena/train/choose/inputs.h"
#include "catena/train/objectives/density.h"

namespace catena::train {
namespace {

/// A Gaussian of these sizes takes half a second where the search that follows takes a hundred.
constexpr int trial_steps = 1000, trial_width = 32, trial_layers = 2, trial_terms = 16;
constexpr double trial_decay = 0.5;

/// Over the held-out rows: what turns the trial's loss into one of a density of x^(t+1).
double mean_log_jacobian(const model::DensityMap& map, const TrainingData& data) {
  const std::size_t rows = data.held_out_size(), first = data.first_held_out(0);
  const model::DensityShape shape = map.shape(0);
  std::vector<float> v(shape.states), atom(shape.atoms), keep(shape.atoms > 0 ? shape.states : 0);
  double sum = 0;
  for (std::size_t r = first; r < first + rows; ++r) {
    const float* c = data.held_out().c_of(r);
    map.increment(c, {}, v, atom, keep);
    sum += map.log_jacobian(c, keep);
  }
  return sum / static_cast<double>(rows);
}

}  // namespace

double trial_loss(const model::DensityInputSettings& given, const MethodContext& context, std::string_view method,
                  const std::string& network) {
  const TrainingData& data = context.data;
  const model::DensityInputSettings inputs = choose_inputs(given, data);
  const model::DensityMap map(data.features(), data.state_names(), inputs, false);
  model::DensitySettings density;
  density.density = "gaussian";
  density.width = trial_width;
  density.layers = trial_layers;
  density.terms = trial_terms;
  const DensityObjective objective(density, map, data.prior().size());
  LoopSettings loop = with_decay(context.loop, trial_decay, data.training_size());
  loop.steps = loop.steps == 0 ? trial_steps : std::min(loop.steps, trial_steps);
  model::TrainedModel scratch = empty_model(method, context, to_json(inputs));
  PartProgress part(context.progress);  // seconds beside what follows: not in its bar
  const MethodContext quiet{context.data,     context.loop, context.settings,   context.streams,
                            context.parallel, part,         context.checkpoint, context.preset};
  train_networks(scratch, {{network, objective, loop}}, quiet);
  return scratch.network(network).held_out_loss - mean_log_jacobian(map, data);
}

}  // namespace catena::train
