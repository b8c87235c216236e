#include "catena/train/choose/coordinates.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "catena/core/check.h"
#include "catena/train/choose/inputs.h"
#include "catena/train/choose/trial.h"

namespace catena::train {
namespace {

using States = std::vector<std::size_t>;

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
    while (trials_of({}) < trial_repeats) least = std::min(least, loss({}));
    return least;
  }

  /// The largest loss with the logarithms of these states; or the first that is not below the bound.
  double largest_of(const States& states, double bound) {
    double largest = loss(states);
    while (largest < bound && trials_of(states) < trial_repeats) largest = std::max(largest, loss(states));
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
    nlohmann::json& found = notes[names(states)];
    const double value = trial_loss(settings_.inputs, context_, method_,
                                    fmt::format("trial-{}-log-{}", found.size() + 1, names(states)));
    found.push_back(value);
    return value;
  }

  const model::DensityModelSettings& settings_;
  const MethodContext& context_;
  std::string_view method_;
};

/// None, all, each alone, those that are better alone: the best of these.
States best_of(const States& all, Trials& trials) {
  const double bound = trials.least_of_increments() - worth_a_change;
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
