#include "catena/train/checkpoint.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "catena/core/errors.h"
#include "catena/core/outcome.h"
#include "catena/files/safetensors.h"

namespace catena::train {
namespace {

/// The arrays of a state with their names, for writing and reading alike.
template <class State>
auto weight_arrays(State& state) {
  return std::array{std::pair{"weights", &state.optimizer.weights}, std::pair{"mean", &state.optimizer.mean},
                    std::pair{"square", &state.optimizer.square}, std::pair{"averaged", &state.optimizer.averaged},
                    std::pair{"best", &state.result.weights}};
}
template <class State>
auto curve_columns(State& state) {
  auto& curve = state.result.curve;
  return std::array{std::pair{"curve.step", &curve.step}, std::pair{"curve.train_loss", &curve.train_loss},
                    std::pair{"curve.held_out_loss", &curve.held_out_loss}, std::pair{"curve.seconds", &curve.seconds}};
}

/// By name; checkpoints of catena 0.1.0 have the place in the enumeration, whose order has not changed.
Outcome outcome_of(const nlohmann::json& metadata, const std::string& source) {
  const nlohmann::json stored = metadata.value("outcome", nlohmann::json());
  std::optional<Outcome> outcome;
  if (stored.is_string()) outcome = outcome_named(stored.get<std::string>());
  if (stored.is_number_integer() && stored >= 0 && stored <= static_cast<int>(Outcome::invalid_share)) {
    outcome = static_cast<Outcome>(stored.get<int>());
  }
  if (!outcome) {
    throw FileError(fmt::format("{}: its outcome is {}, which is none that this catena knows", source, stored.dump()));
  }
  return *outcome;
}

}  // namespace

void write_checkpoint(const std::filesystem::path& path, const LoopState& state, const nlohmann::json& identity) {
  files::TensorFile file;
  const LoopResult& result = state.result;
  const double best = std::isfinite(result.best_loss) ? result.best_loss : 0;  // JSON has no infinity; no best weights
  file.metadata = {{"kind", "checkpoint"},
                   {"identity", identity},
                   {"step", state.optimizer.step},
                   {"steps", result.steps},
                   {"best_step", result.best_step},
                   {"best_loss", best},
                   {"skipped_steps", result.skipped_steps},
                   {"running_loss", std::isfinite(state.running_loss) ? state.running_loss : 0},
                   {"running_steps", state.running_steps},
                   {"outcome", name(result.outcome)},
                   {"finished", state.finished}};
  for (const auto& [name, values] : weight_arrays(state)) {
    file.tensors.push_back({name, {values->size()}, std::vector<float>(values->begin(), values->end())});
  }
  for (const auto& [name, values] : curve_columns(state)) file.tensors.push_back({name, {values->size()}, *values});
  files::write_safetensors(path, file);
}

LoopState read_checkpoint(const std::filesystem::path& path, const nlohmann::json& identity, std::size_t weights) {
  const files::TensorFile file = files::read_safetensors(path);
  const auto number = [&]<class T>(const char* name, T) {
    const auto found = file.metadata.find(name);
    if (found == file.metadata.end() || !(found->is_number() || found->is_boolean())) {
      throw FileError(fmt::format("{}: has no number \"{}\": is it a checkpoint?", path.string(), name));
    }
    return found->template get<T>();
  };
  if (!file.metadata.contains("identity")) {
    throw FileError(fmt::format("{}: is no checkpoint of a training run", path.string()));
  }
  if (file.metadata.at("identity") != identity) {
    throw InputError(
        fmt::format("train: {} was begun with other data or settings; remove it or do not resume", path.string()));
  }
  LoopState state;
  state.optimizer.step = number("step", std::int64_t{});
  state.result.steps = number("steps", std::int64_t{});
  state.result.best_step = number("best_step", std::int64_t{});
  state.result.best_loss = number("best_loss", double{});
  state.result.skipped_steps = number("skipped_steps", std::int64_t{});
  state.running_loss = number("running_loss", double{});
  state.running_steps = number("running_steps", std::int64_t{});
  state.result.outcome = outcome_of(file.metadata, path.string());
  state.finished = number("finished", bool{});
  for (const auto& [name, values] : weight_arrays(state)) {
    const auto* stored = std::get_if<std::vector<float>>(&file.at(name).values);
    const bool none_yet = stored != nullptr && stored->empty() && std::string_view(name) == "best";
    if (stored == nullptr || (stored->size() != weights && !none_yet)) {
      throw FileError(fmt::format("{}: \"{}\" is not of {} floats", path.string(), name, weights));
    }
    values->assign(stored->begin(), stored->end());
  }
  for (const auto& [name, values] : curve_columns(state)) {
    const auto* stored = std::get_if<std::vector<double>>(&file.at(name).values);
    if (stored == nullptr) throw FileError(fmt::format("{}: \"{}\" is not of doubles", path.string(), name));
    *values = *stored;
  }
  return state;
}

}  // namespace catena::train
