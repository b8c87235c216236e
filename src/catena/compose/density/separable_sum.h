/// Σ_t [φ(z)·ψ(c_t) − ½ Σ_m (φ_m(z)·ψ_m(c_t))²] over the transitions c_t of a series, for many z at once with
/// gradients. It needs Σ_t ψ(c_t) and Σ_t ψ_m(c_t) ψ_m(c_t)ᵀ alone, so that its cost does not grow with T: separable
/// densities and ratios (model/separable_gaussian.h).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "catena/compose/density/series_density.h"
#include "catena/core/parallel.h"
#include "catena/model/separable_gaussian.h"
#include "catena/model/weights.h"

namespace catena::compose {

/// Both kinds of sums of a series, as one row, from ψ of its transitions one after the other.
Matrix separable_sums(const model::SeparableLayout& layout, std::span<const float> psi);

/// One network of z, and a series' sums.
struct SeparablePart {
  nn::Graph graph;
  nn::Value z, phi;
  model::SeparableLayout layout;
  Matrix sums;  // of separable_sums
};

class SeparableSum final : public SeriesDensity {
 public:
  explicit SeparableSum(const Parallel& parallel);
  ~SeparableSum() override;

  /// The mean over parts is what counts; `weights` are those of the part's graph, `source` the file they came from.
  void add(SeparablePart part, const model::NamedWeights& weights, const std::string& source);

  std::size_t dimension() const override;
  bool costs_grow() const override { return false; }
  void evaluate(ConstMatrixView z, std::span<double> out, MatrixView gradient) const override;

 private:
  class Member;
  Parallel parallel_;
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace catena::compose
