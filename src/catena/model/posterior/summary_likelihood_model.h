/// A likelihood of the summaries of whole series (the method nle_summary; docs/theory/npe.md, eq. 9): a masked
/// autoregressive flow of what an embedding, trained before it, makes of a series,
///
///   q(s | z) = flow(s; z),   s = s(c_1, …, c_T) standardised.
///
/// Its networks are "summaries" (embedding/summaries.h) and "likelihood".
#pragma once

#include <algorithm>
#include <cstddef>

#include "catena/core/config.h"
#include "catena/model/embedding/embedding.h"
#include "catena/model/posterior/posterior_model.h"
#include "catena/model/trained_model.h"

namespace catena::model {

struct SummaryLikelihoodSettings {
  SummaryLikelihoodSettings() {
    embedding.summaries = 0;
    embedding.units = 50;
  }

  EmbeddingSettings embedding;
  int flow_layers = 5;
  int flow_width = 50;

  FlowSettings flow() const { return {.layers = flow_layers, .width = flow_width}; }
  /// A density of many numbers is hard to learn: no more than a few for each parameter (gloeckler2025).
  void choose_summaries(std::size_t parameters) {
    if (embedding.summaries == 0) embedding.summaries = std::max(2 * static_cast<int>(parameters), 5);
  }

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.embedding.embedding, "embedding", "what makes the summaries of a series", one_of(embeddings().names()));
    visit(c.embedding.summaries, "summaries", "how many summaries (0: two for each parameter, five at least)",
          at_least(0));
    EmbeddingSettings::list_networks(c.embedding, visit);
    visit(c.flow_layers, "flow_layers", "transformations of the flow of summaries", at_least(1));
    visit(c.flow_width, "flow_width", "units of the two masked layers of each transformation", at_least(4));
  }
};

/// −log q(s | z), with the summaries as lanes have them.
SummarisedGraph record_summary_likelihood(const SummaryLikelihoodSettings& settings, std::size_t parameters,
                                          nn::Lanes lanes = nn::Lanes::one());

/// Ready for use: its settings read back from the file.
struct SummaryLikelihoodModel {
  /// Throws InputError if the model is of another method. `model` must outlive this.
  explicit SummaryLikelihoodModel(const TrainedModel& model);

  const TrainedModel* model;
  SummaryLikelihoodSettings settings;
  std::size_t longest;  // transitions of a series that it was trained on

  const EmbeddingKind& embedding() const { return embeddings().at(model->source, settings.embedding.embedding); }
  const NamedWeights& weights() const { return model->network("likelihood").weights; }
  std::vector<float> summaries(ConstMatrixView c) const;
};

}  // namespace catena::model
