/// A trained model: the networks' weights by name and everything that is needed to use them, as one safetensors file.
/// What the networks are is the
/// business of DensityModel, RatioModel, ScoreModel and BlurredModel; this file only keeps them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catena/core/outcome.h"
#include "catena/model/features.h"
#include "catena/model/frames/frame_embedding.h"
#include "catena/model/weights.h"
#include "catena/prior/around.h"
#include "catena/prior/prior.h"

namespace catena::model {

/// Lists of one length, or empty where there is none. NaN = not measured at that step.
struct LearningCurve {
  std::vector<double> step, train_loss, held_out_loss, seconds;
};
nlohmann::json to_json(const LearningCurve& curve);
/// Lists that are missing or no lists are empty; what is no number in one is NaN.
LearningCurve curve_from(const nlohmann::json& json);

struct TrainedNetwork {
  NamedWeights weights;
  LearningCurve curve;
  Outcome outcome = Outcome::ok;
  std::int64_t steps = 0, best_step = 0;
  double held_out_loss = 0;
};

std::size_t weight_count(const TrainedNetwork& network);

struct TrainedModel {
  std::string method;
  std::string preset;       // whose recipe it is (preset.h); empty: none
  nlohmann::json settings;  // of the method, all of them
  nlohmann::json training;  // of the loop, all of them
  std::uint64_t seed = 0;
  prior::Prior prior;  // whose z-space the networks see; answers are given under true_prior()
  std::vector<std::string> state_names;
  std::vector<std::string> covariate_names = {};  // of the known inputs of each step; none: it knows of none
  Features features;
  nlohmann::json provenance;                        // of the transitions
  nlohmann::json notes = nlohmann::json::object();  // what the method found out on the way
  std::map<std::string, TrainedNetwork> networks;   // "score", "gaussian", …
  /// What stands between states and the features of its networks; none: features are those of states.
  std::shared_ptr<const FrameEmbedding> embedding = nullptr;
  std::string main_network;          // whose learning curve a report shows
  std::string source = "the model";  // its file, for sentences

  /// Numbers of a state, as series have them, and the records of such states.
  std::size_t states() const { return embedding ? embedding->states() : features.states(); }
  simulate::RecordShape record_shape() const;
  /// The names of what its networks see of a state.
  std::vector<std::string> seen_names() const { return embedding ? embedding_names(embedding->size()) : state_names; }
  const TrainedNetwork& network(const std::string& name) const;
  /// The prior that answers are given under: not `prior` if the model was trained around a posterior.
  prior::TruePrior true_prior() const { return prior::TruePrior(prior); }
  /// Itself. Throws InputError if it is of another method.
  const TrainedModel& of_method(std::string_view name) const;
  /// What its networks see of transitions whose standardised features are the rows of c: c, or c whitened.
  void whiten(std::span<float> c) const;
};

void write_model(const std::filesystem::path& path, const TrainedModel& model);
TrainedModel read_model(const std::filesystem::path& path);

/// The same without a file: what Python pickles.
std::string model_bytes(const TrainedModel& model);
TrainedModel parse_model(std::string_view bytes, const std::string& source);

}  // namespace catena::model
