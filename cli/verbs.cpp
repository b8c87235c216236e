#include "verb.h"

namespace catena::cli {

// One line per verb: its maker, defined in the file that bears its name.
Verb tasks_verb();
Verb settings_verb();
Verb simulate_verb();
Verb merge_verb();
Verb train_verb();
Verb observe_verb();
Verb sample_verb();
Verb check_verb();
Verb correct_verb();
Verb map_verb();
Verb log_prob_verb();
Verb reference_verb();
Verb evaluate_verb();
Verb calibrate_verb();
Verb predict_verb();
Verb report_verb();
Verb experiment_verb();
Verb bench_verb();

const Registry<Verb>& verbs() {
  static const Registry<Verb> registry = [] {
    std::vector<Verb> list = {
        tasks_verb(),    settings_verb(),  simulate_verb(), merge_verb(),  train_verb(),      observe_verb(),
        sample_verb(),   check_verb(),     correct_verb(),  map_verb(),    log_prob_verb(),   reference_verb(),
        evaluate_verb(), calibrate_verb(), predict_verb(),  report_verb(), experiment_verb(), bench_verb(),
    };
    return Registry<Verb>("verb", std::move(list));
  }();
  return registry;
}

}  // namespace catena::cli
