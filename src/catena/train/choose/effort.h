/// How much training may try: one setting for every method.
///
///   quick      one network of a kind that is seldom far from the best, with a quarter of the steps
///   default    all candidates with a quarter of the steps, then the two best kinds with all of them
///   thorough   all candidates with 8,000 steps, then the best of each kind with all of them
#pragma once

#include <string>

#include "catena/core/config.h"

namespace catena::train {

template <class Effort, class Visit>
void list_effort(Effort& effort, Visit&& visit) {
  visit(effort, "effort", "how much is tried: quick (one network), default, or thorough",
        one_of({"quick", "default", "thorough"}));
}

inline bool is_quick(const std::string& effort) { return effort == "quick"; }
inline bool is_thorough(const std::string& effort) { return effort == "thorough"; }

/// Those that were asked for or, if that is none (0), a method's own number, of which quick takes a quarter.
inline int chosen_steps(int asked, int own, const std::string& effort) {
  if (asked != 0) return asked;
  return is_quick(effort) ? own / 4 : own;
}

}  // namespace catena::train
