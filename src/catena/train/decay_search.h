/// Weight decay chosen by the held-out loss, for methods whose networks overfit small training sets.
///
/// How much regularisation is right depends on how much of an increment is noise: on 10,000 transitions, sir (hardly
/// any) wants a fifth of what double_well (nearly all) does. So a network is trained with several decays, and by one
/// more beyond the smallest or largest of them if that was best.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "catena/train/method.h"

namespace catena::train {

/// A kind of network with a weight decay, which is that for 10,000 transitions: n of them need 10,000/n of it.
struct Candidate {
  std::string kind;
  double decay = 0;
  std::string name() const;
};

class DecaySearch {
 public:
  /// What networks of a kind minimise.
  using MakeObjective = std::function<std::unique_ptr<Objective>(const std::string& kind)>;

  /// A candidate of another kind must be better than the best one by `margin` (nats per transition). `loop` has its
  /// number of steps. The model keeps the losses in its notes.
  DecaySearch(TrainedModel& model, const MethodContext& context, const LoopSettings& loop, MakeObjective make,
              double margin);

  /// Trains the kind with the first decays at the same time, and then with one beyond together with `others`, which
  /// take the decay that was best so far. A `decay` that is not 0 is the only one tried.
  void run(const std::string& kind, double decay, const std::vector<std::string>& others = {});

  const Candidate& best() const { return best_; }
  /// The loop of a network with this decay.
  LoopSettings loop_with(double decay) const;
  /// Takes the best network out of the model and drops the others.
  TrainedNetwork take_best();

 private:
  void train(const std::vector<Candidate>& candidates);
  double loss(const Candidate& candidate) const { return model_.network(candidate.name()).held_out_loss; }

  TrainedModel& model_;
  const MethodContext& context_;
  LoopSettings loop_;
  MakeObjective make_;
  double margin_;
  std::vector<Candidate> tried_;
  Candidate best_;
};

}  // namespace catena::train
