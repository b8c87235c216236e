// p̃(x): independent coordinates, each with a distribution of its own (the families of prior.h), and t uniform on
// 0 … times − 1 where the simulator uses time.

#include <algorithm>

#include "catena/core/check.h"
#include "catena/simulate/proposal.h"

namespace catena::simulate {

namespace {

class Fixed final : public Proposal {
 public:
  Fixed(Prior states, std::size_t times) : states_(std::move(states)), times_(times) {}
  void draw(Stream& stream, StateBlock state, double* time) const override {
    states_.sample_theta(stream, state);
    if (time == nullptr) return;
    for (std::size_t l = 0; l < state.lanes; ++l) time[l] = static_cast<double>(stream.integer(times_));
  }
  nlohmann::json to_json() const override {
    return {{"proposal", "fixed"}, {"states", states_.to_json()}, {"times", times_}};
  }

 private:
  Prior states_;
  std::size_t times_;
};

}  // namespace

ProposalPtr make_fixed_proposal(const nlohmann::json& settings, const ProposalContext& context) {
  constexpr std::string_view function = "fixed proposal";
  nlohmann::json all = settings;
  if (!all.contains("states") && context.model.proposal.value("proposal", "") == "fixed") {
    all = context.model.proposal;  // the model's own
    all.erase("proposal");
    all.update(settings);
  }
  check::that(all.contains("states"), function, "states", "missing",
              "given: this model has no fixed proposal of its own");
  for (const auto& [name, value] : all.items()) {
    check::that(name == "states" || name == "times", function, "setting", fmt::format("\"{}\"", name),
                "one of states, times");
  }
  Prior states = Prior::from_json(function, all["states"]);
  check::equal(function, "the number of states", states.size(), context.model.simulator.states());
  std::size_t times = 1;
  if (all.contains("times")) {
    const nlohmann::json& value = all["times"];
    check::that(value.is_number_integer() && value.get<std::int64_t>() >= 1, function, "times", value.dump(),
                "a whole number, at least 1");
    times = value.get<std::size_t>();
  }
  return std::make_shared<Fixed>(std::move(states), times);
}

}  // namespace catena::simulate
