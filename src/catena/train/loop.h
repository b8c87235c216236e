/// The one training loop, for every estimator: batches in a random order that depends on the seed alone, AdamW with a
/// one-cycle rate, a held-out loss now and then, the best averaged weights kept, checkpoints. A run that was killed and
/// resumed ends with the same bits as one that was not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "catena/core/config.h"
#include "catena/core/outcome.h"
#include "catena/core/parallel.h"
#include "catena/core/progress.h"
#include "catena/core/random.h"
#include "catena/model/trained_model.h"
#include "catena/nn/optimizer.h"
#include "catena/train/objective.h"

namespace catena::train {

struct LoopSettings {
  int steps = 0;
  int batch_size = 1000;
  int evaluations = 50;
  double patience = 0.4;
  double time_limit = 0;
  nn::OptimizerConfig optimizer{.learning_rate = 2e-3};

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.steps, "steps", "gradient steps (0: chosen from the number of transitions)", at_least(0));
    visit(c.batch_size, "batch_size", "transitions per gradient step", at_least(1));
    visit(c.evaluations, "evaluations", "how many times the held-out loss is measured", at_least(1));
    visit(c.patience, "patience", "stop after this share of the steps without a better held-out loss",
          between(0.01, 1.0));
    visit(c.time_limit, "time_limit", "stop after so many seconds (0: none)", not_negative());
    nn::OptimizerConfig::fields(c.optimizer, visit);
  }
};

/// Where to keep what is needed to go on after a crash.
struct CheckpointPlan {
  std::filesystem::path path = {};  // empty: none
  double seconds = 60;
  bool resume = false;  // go on from `path` if it is there
  bool keep = false;    // do not remove it at the end (another phase follows)
};

struct LoopResult {
  Outcome outcome = Outcome::ok;  // ok, time_limit or diverged
  AlignedVector<float> weights;   // those with the best held-out loss
  model::LearningCurve curve;
  std::int64_t steps = 0;  // done
  std::int64_t best_step = 0;
  double best_loss = 0;
  std::int64_t skipped_steps = 0;  // gradients that were not finite
};

/// `label` names the phase in the progress bar and the random streams. `identity` is compared with the checkpoint's:
/// a checkpoint of other data or settings is refused. `fold` says which rows are held out.
LoopResult train_loop(const std::string& label, const Objective& objective, const TrainingData& data, std::size_t fold,
                      const LoopSettings& settings, const Streams& streams, const Parallel& parallel,
                      Progress& progress, const CheckpointPlan& checkpoint = {},
                      const nlohmann::json& identity = nlohmann::json::object());

}  // namespace catena::train
