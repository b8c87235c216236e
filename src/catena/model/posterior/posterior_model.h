/// A posterior that was learned from whole series (the methods npe, npe_windows and npe_summary; docs/theory/npe.md): a
/// neural spline flow of z whose context is an embedding of the series,
///
///   q(z | x⁰, …, x^T) = flow(z; s(c_1, …, c_T)),
///
/// normalised, and exact to evaluate and to draw from. Its one network, "posterior", has the weights of both, unless
/// the embedding was trained before it (embedding/summaries.h).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "catena/core/config.h"
#include "catena/core/random.h"
#include "catena/model/density/flow.h"
#include "catena/model/embedding/embedding.h"
#include "catena/model/trained_model.h"

namespace catena::model {

struct PosteriorModelSettings {
  PosteriorModelSettings() = default;  // not an aggregate: GCC 12 warns of uninitialised texts in nested aggregates

  EmbeddingSettings embedding;
  int flow_layers = 5;
  int flow_width = 50;
  int bins = 10;
  double tail_bound = 3;

  FlowSettings flow() const { return {flow_layers, flow_width, bins, tail_bound}; }

  /// With the embeddings that may be chosen.
  template <class Self, class Visit>
  static void list(Self& c, Visit&& visit, std::vector<std::string> choices) {
    visit(c.embedding.embedding, "embedding", "what the flow knows of a series", one_of(std::move(choices)));
    EmbeddingSettings::fields(c.embedding, visit);
    visit(c.flow_layers, "flow_layers", "transformations of the flow", at_least(1));
    visit(c.flow_width, "flow_width", "units of the two masked layers of each transformation", at_least(4));
    visit(c.bins, "bins", "bins of the splines", between(2, 64));
    visit(c.tail_bound, "tail_bound", "the splines end here, in prior standard deviations", positive());
  }
  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    list(c, visit, embeddings().names());
  }
};

/// The whole network, for training: series of up to `longest` transitions, one a lane.
struct PosteriorGraph {
  nn::Graph graph;
  nn::Value series, mask, z;
  nn::Value loss;  // −log q without ½ log 2π for each parameter
};
PosteriorGraph record_posterior(const PosteriorModelSettings& settings, std::size_t parameters, std::size_t features,
                                std::size_t longest);

/// What goes on with the summaries of a series: −log of a density that ties them to z, without ½ log 2π for each of its
/// coordinates. For inference all lanes share the summaries of one series, for training each has its own.
struct SummarisedGraph {
  nn::Graph graph;
  nn::Value summaries, z, loss;
};
/// The flow alone: the density is q(z | s).
SummarisedGraph record_posterior_flow(const PosteriorModelSettings& settings, std::size_t parameters,
                                      nn::Lanes lanes = nn::Lanes::one());

/// Ready for use: its settings read back from the file.
struct PosteriorModel {
  /// Throws InputError if the model is of another method. `model` must outlive this.
  explicit PosteriorModel(const TrainedModel& model);

  const TrainedModel* model;
  PosteriorModelSettings settings;
  std::size_t longest;  // transitions of a series that it was trained on

  const EmbeddingKind& embedding() const { return embeddings().at(model->source, settings.embedding.embedding); }
  const NamedWeights& weights() const { return model->network("posterior").weights; }
  /// s(c_1, …, c_T), one transition a row of c.
  std::vector<float> summaries(ConstMatrixView c) const;
  /// Draws of z, one a row.
  void draw(std::span<const float> summaries, Stream stream, MatrixView z) const;
};

/// How many transitions the longest series had that a model of whole series was trained on; 0 for any other model.
std::size_t longest_series(const TrainedModel& model);
/// The same of a model that must say it. Throws FileError.
std::size_t known_longest_series(const TrainedModel& model);

}  // namespace catena::model
