#include "python_model.h"

#include <algorithm>

namespace catena::python {
namespace {

/// Rows of a lane block as an array of their own: the caller may keep it.
Array rows_of(ConstStateBlock lanes) {
  Matrix rows(lanes.lanes, lanes.features);
  for (std::size_t l = 0; l < lanes.lanes; ++l) {
    for (std::size_t i = 0; i < lanes.features; ++i) rows(l, i) = lanes(i, l);
  }
  return to_numpy(std::move(rows));
}

void copy_to(const Rows& rows, StateBlock lanes) {
  CATENA_ASSERT(rows.shape(0) == lanes.lanes && rows.shape(1) == lanes.features);
  const ConstMatrixView from = view(rows);
  for (std::size_t l = 0; l < lanes.lanes; ++l) {
    for (std::size_t i = 0; i < lanes.features; ++i) lanes(i, l) = from(l, i);
  }
}

/// Calls into Python, one batch at a time; Ctrl-C is seen before each.
class PythonStep {
 public:
  explicit PythonStep(nb::handle callable) : callable_(callable) {}
  void step(const simulate::StepInput& input, Stream& stream, StateBlock next) const {
    const std::uint64_t seed = stream.bits();
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    const auto per_lane = [&](const double* values) -> nb::object {
      if (values == nullptr) return nb::none();
      return nb::cast(to_numpy(std::vector<double>(values, values + next.lanes)));
    };
    const nb::object covariates = input.covariates.features > 0 ? nb::cast(rows_of(input.covariates)) : nb::none();
    const nb::object result = callable_(rows_of(input.theta), rows_of(input.state), per_lane(input.time),
                                        per_lane(input.step), covariates, seed);
    copy_to(nb::cast<Rows>(result), next);
  }

 private:
  nb::handle callable_;  // borrowed: the model may be copied and destroyed without the GIL
};

class PythonProposal final : public simulate::Proposal {
 public:
  PythonProposal(nb::handle draw, nlohmann::json record) : draw_(draw), record_(std::move(record)) {}
  void draw(Stream& stream, StateBlock state, double* time) const override {
    const std::uint64_t seed = stream.bits();
    const nb::gil_scoped_acquire gil;
    const nb::object result = draw_(state.lanes, seed);
    if (time == nullptr) {
      copy_to(nb::cast<Rows>(result), state);
      return;
    }
    copy_to(nb::cast<Rows>(result[0]), state);
    const auto times = nb::cast<Numbers>(result[1]);
    CATENA_ASSERT(times.shape(0) == state.lanes);
    std::copy_n(times.data(), state.lanes, time);
  }
  nlohmann::json to_json() const override { return record_; }

 private:
  nb::handle draw_;
  nlohmann::json record_;
};

}  // namespace

simulate::Model python_model(const std::string& name, const prior::Prior& prior, std::vector<std::string> state_names,
                             nb::handle step, nb::handle initial_state, const nlohmann::json& declared) {
  simulate::Model model;
  model.prior = prior;
  model.simulator = simulate::make_simulator(name, prior.names(), std::move(state_names), PythonStep(step),
                                             declared.at("uses_time").get<bool>());
  model.simulator.uses_step = declared.at("uses_step").get<bool>();
  model.simulator.order = declared.at("order").get<std::size_t>();
  model.state_shape = declared.value("state_shape", std::string());
  model.single_precision = !model.state_shape.empty();  // fields on a grid are large, and no finer than a float
  model.simulator.covariate_names = declared.at("covariates").get<std::vector<std::string>>();
  if (initial_state.is_none()) {
    simulate::complete_parameters(model);
    return model;
  }
  if (declared.at("initial_depends_on_theta").get<bool>()) {
    model.initial_given_theta = [initial_state](ConstStateBlock theta, Stream& stream, StateBlock window) {
      const std::uint64_t seed = stream.bits();
      const nb::gil_scoped_acquire gil;
      copy_to(nb::cast<Rows>(nb::object(initial_state(rows_of(theta), seed))), window);
    };
  } else {
    model.initial_state = [initial_state](Stream& stream, std::span<double> state) {
      const std::uint64_t seed = stream.bits();
      const nb::gil_scoped_acquire gil;
      const auto rows = nb::cast<Rows>(nb::object(initial_state(1, seed)));
      CATENA_ASSERT(rows.size() == state.size());
      std::copy_n(rows.data(), state.size(), state.begin());
    };
  }
  simulate::complete_parameters(model);
  return model;
}

simulate::ProposalPtr python_proposal(nb::handle draw, nlohmann::json record) {
  return std::make_shared<PythonProposal>(draw, std::move(record));
}

}  // namespace catena::python
