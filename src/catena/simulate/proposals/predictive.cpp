// p̃(x) from the prior predictive: simulate a few series x⁰ … x^T with θ from the prior, pool their T + 1 states each,
// draw one at random, add noise (the paper's appendix C). The transitions of these series are part of the budget.

#include "catena/core/check.h"
#include "catena/simulate/proposal.h"

namespace catena::simulate {

namespace {

class Predictive final : public Proposal {
 public:
  Predictive(PredictiveSettings settings, StatePool pool) : settings_(settings), pool_(std::move(pool)) {}
  void draw(Stream& stream, StateBlock state, double* time) const override { pool_.draw(stream, state, time); }
  std::uint64_t cost() const override {
    return static_cast<std::uint64_t>(settings_.series) * static_cast<std::uint64_t>(settings_.length);
  }
  nlohmann::json to_json() const override {
    nlohmann::json json = catena::to_json(settings_);
    json["proposal"] = "predictive";
    return json;
  }

 private:
  PredictiveSettings settings_;
  StatePool pool_;
};

ProposalPtr make_predictive_proposal(const nlohmann::json& settings, const ProposalContext& context) {
  constexpr std::string_view caller = "predictive proposal";
  nlohmann::json all = context.model.predictive;  // what suits the model, then what was asked for
  all.update(settings);
  const auto chosen = from_json<PredictiveSettings>(caller, all);
  const auto series = static_cast<std::size_t>(chosen.series);
  Stream stream = context.streams.stream("proposal");
  StateLanes z(context.model.prior.size(), series), theta(context.model.prior.size(), series);
  context.model.prior.sample(stream, z, theta);
  Matrix rows(series, context.model.prior.size());
  for (std::size_t l = 0; l < series; ++l) {
    for (std::size_t i = 0; i < rows.cols(); ++i) rows(l, i) = theta(i, l);
  }
  const auto simulated =
      simulate_series(context.model, rows, static_cast<std::size_t>(chosen.length), stream, context.covariates);
  std::vector<SeriesView> views;
  for (const Matrix& one : simulated) views.push_back({one});
  return std::make_shared<Predictive>(chosen, pool_states(caller, views, context.model.simulator.order, chosen.pool));
}

}  // namespace

ProposalEntry predictive_proposal() {
  return {"predictive", "states of a few prior-predictive series, plus noise; costs their transitions",
          describe_fields<PredictiveSettings>(), make_predictive_proposal};
}

}  // namespace catena::simulate
