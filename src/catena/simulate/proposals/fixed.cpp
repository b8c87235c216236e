// p̃(x): independent coordinates, each with a distribution of its own (the families of prior.h), and t where the
// simulator uses time: uniform on whole numbers, or from any distribution.
//
// For a chain of order m, `states` is a distribution of one state, from which the m last ones are drawn independently,
// or one of mn coordinates that draws them together, latest first.

#include <algorithm>
#include <cmath>
#include <optional>

#include "catena/core/check.h"
#include "catena/simulate/proposal.h"

namespace catena::simulate {

namespace {

constexpr std::string_view function = "fixed proposal";

/// p̃(t): "times" as a count N (0 … N − 1), a pair [low, high] of whole numbers, {"values": […]}, each as likely as the
/// others, or a family of prior.h, {"family": "uniform", "low": 0, "high": 1}.
class TimeProposal {
 public:
  explicit TimeProposal(const nlohmann::json& json) : json_(json) {
    const auto whole = [](const nlohmann::json& value) { return value.is_number_integer(); };
    if (whole(json) && json.get<std::int64_t>() >= 1) {
      count_ = json.get<std::size_t>();
    } else if (json.is_array() && json.size() == 2 && whole(json[0]) && whole(json[1]) &&
               json[0].get<std::int64_t>() <= json[1].get<std::int64_t>()) {
      low_ = json[0].get<double>();
      count_ = static_cast<std::size_t>(json[1].get<std::int64_t>() - json[0].get<std::int64_t>()) + 1;
    } else if (json.is_object() && json.contains("values") && json["values"].is_array() && !json["values"].empty()) {
      for (const nlohmann::json& value : json["values"]) {
        check::that(value.is_number() && std::isfinite(value.get<double>()), function, "a value of times", value.dump(),
                    "a finite number");
        values_.push_back(value.get<double>());
      }
    } else if (json.is_object() && json.contains("family") && json["family"].is_string()) {
      nlohmann::json settings = json;
      settings.erase("family");
      family_ = prior::prior_families().at(function, json["family"].get<std::string>()).from_json(settings);
      check::equal(function, "the dimension of times", family_->size(), std::size_t{1});
    } else {
      check::fail(function, "times", json.dump(),
                  "a whole number of times, [LOW, HIGH], {\"values\": …} or {\"family\": …}");
    }
  }

  double operator()(Stream& stream) const {
    if (!values_.empty()) return values_[stream.integer(values_.size())];
    if (family_) {
      const double z = stream.normal();
      double t = 0;
      family_->to_theta({&z, 1}, {&t, 1});
      return t;
    }
    return low_ + static_cast<double>(stream.integer(count_));
  }
  const nlohmann::json& to_json() const { return json_; }

 private:
  nlohmann::json json_;
  double low_ = 0;
  std::size_t count_ = 1;
  std::vector<double> values_;
  prior::FactorPtr family_;
};

class Fixed final : public Proposal {
 public:
  Fixed(prior::Prior states, TimeProposal times) : states_(std::move(states)), times_(std::move(times)) {}
  void draw(Stream& stream, StateBlock state, double* time) const override {
    for (std::size_t begin = 0; begin < state.features; begin += states_.size()) {
      states_.sample_theta(stream, state.slice_features(begin, begin + states_.size()));
    }
    if (time == nullptr) return;
    for (std::size_t l = 0; l < state.lanes; ++l) time[l] = times_(stream);
  }
  nlohmann::json to_json() const override {
    return {{"proposal", "fixed"}, {"states", states_.to_json()}, {"times", times_.to_json()}};
  }

 private:
  prior::Prior states_;
  TimeProposal times_;
};

ProposalPtr make_fixed_proposal(const nlohmann::json& settings, const ProposalContext& context) {
  const Simulator& simulator = context.model.simulator;
  nlohmann::json all = settings;
  if (const auto sd = all.find("state_sd"); sd != all.end()) {
    check::that(sd->is_number() && sd->get<double>() > 0, function, "state_sd", sd->dump(), "positive");
    check::that(!all.contains("states"), function, "state_sd", sd->dump(), "left out where states are given");
    prior::Prior states;
    for (const std::string& name : simulator.state_names) states.add({name}, prior::normal(0, sd->get<double>()));
    all["states"] = states.to_json();
    all.erase("state_sd");
  }
  if (all.contains("at_times")) {
    all["times"] = all["at_times"];
    all.erase("at_times");
  }
  if (!context.model.fixed_proposal.is_null()) {
    nlohmann::json own = context.model.fixed_proposal;  // the model's own, where nothing else was asked for
    own.erase("proposal");
    own.update(all);
    all = std::move(own);
  }
  check::that(all.contains("states"), function, "states", "missing",
              "given: this model has no fixed proposal of its own");
  for (const auto& [name, value] : all.items()) {
    check::that(name == "states" || name == "times", function, "setting", fmt::format("\"{}\"", name),
                "one of states, times, state_sd, at_times");
  }
  prior::Prior states = prior::Prior::from_json(function, all["states"]);
  check::that(states.size() == simulator.states() || states.size() == simulator.window(), function,
              "the number of states", states.size(),
              simulator.order == 1 ? fmt::format("{}", simulator.states())
                                   : fmt::format("{}, or {} for {} states together", simulator.states(),
                                                 simulator.window(), simulator.order));
  return std::make_shared<Fixed>(std::move(states), TimeProposal(all.value("times", nlohmann::json(1))));
}

}  // namespace

ProposalEntry fixed_proposal() {
  return {"fixed",
          "a distribution per coordinate, as the model or {\"states\": a prior} gives it",
          {{"state_sd", "the fixed proposal is N(0, state_sd^2) in every coordinate", "", "positive"},
           {"at_times", "t of the fixed proposal: a count, [LOW,HIGH] or JSON (docs/extensions/time.md)", "", "times"}},
          make_fixed_proposal};
}

}  // namespace catena::simulate
