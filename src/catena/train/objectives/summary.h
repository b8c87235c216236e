/// What an embedding is trained on that is to know all that a series says of its parameters (infomax; chen2021): the
/// squared distance correlation of its summaries with z (nn/ops/distance_correlation.cpp; docs/theory/npe.md, eq. 6),
///
///   infomax   max R²(s(x^{0:T}), z)
///   sliced    max R²(g(s(x^{0:T}), φ), φ·z),   φ uniform on the sphere, one for each series, g a network    (chen2023)
///
/// over the series of a batch. z stands for θ: its coordinates have the same units.
#pragma once

#include <string>

#include "catena/core/config.h"
#include "catena/model/embedding/embedding.h"
#include "catena/train/method.h"
#include "catena/train/objective.h"

namespace catena::train {

struct SummarySettings {
  SummarySettings() = default;  // not an aggregate: GCC 12 warns of uninitialised texts in nested aggregates

  std::string summary = "infomax";
  int summary_epochs = 100;
  int summary_batch = 400;
  double summary_rate = 1e-3;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.summary, "summary",
          "what summaries are trained by: infomax (distance correlation with the parameters) or sliced (with random "
          "directions of them)",
          one_of({"infomax", "sliced"}));
    visit(c.summary_epochs, "summary_epochs", "how often their training sees each series", at_least(1));
    visit(c.summary_batch, "summary_batch", "series that are compared with each other", at_least(4));
    visit(c.summary_rate, "summary_rate", "largest step of their training", positive());
  }
};

class SummaryObjective final : public Objective {
 public:
  SummaryObjective(const SummarySettings& settings, const model::EmbeddingSettings& embedding,
                   const TrainingData& data);

  const nn::Graph& graph() const override { return graph_; }
  nn::Value loss() const override { return loss_; }
  /// A batch is one block: all of its series are compared with each other.
  std::size_t block_lanes() const override { return batch_; }
  void fill(nn::Workspace& workspace, const BatchPart& part, Stream stream) const override;

 private:
  nn::Graph graph_;
  nn::Value series_, mask_, target_, direction_, loss_;  // target: z, or φ·z
  std::size_t longest_, batch_;
  bool sliced_;
};

/// Trains the model's network "summaries", keeps the embedding's weights alone and the scale of what it makes of the
/// training series, and returns that for all examples, standardised: one a row.
std::vector<float> train_summaries(model::TrainedModel& model, const SummarySettings& settings,
                                   const model::EmbeddingSettings& embedding, const std::string& effort,
                                   const MethodContext& context);
/// How many steps that takes.
int summary_steps(const SummarySettings& settings, const std::string& effort, const TrainingData& data);

}  // namespace catena::train
