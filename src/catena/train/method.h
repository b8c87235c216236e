/// The methods by name: one file and one line of the registry for each. A method turns training data into a model; what
/// samples from it later reads the same settings out of the model file.
#pragma once

#include <string_view>
#include <vector>

#include "catena/core/config.h"
#include "catena/core/registry.h"
#include "catena/model/trained_model.h"
#include "catena/train/loop.h"

namespace catena::train {

/// The setting `decay` of the methods that search it (decay_search.h), listed once.
template <class Decay, class Visit>
void list_decay(Decay& decay, Visit&& visit) {
  visit(decay, "decay",
        "weight decay at 10,000 transitions, less for more; takes weight_decay's place (0: found by the held-out loss)",
        not_negative());
}

/// The setting `shortened` of the methods that learn from whole series, listed once.
template <class Share, class Visit>
void list_shortened(Share& share, Visit&& visit) {
  visit(share, "shortened", "copies of series that are cut at each shorter length, as a share of the series",
        between(0.0, 1.0));
}

struct MethodContext {
  TrainingData& data;
  LoopSettings loop;        // steps may be 0: the method's own choice for so many transitions
  nlohmann::json settings;  // of the method; what is not named keeps its default
  Streams streams;
  Parallel parallel;
  Progress& progress;
  CheckpointPlan checkpoint;  // every network gets a file of its own: PATH.NETWORK.checkpoint
  std::string preset = {};    // what loop and settings come from (recipe.h), for the record
};

struct Method {
  std::string_view name;
  std::string_view help;
  std::vector<FieldInfo> settings;
  model::TrainedModel (*train)(const MethodContext& context);
  /// What it learns does not depend on how θ was drawn, as a likelihood does not: sets of several rounds go together.
  bool any_prior = false;
  /// Its setting `decay` stands for the loop's weight_decay in every network.
  bool own_decay = false;
  /// It learns from whole series (simulate/whole_series/series_set.h) and not from single transitions.
  bool whole_series = false;
  /// It may see states through an embedding (frames/embed.h).
  bool sees_frames = false;
};

const Registry<Method>& methods();
/// The one to start with (docs/guide/choosing-a-method.md).
inline constexpr const char* default_method = "fnle";

/// Trains the named method, once it is known with which periods time is seen (choose_season.h); `checkpoint.path` is
/// the model's own path, beside which checkpoints are kept.
model::TrainedModel train(std::string_view method, const MethodContext& context);

/// Once the model is written, its networks' checkpoints are of no more use.
void remove_checkpoints(const MethodContext& context);

/// For the methods' files: the model with everything but its networks.
model::TrainedModel empty_model(std::string_view method, const MethodContext& context, const nlohmann::json& settings);
/// The same for methods of whole series, with a share of shortened copies added to the data.
model::TrainedModel series_model(std::string_view method, const MethodContext& context, double shortened,
                                 const nlohmann::json& settings);
/// One network to train: its name in the model, what it minimises, how, and which transitions are held out.
struct NetworkJob {
  std::string name;
  const Objective& objective;
  LoopSettings loop;
  std::size_t fold = 0;
};
/// Trains networks that do not depend on each other, with a checkpoint each, and adds them to the model. Several run at
/// the same time, each with its share of the threads: they have nothing to wait for.
void train_networks(model::TrainedModel& model, const std::vector<NetworkJob>& jobs, const MethodContext& context);
/// Trains the model's network "whitening" and whitens the data with it.
void train_whitening(model::TrainedModel& model, const MethodContext& context, const LoopSettings& loop);

}  // namespace catena::train
