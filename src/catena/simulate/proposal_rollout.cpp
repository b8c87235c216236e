// Fresh-θ rollouts: an initial state of the model is carried on for some transitions, each with a new θ from the prior,
// so that x^t is reached by the simulator itself and yet independent of the θ that moves it next (the paper's scheme
// for the Kolmogorov flow). Every transition is a training transition, so the proposal costs nothing.

#include "catena/core/check.h"
#include "catena/simulate/proposal.h"

namespace catena::simulate {

namespace {

class Rollout final : public Proposal {
 public:
  Rollout(RolloutSettings settings, const Model& model)
      : settings_(settings), states_(model.simulator.states()), initial_state_(model.initial_state) {}
  void draw(Stream& stream, StateBlock state, double* time) const override {
    std::vector<double> one(states_);
    for (std::size_t l = 0; l < state.lanes; ++l) {
      initial_state_(stream, one);
      for (std::size_t i = 0; i < states_; ++i) state(i, l) = one[i];
      if (time != nullptr) time[l] = 0;
    }
  }
  std::size_t rounds() const override { return static_cast<std::size_t>(settings_.length); }
  nlohmann::json to_json() const override {
    nlohmann::json json = catena::to_json(settings_);
    json["proposal"] = "rollout";
    return json;
  }

 private:
  RolloutSettings settings_;
  std::size_t states_;
  std::function<void(Stream&, std::span<double>)> initial_state_;
};

}  // namespace

ProposalPtr make_rollout_proposal(const nlohmann::json& settings, const ProposalContext& context) {
  check::that(static_cast<bool>(context.model.initial_state), "rollout proposal", "the model's initial state",
              "missing", "given");
  return std::make_shared<Rollout>(from_json<RolloutSettings>("rollout proposal", settings), context.model);
}

}  // namespace catena::simulate
