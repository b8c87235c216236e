/// log q of one series' summaries and z, as npe and nle_summary learned it: q(z | s) or q(s | z), without ½ log 2π for
/// each coordinate. Called by npe.cpp and nle_summary.cpp.
#pragma once

#include <string>
#include <vector>

#include "catena/compose/density/series_density.h"
#include "catena/core/parallel.h"
#include "catena/model/posterior/posterior_model.h"
#include "catena/nn/workspace_pool.h"
#include "catena/sample/posterior.h"

namespace catena::sample {

class SummarisedDensity final : public compose::SeriesDensity {
 public:
  SummarisedDensity(model::SummarisedGraph density, const model::NamedWeights& weights, const std::string& source,
                    std::vector<float> summaries, const Parallel& parallel);

  std::size_t dimension() const override { return density_.graph.features(density_.z); }
  bool costs_grow() const override { return false; }
  void evaluate(ConstMatrixView z, std::span<double> out, MatrixView gradient) const override;

 private:
  model::SummarisedGraph density_;
  AlignedVector<float> weights_;
  std::vector<float> summaries_;
  Parallel parallel_;
  mutable nn::WorkspacePool plain_, with_gradient_;
};

/// Throws InputError unless the embedding can read the request's series: a recurrence reads one.
void check_one_series(const PosteriorRequest& request, const model::EmbeddingKind& embedding);

}  // namespace catena::sample
