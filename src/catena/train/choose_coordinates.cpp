#include "catena/train/choose_coordinates.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "catena/core/check.h"
#include "catena/train/choose_inputs.h"
#include "catena/train/decay_search.h"
#include "catena/train/objectives/density.h"

namespace catena::train {
namespace {

using States = std::vector<std::size_t>;

/// A trial is a Gaussian of these sizes, and takes half a second where the search that follows takes a hundred.
constexpr int trial_steps = 1000, trial_width = 32, trial_layers = 2, trial_terms = 16;
/// Trials of one choice: where transitions have hardly any noise (sir), two of them differ by a tenth of a nat.
constexpr std::size_t repeats = 3;
constexpr double trial_decay = 0.5;
/// Increments of x are kept unless others, in the worst of their trials, are better than these in the best of theirs by
/// this much (nats per transition).
constexpr double worth_logarithms = 0.01;
/// Beyond so many states they are tried all together only.
constexpr std::size_t most_single_trials = 4;

std::string names_of(const States& states, const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for (const std::size_t i : states) parts.push_back(names[i]);
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ","));
}

/// Positive states that are no whole numbers and have no point mass.
States candidates(const model::DensityInputSettings& inputs, const TrainingData& data) {
  States states = data.positive_states();
  const model::DensityInputSettings found = choose_inputs(inputs, data);
  const model::DensityMap map(data.features(), data.state_names(), found, false);
  const std::size_t n = data.features().states();
  std::erase_if(states, [&](std::size_t state) {
    const auto has_mass = [&](const model::Atom& atom) { return atom.state % n == state; };
    const auto is_integer = [&](std::size_t i) { return i % n == state; };
    return std::ranges::any_of(map.atoms(), has_mass) || std::ranges::any_of(map.integer_coordinates(), is_integer);
  });
  return states;
}

/// Trials of one choice of coordinates after the other, with what they found.
class Trials {
 public:
  Trials(const model::DensityModelSettings& settings, const MethodContext& context, std::string_view method)
      : settings_(settings), context_(context), method_(method) {}

  /// The least loss of increments of x.
  double least_of_increments() {
    double least = loss({});
    while (trials_of({}) < repeats) least = std::min(least, loss({}));
    return least;
  }

  /// The largest loss with the logarithms of these states; or the first that is not below the bound.
  double largest_of(const States& states, double bound) {
    double largest = loss(states);
    while (largest < bound && trials_of(states) < repeats) largest = std::max(largest, loss(states));
    return largest;
  }

  nlohmann::json notes = nlohmann::json::object();

 private:
  std::string names(const States& states) const { return names_of(states, context_.data.state_names()); }
  std::size_t trials_of(const States& states) const { return notes[names(states)].size(); }

  /// Of one more trial.
  double loss(const States& states) {
    TrainingData& data = context_.data;
    data.see_logarithms(states);
    const model::DensityInputSettings inputs = choose_inputs(settings_.inputs, data);
    const model::DensityMap map(data.features(), data.state_names(), inputs, false);
    model::DensitySettings density;
    density.density = "gaussian";
    density.width = trial_width;
    density.layers = trial_layers;
    density.terms = trial_terms;
    const DensityObjective objective(density, map, data.prior().size());
    LoopSettings loop = with_decay(context_.loop, trial_decay, data.training_size());
    loop.steps = loop.steps == 0 ? trial_steps : std::min(loop.steps, trial_steps);
    model::TrainedModel scratch = empty_model(method_, context_, to_json(settings_));
    nlohmann::json& found = notes[names(states)];
    const std::string network = fmt::format("trial-{}-log-{}", found.size() + 1, names(states));
    train_networks(scratch, {{network, objective, loop}}, context_);
    const double value = scratch.network(network).held_out_loss - mean_log_jacobian(map, data);
    found.push_back(value);
    return value;
  }

  /// Over the held-out rows: what turns the trial's loss into one of a density of x^(t+1).
  static double mean_log_jacobian(const model::DensityMap& map, const TrainingData& data) {
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

  const model::DensityModelSettings& settings_;
  const MethodContext& context_;
  std::string_view method_;
};

/// None, all, each alone, those that are better alone: the best of these.
States best_of(const States& all, Trials& trials) {
  const double bound = trials.least_of_increments() - worth_logarithms;
  States best, good;
  double least = bound;
  const auto is_better = [&](const States& states) {
    const double loss = trials.largest_of(states, bound);
    if (loss < least) best = states, least = loss;
    return loss < bound;
  };
  is_better(all);
  if (all.size() == 1 || all.size() > most_single_trials) return best;
  for (const std::size_t state : all) {
    if (is_better({state})) good.push_back(state);
  }
  if (good.size() > 1 && good.size() < all.size()) is_better(good);
  return best;
}

States named_states(const model::DensityInputSettings& inputs, const TrainingData& data) {
  States states = model::states_in(inputs.log_increments, data.state_names(), "log_increments");
  if (states.empty()) return states;
  const States allowed = candidates(inputs, data);
  for (const std::size_t state : states) {
    check::that(std::ranges::find(allowed, state) != allowed.end(), "train", "log_increments",
                data.state_names()[state],
                "a state that is positive in all training transitions, without point masses, and no whole number");
  }
  std::ranges::sort(states);
  const auto repeated = std::ranges::unique(states);
  states.erase(repeated.begin(), repeated.end());
  return states;
}

}  // namespace

Coordinates choose_coordinates(const model::DensityModelSettings& settings, const MethodContext& context,
                               std::string_view method) {
  TrainingData& data = context.data;
  Coordinates result;
  data.see_logarithms({});
  States chosen;
  if (settings.inputs.log_increments != "auto") {
    chosen = named_states(settings.inputs, data);
  } else if (const States all = candidates(settings.inputs, data); !all.empty()) {
    Trials trials(settings, context, method);
    chosen = best_of(all, trials);
    result.notes = trials.notes;
  }
  data.see_logarithms(chosen);
  result.inputs = choose_inputs(settings.inputs, data);
  result.inputs.log_increments = names_of(chosen, data.state_names());
  return result;
}

}  // namespace catena::train
