/// Candidates of one network, of which the held-out loss keeps the best: weight decays of some kinds first, then other
/// kinds of network with the best decay of the first. All of a round are trained at the same time. Candidates have
/// `trial_steps`; the best ones of the best kinds, `finalists` of them, are then trained again with all steps, because
/// a kind may learn faster than another one and be overtaken. If the best decay is the largest or smallest tried, one
/// beyond it is tried with its kind.
///
/// How much regularisation is right depends on how much of a transition is noise: on 10,000 transitions, sir (hardly
/// any) wants a fifth of what double_well (nearly all) does. So weight decay is searched, not set.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "catena/train/method.h"
#include "catena/train/objective.h"

namespace catena::train {

struct DecaySearch {
  std::vector<std::string> kinds;   // of network, for which decays are searched; the first is kept if none is better
  std::vector<std::string> others;  // kinds that are tried with the first kind's best decay
  double decay = 0;                 // at 10,000 transitions; 0: searched
  LoopSettings loop;                // weight_decay does not count
  int trial_steps = 0;              // of a candidate, at most loop.steps
  std::size_t finalists = 2;        // kinds that are trained with all steps
  std::function<std::unique_ptr<Objective>(const std::string& kind)> objective;
};

struct SearchResult {
  std::string kind;
  double decay = 0;
};

/// With as many candidates and steps as the effort allows (effort.h): a quick search has one candidate, the last of
/// `kinds`.
DecaySearch with_effort(DecaySearch search, const std::string& effort);

/// The loop with a weight decay that is given for 10,000 transitions: n of them need 10,000/n of it.
LoopSettings with_decay(LoopSettings loop, double decay, std::size_t transitions);

/// How many steps the search takes at most, for progress.
std::uint64_t most_steps(const DecaySearch& search);

/// Trains the candidates and adds the best one to the model under the name `network` (empty: that of its kind); the
/// held-out losses of all of them go to the model's notes. Another kind is kept only if it is better by more than the
/// noise of a held-out loss.
SearchResult search_decay(model::TrainedModel& model, const std::string& network, const DecaySearch& search,
                          const MethodContext& context);

}  // namespace catena::train
