#include "catena/train/choose/decay_search.h"

#include <fmt/format.h>

#include <algorithm>

#include "catena/train/choose/effort.h"

namespace catena::train {
namespace {

/// A kind is kept unless another one is better by this much on held-out transitions (nats per transition): the noise of
/// a difference over 1,000 of them.
constexpr double worth_a_change = 0.003;

// The first decays, and what to multiply or divide the largest or smallest by if that was best.
constexpr double first_decays[] = {0.125, 0.5, 2};
constexpr double decay_factor = 4;
constexpr double quick_decay = 0.5;

// Where kinds and decays are told apart: earlier, those that learn fast win.
constexpr int fewest_trial_steps = 1000, most_trial_steps = 8000;

std::string label_of(const SearchResult& candidate) {
  return fmt::format("{}-decay-{:.3g}", candidate.kind, candidate.decay);
}

class Rounds {
 public:
  Rounds(model::TrainedModel& model, const DecaySearch& search, const MethodContext& context)
      : model_(model), search_(search), context_(context), trial_(search.loop) {
    const bool choice = search.decay == 0 || search.kinds.size() + search.others.size() > 1;
    if (choice) trial_.steps = std::min(search.loop.steps, search.trial_steps);
  }

  /// All of these at the same time.
  void train(const std::vector<SearchResult>& candidates) {
    std::vector<std::unique_ptr<Objective>> objectives;
    std::vector<NetworkJob> jobs;
    for (const SearchResult& candidate : candidates) {
      objectives.push_back(search_.objective(candidate.kind));
      jobs.push_back(
          {name_of(candidate), *objectives.back(), with_decay(trial_, candidate.decay, context_.data.training_size())});
    }
    train_networks(model_, jobs, context_);
    for (const SearchResult& candidate : candidates) {
      model_.notes[note_][label_of(candidate)] = loss(candidate);
      all_.push_back(candidate);
      const double margin = candidate.kind == best_.kind ? 0 : worth_a_change;
      if (best_.kind.empty() || loss(candidate) < loss(best_) - margin) best_ = candidate;
    }
  }

  const SearchResult& best() const { return best_; }

  const SearchResult& best_of(const std::string& kind) const {
    const SearchResult* best = nullptr;
    for (const SearchResult& candidate : all_) {
      if (candidate.kind == kind && (best == nullptr || loss(candidate) < loss(*best))) best = &candidate;
    }
    return *best;
  }

  /// Keeps the best network alone, trained with all steps.
  SearchResult finish(const std::string& network) {
    if (trial_.steps < search_.loop.steps) {
      std::vector<SearchResult> finalists;
      for (const auto* kinds : {&search_.kinds, &search_.others}) {
        for (const std::string& kind : *kinds) finalists.push_back(best_of(kind));
      }
      std::ranges::stable_sort(finalists, {}, [this](const SearchResult& each) { return loss(each); });
      finalists.resize(std::min(finalists.size(), search_.finalists));
      // Where two are equal the kind that is named first is kept.
      std::ranges::stable_sort(finalists, {}, [this](const SearchResult& each) { return rank(each.kind); });
      forget();
      best_ = {};
      trial_ = search_.loop;
      suffix_ = "-final";
      note_ = "final_held_out_losses";
      train(finalists);
    }
    model::TrainedNetwork kept = std::move(model_.networks[name_of(best_)]);
    forget();
    model_.networks[network.empty() ? best_.kind : network] = std::move(kept);
    return best_;
  }

 private:
  /// Of a candidate's network and of its checkpoint, which a final one does not share with its trial.
  std::string name_of(const SearchResult& candidate) const { return label_of(candidate) + suffix_; }

  void forget() {
    for (const SearchResult& candidate : all_) model_.networks.erase(name_of(candidate));
    all_.clear();
  }

  std::size_t rank(const std::string& kind) const {
    return static_cast<std::size_t>(std::ranges::find(search_.kinds, kind) - search_.kinds.begin());
  }

  double loss(const SearchResult& candidate) const { return model_.network(name_of(candidate)).held_out_loss; }

  model::TrainedModel& model_;
  const DecaySearch& search_;
  const MethodContext& context_;
  LoopSettings trial_;
  std::string suffix_, note_ = "held_out_losses";
  std::vector<SearchResult> all_;
  SearchResult best_;
};

}  // namespace

DecaySearch with_effort(DecaySearch search, const std::string& effort) {
  if (is_quick(effort)) {
    search.kinds = {search.kinds.back()};
    search.others.clear();
    if (search.decay == 0) search.decay = quick_decay;
  }
  const bool thorough = is_thorough(effort);
  search.trial_steps =
      thorough ? most_trial_steps : std::clamp(search.loop.steps / 4, fewest_trial_steps, most_trial_steps);
  search.finalists = thorough ? search.kinds.size() + search.others.size() : 2;
  return search;
}

std::uint64_t most_steps(const DecaySearch& search) {
  const std::size_t kinds = search.kinds.size() + search.others.size();
  // A decay beyond the largest or smallest may be added.
  const std::size_t trials =
      search.decay > 0 ? kinds : search.kinds.size() * std::size(first_decays) + search.others.size() + 1;
  const auto all = static_cast<std::uint64_t>(search.loop.steps);
  if (trials == 1) return all;
  const std::uint64_t each = std::min(all, static_cast<std::uint64_t>(search.trial_steps));
  return trials * each + (each < all ? std::min(kinds, search.finalists) * all : 0);
}

LoopSettings with_decay(LoopSettings loop, double decay, std::size_t transitions) {
  loop.optimizer.weight_decay = decay * std::min(1.0, 1e4 / static_cast<double>(transitions));
  return loop;
}

SearchResult search_decay(model::TrainedModel& model, const std::string& network, const DecaySearch& search,
                          const MethodContext& context) {
  Rounds rounds(model, search, context);
  std::vector<SearchResult> first, second;
  for (const std::string& kind : search.kinds) {
    if (search.decay > 0) {
      first.push_back({kind, search.decay});
    } else {
      for (const double decay : first_decays) first.push_back({kind, decay});
    }
  }
  rounds.train(first);
  const auto [best, decay] = rounds.best();
  if (search.decay == 0 && decay == first.front().decay) second.push_back({best, decay / decay_factor});
  if (search.decay == 0 && decay == first.back().decay) second.push_back({best, decay * decay_factor});
  const double decay_of_first = rounds.best_of(search.kinds.front()).decay;
  for (const std::string& kind : search.others) second.push_back({kind, decay_of_first});
  if (!second.empty()) rounds.train(second);
  return rounds.finish(network);
}

}  // namespace catena::train
