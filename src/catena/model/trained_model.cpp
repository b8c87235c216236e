#include "catena/model/trained_model.h"

#include <fmt/format.h>

#include <cmath>

#include "catena/core/errors.h"
#include "catena/core/version.h"
#include "catena/files/safetensors.h"
#include "catena/model/score/network.h"
#include "catena/model/whitening.h"

namespace catena::model {
namespace {

/// Files of models that see states by their logarithms are of version 2, those that see covariates of version 3, those
/// with heavy tails of version 4, scores that say how they are scaled of version 5, and those that embed states of
/// version 6, so that a program which does not know of that refuses them. All others stay as they were.
constexpr int first_version = 1, logarithms_version = 2, covariates_version = 3, tails_version = 4,
              scaled_scores_version = 5, frames_version = 6, newest_version = frames_version;

int version_of(const TrainedModel& model) {
  const Features& features = model.features;
  if (model.embedding) return frames_version;
  if (model.settings.is_object() && model.settings.contains("prior_share")) return scaled_scores_version;
  if (features.tails()) return tails_version;
  if (features.shape().covariates > 0) return covariates_version;
  return features.logarithmic().empty() ? first_version : logarithms_version;
}

/// JSON has no NaN: a loss that was not finite is null.
nlohmann::json numbers(const std::vector<double>& values) {
  nlohmann::json list = nlohmann::json::array();
  for (const double value : values) list.push_back(std::isfinite(value) ? nlohmann::json(value) : nlohmann::json());
  return list;
}

std::vector<double> numbers_from(const nlohmann::json& list) {
  std::vector<double> values;
  if (list.is_array()) {
    for (const auto& value : list) values.push_back(value.is_number() ? value.get<double>() : std::nan(""));
  }
  return values;
}

}  // namespace

nlohmann::json to_json(const LearningCurve& curve) {
  return {{"step", numbers(curve.step)},
          {"train_loss", numbers(curve.train_loss)},
          {"held_out_loss", numbers(curve.held_out_loss)},
          {"seconds", numbers(curve.seconds)}};
}

LearningCurve curve_from(const nlohmann::json& json) {
  const auto column = [&](const char* name) { return numbers_from(json.value(name, nlohmann::json::array())); };
  return {column("step"), column("train_loss"), column("held_out_loss"), column("seconds")};
}

std::size_t weight_count(const TrainedNetwork& network) {
  std::size_t count = 0;
  for (const files::Tensor& tensor : network.weights) {
    count += std::visit([](const auto& values) { return values.size(); }, tensor.values);
  }
  return count;
}

const TrainedNetwork& TrainedModel::network(const std::string& name) const {
  const auto found = networks.find(name);
  if (found == networks.end()) throw FileError(fmt::format("{}: has no network \"{}\"", source, name));
  return found->second;
}

const TrainedModel& TrainedModel::of_method(std::string_view name) const {
  if (method != name) {
    throw InputError(fmt::format("sample: the method of {} is {}, but must be {}", source, method, name));
  }
  return *this;
}

simulate::RecordShape TrainedModel::record_shape() const {
  simulate::RecordShape shape = features.shape();
  shape.states = states();
  return shape;
}

void TrainedModel::whiten(std::span<float> c) const {
  if (!networks.contains("whitening")) return;
  Whitening(network("whitening").weights, source, features).apply(c);
}

namespace {

files::TensorFile file_of(const TrainedModel& model) {
  files::TensorFile file;
  file.metadata = {{"kind", "model"},
                   {"model_version", version_of(model)},
                   {"catena_version", version()},
                   {"method", model.method},
                   {"settings", model.settings},
                   {"training", model.training},
                   {"seed", model.seed},
                   {"prior", model.prior.to_json()},
                   {"state_names", model.state_names},
                   {"features", model.features.to_json()},
                   {"transitions", model.provenance},
                   {"notes", model.notes},
                   {"main_network", model.main_network},
                   {"networks", nlohmann::json::object()}};
  if (!model.preset.empty()) file.metadata["preset"] = model.preset;
  if (model.embedding) file.metadata["frames"] = model.embedding->scale().to_json();
  if (!model.covariate_names.empty()) file.metadata["covariate_names"] = model.covariate_names;
  for (const auto& [name, network] : model.networks) {
    file.metadata["networks"][name] = {
        {"outcome", catena::name(network.outcome)},
        {"steps", network.steps},
        {"best_step", network.best_step},
        {"held_out_loss",
         std::isfinite(network.held_out_loss) ? nlohmann::json(network.held_out_loss) : nlohmann::json()},
        {"learning_curve", to_json(network.curve)}};
    for (files::Tensor tensor : network.weights) {
      tensor.name = name + "/" + tensor.name;
      file.tensors.push_back(std::move(tensor));
    }
  }
  return file;
}

/// Files of 0.1.0: a blurred likelihood was a network of fnse then, whose settings had names of their own, and point
/// masses were called atoms; scores had the paper's preconditioning.
void bring_up_to_date(TrainedModel& model) {
  nlohmann::json& settings = model.settings;
  if (!settings.is_object()) return;
  const auto rename = [&](const char* old, const char* now) {
    if (!settings.contains(old)) return;
    settings[now] = settings[old];
    settings.erase(old);
  };
  if (model.method == "fnse" && settings.value("network", nlohmann::json()) == "likelihood") {
    model.method = "fnbe";
    for (const char* of_scores : {"network", "width", "layers", "terms", "ensemble", "whiten", "centre"}) {
      settings.erase(of_scores);
    }
    rename("density_width", "width");
    rename("density_z_width", "z_width");
    rename("density_layers", "layers");
    rename("density_terms", "terms");
  }
  if (model.method != "fnre") rename("atoms", "point_masses");
  if (model.method == "fnse" && !settings.contains("prior_share")) settings["prior_share"] = papers_prior_share;
}

TrainedModel model_of(files::TensorFile file, const std::string& source) {
  const nlohmann::json& metadata = file.metadata;
  if (metadata.value("kind", nlohmann::json()) != "model") {
    throw FileError(fmt::format("{}: is no trained model of catena", source));
  }
  const nlohmann::json number = metadata.value("model_version", nlohmann::json());
  if (!number.is_number_integer() || number < first_version || number > newest_version) {
    throw FileError(fmt::format("{}: is of another model version than {} to {}, which this catena reads", source,
                                first_version, newest_version));
  }
  TrainedModel model;
  model.source = source;
  try {
    model.method = metadata.at("method").get<std::string>();
    model.preset = metadata.value("preset", "");
    model.settings = metadata.at("settings");
    model.training = metadata.at("training");
    if (!metadata.at("seed").is_number_integer()) {
      throw FileError(fmt::format("{}: its seed is no whole number", source));
    }
    model.seed = metadata.at("seed").get<std::uint64_t>();
    model.prior = prior::Prior::from_json(source, metadata.at("prior"));
    model.state_names = metadata.at("state_names").get<std::vector<std::string>>();
    model.covariate_names = metadata.value("covariate_names", std::vector<std::string>());
    model.provenance = metadata.at("transitions");
    model.notes = metadata.at("notes");
    model.main_network = metadata.at("main_network").get<std::string>();
    for (const auto& [name, json] : metadata.at("networks").items()) {
      TrainedNetwork& network = model.networks[name];
      network.steps = json.at("steps").get<std::int64_t>();
      network.best_step = json.at("best_step").get<std::int64_t>();
      network.held_out_loss =
          json.at("held_out_loss").is_number() ? json.at("held_out_loss").get<double>() : std::nan("");
      const auto outcome = outcome_named(json.at("outcome").get<std::string>());
      if (!outcome) {
        throw FileError(
            fmt::format("{}: the outcome of the network \"{}\" is no outcome that this catena knows", source, name));
      }
      network.outcome = *outcome;
      network.curve = curve_from(json.at("learning_curve"));
    }
  } catch (const nlohmann::json::exception&) {
    throw FileError(fmt::format("{}: its metadata are not those of a trained model", source));
  }
  bring_up_to_date(model);
  model.features = Features::from_json(source, metadata.value("features", nlohmann::json()));
  if (model.features.shape().covariates != model.covariate_names.size()) {
    throw FileError(fmt::format("{}: has {} names for {} covariates", source, model.covariate_names.size(),
                                model.features.shape().covariates));
  }
  for (files::Tensor& tensor : file.tensors) {
    const std::size_t slash = tensor.name.find('/');
    const auto network = model.networks.find(tensor.name.substr(0, slash));
    if (slash == std::string::npos || network == model.networks.end()) {
      throw FileError(fmt::format("{}: the array \"{}\" belongs to no network", source, tensor.name));
    }
    tensor.name = tensor.name.substr(slash + 1);
    network->second.weights.push_back(std::move(tensor));
  }
  if (number == frames_version) {
    model.embedding = std::make_shared<const FrameEmbedding>(
        from_json_part<FrameNetworkSettings>(source, model.settings),
        FrameScale::from_json(source, metadata.value("frames", nlohmann::json())),
        model.network(frames_network).weights, source);
  }
  if (model.states() != model.state_names.size() ||
      (model.embedding && model.features.states() != model.embedding->size())) {
    throw FileError(fmt::format("{}: has {} names for {} states", source, model.state_names.size(), model.states()));
  }
  return model;
}

}  // namespace

void write_model(const std::filesystem::path& path, const TrainedModel& model) {
  files::write_safetensors(path, file_of(model));
}

TrainedModel read_model(const std::filesystem::path& path) {
  return model_of(files::read_safetensors(path), path.string());
}

std::string model_bytes(const TrainedModel& model) { return files::safetensors_bytes(file_of(model)); }

TrainedModel parse_model(std::string_view bytes, const std::string& source) {
  return model_of(files::parse_safetensors(bytes, source), source);
}

}  // namespace catena::model
