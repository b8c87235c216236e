/// How a numerical computation ended. A failure is a value that carries its remedy, never a silent NaN.
#pragma once

#include <optional>
#include <string_view>

namespace catena {

enum class Outcome {
  ok,
  diverged,
  step_limit,
  time_limit,
  not_positive_definite,
  not_mixed,
  invalid_share,
  not_settled,
  // What is wrong with draws although their sampler did well (sample/judgement.h):
  too_few_effective,
  outside_training,
  outside_prior,
  misfit,
  long_for_budget,
  longer_than_trained
};

/// The word that is written to files and printed: "ok", "diverged", ….
std::string_view name(Outcome outcome);

/// The outcome of that word; none for any other word.
std::optional<Outcome> outcome_named(std::string_view word);

/// What the user can do about it, in one sentence; empty for ok. `function` is who gives it, "catena train" or
/// "posterior.sample": what helps in training does not help a sampler.
std::string_view advice(Outcome outcome, std::string_view function);

}  // namespace catena
