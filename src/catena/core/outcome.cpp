#include "catena/core/outcome.h"

namespace catena {

std::string_view name(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
      return "ok";
    case Outcome::diverged:
      return "diverged";
    case Outcome::step_limit:
      return "step_limit";
    case Outcome::time_limit:
      return "time_limit";
    case Outcome::not_positive_definite:
      return "not_positive_definite";
    case Outcome::not_mixed:
      return "not_mixed";
    case Outcome::invalid_share:
      return "invalid_share";
  }
  return "unknown";
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
  }
  return "";
}

}  // namespace catena
