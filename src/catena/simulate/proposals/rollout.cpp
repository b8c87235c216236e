// Fresh-θ rollouts: an initial state of the model is carried on for some transitions, each with a new θ from the prior,
// so that x^t is reached by the simulator itself and yet independent of the θ that moves it next (the paper's scheme
// for the Kolmogorov flow). Every transition is a training transition, so the proposal costs nothing. With a short
// length, long and short rollouts take turns, block by block: the paper has 1,000 of 100 transitions and 10,000 of 10.

#include <algorithm>

#include "catena/core/check.h"
#include "catena/simulate/proposal.h"

namespace catena::simulate {

namespace {

class Rollout final : public Proposal {
 public:
  Rollout(RolloutSettings settings, const Model& model)
      : settings_(settings), first_(static_cast<double>(model.simulator.order) - 1), model_(model) {}
  void draw(Stream& stream, StateBlock state, double* time) const override {
    if (!model_.initial_given_theta) {
      model_.draw_initial({}, stream, state);
    } else {  // the initial state of a θ which moves nothing afterwards
      StateLanes theta(model_.prior.size(), state.lanes), own(state.features, state.lanes);
      model_.prior.sample_theta(stream, theta);
      model_.draw_initial(theta, stream, own);
      for (std::size_t i = 0; i < state.features; ++i) {
        std::copy_n(own.view().feature(i), state.lanes, state.feature(i));
      }
    }
    for (std::size_t l = 0; time != nullptr && l < state.lanes; ++l) time[l] = first_;
  }
  std::size_t rounds() const override { return static_cast<std::size_t>(settings_.length); }
  bool begins(std::size_t block, std::size_t round) const override {
    const auto each = static_cast<std::size_t>(settings_.short_length);
    return round == 0 || (each > 0 && block % 2 == 1 && round % each == 0);
  }
  nlohmann::json to_json() const override {
    nlohmann::json json = catena::to_json(settings_);
    json["proposal"] = "rollout";
    return json;
  }

 private:
  RolloutSettings settings_;
  double first_;  // t of the last of the initial states
  Model model_;
};

ProposalPtr make_rollout_proposal(const nlohmann::json& settings, const ProposalContext& context) {
  check::that(context.model.has_initial_state(), "rollout proposal", "the model's initial state", "missing", "given");
  return std::make_shared<Rollout>(from_json<RolloutSettings>("rollout proposal", settings), context.model);
}

}  // namespace

ProposalEntry rollout_proposal() {
  return {"rollout", "initial states carried on with a fresh theta at each transition",
          describe_fields<RolloutSettings>(), make_rollout_proposal};
}

}  // namespace catena::simulate
