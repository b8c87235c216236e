#include "catena/core/outcome.h"

#include <algorithm>
#include <array>

namespace catena {

namespace {

/// Listed once, in the order of the enumeration.
constexpr std::array<std::string_view, 8> words = {
    "ok", "diverged", "step_limit", "time_limit", "not_positive_definite", "not_mixed", "invalid_share", "not_settled"};
static_assert(words.size() == static_cast<std::size_t>(Outcome::not_settled) + 1);

}  // namespace

std::string_view name(Outcome outcome) {
  const auto index = static_cast<std::size_t>(outcome);
  return index < words.size() ? words[index] : "unknown";
}

std::optional<Outcome> outcome_named(std::string_view word) {
  const auto found = std::ranges::find(words, word);
  if (found == words.end()) return std::nullopt;
  return static_cast<Outcome>(found - words.begin());
}

std::string_view advice(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
      return "";
    case Outcome::diverged:
      return "values left the finite range: lower the learning rate or take more, smaller steps";
    case Outcome::step_limit:
      return "the step limit was reached before the tolerance: raise the limit or the tolerance";
    case Outcome::time_limit:
      return "the time limit was reached: raise --time-limit, or continue with --resume";
    case Outcome::not_positive_definite:
      return "a covariance was not positive definite even after repair: use more local samples or another rule";
    case Outcome::not_mixed:
      return "the chains disagree: run them longer, start more of them, or use parallel tempering";
    case Outcome::invalid_share:
      return "too many simulations were not finite: narrow the prior or the proposal, or raise --max-invalid";
    case Outcome::not_settled:
      return "the corrected posterior reaches to the edge of what was simulated for it: correct it with a larger "
             "budget";
  }
  return "";
}

}  // namespace catena
