/// The score of the posterior of a whole series at every level of noise (the method nse; docs/theory/npe.md, eq. 5):
/// the paper's residual network (score/conditional_network.h), with an embedding of the series in the place of a
/// transition,
///
///   s(z_a, a, x^{0:T}) = (m y − z_a)/v ≈ ∇ log p(z_a | x^{0:T}),   y = y(c_in z_a, σ, s(c_1, …, c_T)),
///
/// inside the preconditioning of score/network.h. Its one network, "score", has the weights of both.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "catena/core/config.h"
#include "catena/diffusion/schedule.h"
#include "catena/model/embedding/embedding.h"
#include "catena/model/score/network.h"
#include "catena/model/trained_model.h"

namespace catena::model {

struct SeriesScoreSettings {
  SeriesScoreSettings() = default;  // not an aggregate: GCC 12 warns of uninitialised texts in nested aggregates

  EmbeddingSettings embedding;
  int width = 50;
  int layers = 3;
  std::string schedule = "variance_preserving";

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.embedding.embedding, "embedding", "what the score knows of a series", one_of(embeddings().names()));
    EmbeddingSettings::fields(c.embedding, visit);
    visit(c.width, "width", "units of each hidden layer of the score", at_least(4));
    visit(c.layers, "layers", "hidden layers of the score", at_least(1));
    visit(c.schedule, "schedule", "the noise schedule", one_of(diffusion::schedules().names()));
  }
};

/// The whole network, for training: series of up to `longest` transitions, one a lane. `score.condition` is no input
/// but what the embedding makes of them.
struct SeriesScoreGraph {
  ScoreGraph score;
  nn::Value series, mask;
};
SeriesScoreGraph record_series_score(const SeriesScoreSettings& settings, std::size_t parameters, std::size_t features,
                                     std::size_t longest);

/// The score alone, with the summaries of one series as an input that all lanes share, as they share the level.
ScoreGraph record_score_of_summaries(const SeriesScoreSettings& settings, std::size_t parameters);

/// Ready for use: its settings read back from the file.
struct SeriesScoreModel {
  /// Throws InputError if the model is of another method. `model` must outlive this.
  explicit SeriesScoreModel(const TrainedModel& model);

  const TrainedModel* model;
  SeriesScoreSettings settings;
  diffusion::Schedule schedule;
  std::size_t longest;  // transitions of a series that it was trained on

  const EmbeddingKind& embedding() const { return embeddings().at(model->source, settings.embedding.embedding); }
  const NamedWeights& weights() const { return model->network("score").weights; }
  /// s(c_1, …, c_T), one transition a row of c.
  std::vector<float> summaries(ConstMatrixView c) const;
};

}  // namespace catena::model
