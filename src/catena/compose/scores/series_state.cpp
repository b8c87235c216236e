// States of streams as files.
#include "catena/compose/scores/series_state.h"

#include <fmt/format.h>

#include <cmath>

#include "catena/core/check.h"
#include "catena/files/safetensors.h"

namespace catena::compose {
namespace {

/// What tells one model from another: settings, seed, and what its training came to.
nlohmann::json identity(const model::ScoreModel& model) {
  nlohmann::json id = {{"settings", model.model->settings}, {"seed", model.model->seed}};
  for (const auto& [name, network] : model.model->networks) {
    const double loss = network.held_out_loss;
    id["networks"][name] = {network.best_step, std::isfinite(loss) ? loss : 0};
  }
  return id;
}

files::Tensor tensor_of(std::string name, const Matrix& matrix) {
  return {std::move(name),
          {matrix.rows(), matrix.cols()},
          std::vector<double>(matrix.values().begin(), matrix.values().end())};
}

void read_into(const files::TensorFile& file, const std::string& name, const std::string& source, Matrix& matrix) {
  const files::Tensor& tensor = file.at(name);
  const auto* values = std::get_if<std::vector<double>>(&tensor.values);
  if (values == nullptr || tensor.shape != std::vector<std::size_t>{matrix.rows(), matrix.cols()}) {
    throw FileError(fmt::format("{}: \"{}\" is not {} × {} doubles", source, name, matrix.rows(), matrix.cols()));
  }
  check::all_finite(source, name, *values);
  std::ranges::copy(*values, matrix.values().begin());
}

}  // namespace

void write_state(const std::filesystem::path& path, const model::ScoreModel& model, const SeriesState& state) {
  files::TensorFile file;
  file.metadata = {{"kind", "state"},          {"model", identity(model)},       {"transitions", state.transitions},
                   {"outside", state.outside}, {"last_state", state.last_state}, {"last_time", state.last_time}};
  file.tensors.push_back(tensor_of("precision_sum", state.precision_sum));
  for (std::size_t i = 0; i < state.coefficients.size(); ++i) {
    file.tensors.push_back(tensor_of(fmt::format("coefficients.{}", i), state.coefficients[i]));
  }
  files::write_safetensors(path, file);
}

SeriesState read_state(const std::filesystem::path& path, const model::ScoreModel& model) {
  const files::TensorFile file = files::read_safetensors(path);
  const std::string source = path.string();
  if (file.metadata.value("kind", nlohmann::json()) != "state") {
    throw FileError(fmt::format("{}: is no state of a stream", source));
  }
  if (file.metadata.value("model", nlohmann::json()) != identity(model)) {
    throw InputError(fmt::format("sample: {} is the state of another model; use a new file", source));
  }
  SeriesState state(model);
  try {
    state.transitions = file.metadata.at("transitions").get<std::uint64_t>();
    state.outside = file.metadata.at("outside").get<std::uint64_t>();
    state.last_state = file.metadata.at("last_state").get<std::vector<double>>();
    state.last_time = file.metadata.at("last_time").get<double>();
  } catch (const nlohmann::json::exception&) {
    throw FileError(fmt::format("{}: its metadata are not those of a state", source));
  }
  if (state.last_state.size() != model.model->features.states()) {
    throw FileError(fmt::format("{}: its last state has {} values", source, state.last_state.size()));
  }
  read_into(file, "precision_sum", source, state.precision_sum);
  for (std::size_t i = 0; i < state.coefficients.size(); ++i) {
    read_into(file, fmt::format("coefficients.{}", i), source, state.coefficients[i]);
  }
  return state;
}

}  // namespace catena::compose
