// States of streams as files.
#include "catena/compose/series_state.h"

#include <fmt/format.h>

#include <cmath>

#include "catena/compose/density/series_likelihood.h"
#include "catena/compose/density/series_ratio.h"
#include "catena/compose/scores/network_scores.h"
#include "catena/core/check.h"
#include "catena/files/safetensors.h"

namespace catena::compose {
namespace {

/// What tells one model from another: settings, seed, and what its training came to.
nlohmann::json identity(const model::TrainedModel& model) {
  nlohmann::json id = {{"settings", model.settings}, {"seed", model.seed}};
  for (const auto& [name, network] : model.networks) {
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

template <class M, SeriesSums (*sums)(const M&, const ObservedSeries&)>
SummedMethod summed_method(std::string_view method) {
  return {method,
          [](const model::TrainedModel& model, const ObservedSeries& series) { return sums(M(model), series); }};
}

}  // namespace

const Registry<SummedMethod>& summed_methods() {
  static const Registry<SummedMethod> registry(
      "method that can follow a stream",
      {summed_method<model::DensityModel, likelihood_sums>("fnle"),
       summed_method<model::RatioModel, ratio_sums>("fnre"), summed_method<model::ScoreModel, score_sums>("fnse")});
  return registry;
}

bool has_sums(const model::TrainedModel& model) {
  try {
    const SeriesState state(model);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

SeriesState::SeriesState(const model::TrainedModel& model)
    : sums(summed_methods().at("sample", model.method).sums(model, {})) {}

void SeriesState::add(const model::TrainedModel& model, const ObservedSeries& observed) {
  for (const auto& [name, more] : summed_methods().at("sample", model.method).sums(model, observed)) {
    Matrix& sum = sums.at(name);
    for (std::size_t i = 0; i < sum.values().size(); ++i) sum.values()[i] += more.values()[i];
  }
  transitions += observed.transitions();
  outside += observed.outside;
}

void write_state(const std::filesystem::path& path, const model::TrainedModel& model, const SeriesState& state) {
  files::TensorFile file;
  file.metadata = {{"kind", "state"},          {"model", identity(model)},       {"transitions", state.transitions},
                   {"outside", state.outside}, {"last_state", state.last_state}, {"last_time", state.last_time}};
  if (!state.last_covariates.empty()) file.metadata["last_covariates"] = state.last_covariates;
  for (const auto& [name, sum] : state.sums) file.tensors.push_back(tensor_of(name, sum));
  files::write_safetensors(path, file);
}

SeriesState read_state(const std::filesystem::path& path, const model::TrainedModel& model) {
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
    state.last_covariates = file.metadata.value("last_covariates", std::vector<double>());
  } catch (const nlohmann::json::exception&) {
    throw FileError(fmt::format("{}: its metadata are not those of a state", source));
  }
  if (state.last_state.size() != model.states()) {
    throw FileError(fmt::format("{}: its last state has {} values", source, state.last_state.size()));
  }
  if (state.last_covariates.size() != model.features.shape().covariates) {
    throw FileError(fmt::format("{}: its last row has {} covariates", source, state.last_covariates.size()));
  }
  for (auto& [name, sum] : state.sums) read_into(file, name, source, sum);
  return state;
}

}  // namespace catena::compose
