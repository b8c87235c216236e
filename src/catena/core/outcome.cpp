#include "catena/core/outcome.h"

#include <algorithm>
#include <array>

namespace catena {

namespace {

/// Listed once, in the order of the enumeration.
constexpr std::array<std::string_view, 14> words = {"ok",
                                                    "diverged",
                                                    "step_limit",
                                                    "time_limit",
                                                    "not_positive_definite",
                                                    "not_mixed",
                                                    "invalid_share",
                                                    "not_settled",
                                                    "too_few_effective",
                                                    "outside_training",
                                                    "outside_prior",
                                                    "misfit",
                                                    "long_for_budget",
                                                    "longer_than_trained"};
static_assert(words.size() == static_cast<std::size_t>(Outcome::longer_than_trained) + 1);

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

std::string_view advice(Outcome outcome, std::string_view function) {
  const bool training = function.ends_with("train");
  switch (outcome) {
    case Outcome::ok:
      return "";
    case Outcome::diverged:
      return training ? "the loss left the finite range: lower the learning rate, or look for absurd values in the set"
                      : "values left the finite range: take more, smaller steps or another rule, or simulate with a "
                        "proposal that covers the series";
    case Outcome::step_limit:
      return "the step limit was reached before the tolerance: raise the limit or the tolerance";
    case Outcome::time_limit:
      return training ? "the time limit was reached: raise the limit, or continue with --resume"
                      : "the time limit was reached: raise it";
    case Outcome::not_positive_definite:
      return "a covariance was not positive definite even after repair: use more local samples or another rule";
    case Outcome::not_mixed:
      return "the chains disagree: run them longer, start more of them, or use parallel tempering";
    case Outcome::invalid_share:
      return "too many simulations were not finite: narrow the prior or the proposal, or raise --max-invalid";
    case Outcome::not_settled:
      return "the corrected posterior reaches to the edge of what was simulated for it: correct it with a larger "
             "budget";
    case Outcome::too_few_effective:
      return "the posterior lies where few draws of this round do: use the model of the round before, or simulate a "
             "new round around a wider posterior";
    case Outcome::outside_training:
      return "the series, or what of it decides, lies where the networks were never trained: simulate with a proposal "
             "that covers it, and train anew";
    case Outcome::outside_prior:
      return "the draws lie where the prior has next to nothing: widen the prior if such values are possible, else "
             "check that the simulator is that of the data and that the networks know these states";
    case Outcome::misfit:
      return "the series is not one that the learned simulator makes: check the simulator (its noise, its time step, "
             "what of its states is observed), then the networks by catena check or posterior.check";
    case Outcome::long_for_budget:
      return "the series is too long for what was simulated: simulate more, or correct the posterior by simulation "
             "(catena correct, posterior.correct)";
    case Outcome::longer_than_trained:
      return "the network has never read so long a series, and what it says of one is a guess: train on series of that "
             "length (catena simulate --series), or use a method that composes transitions (fnle, fnse)";
  }
  return "";
}

}  // namespace catena
