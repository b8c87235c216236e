#include "catena/train/decay_search.h"

#include <fmt/format.h>

#include <algorithm>

namespace catena::train {
namespace {

constexpr double first_decays[] = {0.125, 0.5, 2};
constexpr double decay_factor = 4;

}  // namespace

std::string Candidate::name() const { return fmt::format("{}-decay-{:.3g}", kind, decay); }

DecaySearch::DecaySearch(TrainedModel& model, const MethodContext& context, const LoopSettings& loop,
                         MakeObjective make, double margin)
    : model_(model), context_(context), loop_(loop), make_(std::move(make)), margin_(margin) {}

LoopSettings DecaySearch::loop_with(double decay) const {
  LoopSettings loop = loop_;
  loop.optimizer.weight_decay = decay * std::min(1.0, 1e4 / static_cast<double>(context_.data.training_size()));
  return loop;
}

void DecaySearch::train(const std::vector<Candidate>& candidates) {
  std::vector<std::unique_ptr<Objective>> objectives;
  std::vector<NetworkJob> jobs;
  for (const Candidate& candidate : candidates) {
    objectives.push_back(make_(candidate.kind));
    jobs.push_back({candidate.name(), *objectives.back(), loop_with(candidate.decay)});
  }
  train_networks(model_, jobs, context_);
  for (const Candidate& candidate : candidates) {
    model_.notes["held_out_losses"][candidate.name()] = loss(candidate);
    const double margin = candidate.kind == best_.kind ? 0 : margin_;
    if (tried_.empty() || loss(candidate) < loss(best_) - margin) best_ = candidate;
    tried_.push_back(candidate);
  }
}

void DecaySearch::run(const std::string& kind, double decay, const std::vector<std::string>& others) {
  std::vector<Candidate> first, second;
  if (decay > 0) {
    first.push_back({kind, decay});
  } else {
    for (const double value : first_decays) first.push_back({kind, value});
  }
  train(first);
  const double best = best_.decay;
  if (first.size() > 1 && best == first.front().decay) second.push_back({kind, best / decay_factor});
  if (first.size() > 1 && best == first.back().decay) second.push_back({kind, best * decay_factor});
  for (const std::string& other : others) second.push_back({other, best});
  if (!second.empty()) train(second);
}

TrainedNetwork DecaySearch::take_best() {
  TrainedNetwork network = std::move(model_.networks[best_.name()]);
  for (const Candidate& candidate : tried_) model_.networks.erase(candidate.name());
  return network;
}

}  // namespace catena::train
