#include "verb.h"

namespace catena::cli {

// One line per verb: its maker, defined in the file that bears its name.
Verb evaluate_verb();
Verb bench_verb();

const Registry<Verb>& verbs() {
  static const Registry<Verb> registry = [] {
    std::vector<Verb> list = {
        evaluate_verb(),
        bench_verb(),
    };
    return Registry<Verb>("verb", std::move(list));
  }();
  return registry;
}

}  // namespace catena::cli
