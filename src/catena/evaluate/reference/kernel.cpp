#include "catena/evaluate/reference/kernel.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "catena/sample/mcmc/start/tempered_smc.h"

namespace catena::evaluate {

namespace {

constexpr std::size_t chains_of_a_block = 4;  // that one thread moves: enough of them to share out 32 evenly

class ReferenceKernel final : public sample::Kernel {
 public:
  ReferenceKernel(const ReferenceTarget& target, std::vector<ReferenceState> states, const Parallel& parallel,
                  MoveInfo& moves)
      : Kernel(target.dimension(), /*dense=*/true, /*wanted=*/0.5, /*step=*/1),
        target_(target),
        states_(std::move(states)),
        infos_(states_.size()),
        parallel_(parallel),
        moves_(moves) {}

  void init(const sample::Target&, sample::Chains& chains) override {
    chains.log_density.resize(chains.size());
    for (std::size_t c = 0; c < chains.size(); ++c) show(c, chains);
  }

  /// As `cloud`: from these points and from those of the start.
  void learn(ConstMatrixView points) override {
    const Matrix free = target_.free_columns(points);
    proposals_.emplace(sample::joined(free, start_), sample::usual_modes);
    if (start_.rows() == 0) start_ = free;
  }

  sample::StepInfo step(const sample::Target&, sample::Chains& chains) override {
    parallel_.for_blocks(chains.size(), chains_of_a_block, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t c = begin; c < end; ++c) {
        infos_[c] = chain_step(target_, *proposals_, states_[c], chains.streams[c]);
        show(c, chains);
      }
    });
    MoveInfo all;
    for (const MoveInfo& info : infos_) all.add(info);
    moves_.add(all);
    // Nothing to steer: 0.5 is what is wanted.
    return {.acceptance = static_cast<double>(all.accepted) / static_cast<double>(all.proposed), .steered = 0.5};
  }

 private:
  /// The chain as others see it.
  void show(std::size_t c, sample::Chains& chains) const {
    std::ranges::copy(states_[c].theta, chains.z.row(c).begin());
    chains.log_density[c] = sample::log_prior(states_[c].theta) + states_[c].log_likelihood;
  }

  const ReferenceTarget& target_;
  std::vector<ReferenceState> states_;  // θ and u of each chain
  std::vector<MoveInfo> infos_;
  std::optional<sample::CloudProposals> proposals_;
  Matrix start_;  // what was learned from first
  const Parallel& parallel_;
  MoveInfo& moves_;
};

}  // namespace

sample::KernelEntry reference_kernel(const ReferenceTarget& target, const std::vector<ReferenceState>& population,
                                     const Parallel& parallel, MoveInfo& moves) {
  return {.name = "pseudo_marginal",
          .help = "proposals learned from warm-up, with auxiliary variables where the likelihood is estimated",
          .crosses_modes = true,
          .make = [&](const sample::KernelContext& context) -> std::unique_ptr<sample::Kernel> {
            Matrix places(population.size(), 1);
            std::iota(places.values().begin(), places.values().end(), 0.0);
            const Matrix picked = sample::pick(places, context.chains);
            std::vector<ReferenceState> states;
            for (const double place : picked.values()) {
              states.push_back(population[static_cast<std::size_t>(place)]);
            }
            return std::make_unique<ReferenceKernel>(target, std::move(states), parallel, moves);
          }};
}

}  // namespace catena::evaluate
