/// What the embedding of a trained model makes of a series. It is a part of the network that uses it (npe, nse), or a
/// network of its own, "summaries", that was trained first and then left as it was (npe_summary, nle_summary); what
/// that one makes is standardised over the training series, s ↦ (s − mean)/scale.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "catena/model/embedding/embedding.h"
#include "catena/model/trained_model.h"

namespace catena::model {

inline constexpr const char* summaries_network = "summaries";

/// Kept among the weights of "summaries".
struct SummaryScale {
  std::vector<float> mean, scale;

  /// Of the rows of a table, `count` numbers each; what never changes keeps its unit.
  SummaryScale(std::span<const float> table, std::size_t count);
  /// As add_to() left it.
  SummaryScale(const NamedWeights& weights, std::size_t count, const std::string& source);

  void add_to(NamedWeights& weights) const;
  void apply(std::span<float> summaries) const;
};

/// s(c_1, …, c_T), one transition a row of c; `network` is the one that uses it.
std::vector<float> summaries_of(const TrainedModel& model, const std::string& network,
                                const EmbeddingSettings& settings, std::size_t longest, ConstMatrixView c);

}  // namespace catena::model
