// p̃(x) from given series (observed or not): one of their states at random, plus noise. Good for these series, not
// amortised beyond them.

#include "catena/core/check.h"
#include "catena/simulate/proposal.h"

namespace catena::simulate {

namespace {

class Target final : public Proposal {
 public:
  Target(TargetSettings settings, StatePool pool) : settings_(settings), pool_(std::move(pool)) {}
  void draw(Stream& stream, StateBlock state, double* time) const override { pool_.draw(stream, state, time); }
  nlohmann::json to_json() const override {
    nlohmann::json json = catena::to_json(settings_);
    json["proposal"] = "target";
    json["pooled_states"] = pool_.size();  // the states themselves are the user's
    json["pool"] = pool_.fingerprint();
    return json;
  }

 private:
  TargetSettings settings_;
  StatePool pool_;
};

ProposalPtr make_target_proposal(const nlohmann::json& settings, const ProposalContext& context) {
  constexpr std::string_view caller = "target proposal";
  nlohmann::json all = settings;
  if (!all.contains("non_negative") && context.model.predictive.contains("non_negative")) {
    all["non_negative"] = context.model.predictive["non_negative"];
  }
  const auto chosen = from_json<TargetSettings>(caller, all);
  check::at_least(caller, "the number of given series", context.target.size(), std::size_t{1});
  for (const SeriesView& series : context.target) {
    check::equal(caller, "the number of columns of a series", series.states.cols, context.model.simulator.states());
    if (series.times.empty()) continue;
    check::equal(caller, "the number of times of a series", series.times.size(), series.states.rows);
  }
  return std::make_shared<Target>(chosen,
                                  pool_states(caller, context.target, context.model.simulator.order, chosen.pool));
}

}  // namespace

ProposalEntry target_proposal() {
  return {"target", "states of given series (--target), plus noise", describe_fields<TargetSettings>(),
          make_target_proposal};
}

}  // namespace catena::simulate
