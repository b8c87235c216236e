/// Increments standardised given the state: with a small network for the Gaussian of x^(t+1) − x^t given x^t (and t),
/// θ averaged out, the increment part of c becomes the residual
///
///   u = L(x^t) Δ − b(x^t),   Δ | x^t ≈ N(L⁻¹b, (LᵀL)⁻¹).
///
/// Given x^t this map is one to one, so nothing is lost; what every θ does alike is taken out, and u is of size one
/// wherever the state is, also where drift or noise grow with it.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "catena/model/features.h"
#include "catena/model/weights.h"
#include "catena/nn/execute.h"

namespace catena::model {

struct WhiteningGraph {
  nn::Graph graph;
  nn::Value state, increment;  // (x^t, t) and Δ, standardised; of a longer record, what is known and the target
  nn::Value residual, loss;

  /// One lane of the inputs from the features c of a record.
  void fill_lane(nn::Workspace& workspace, const Features& features, std::size_t lanes, std::size_t lane,
                 const float* c) const;
};
WhiteningGraph record_whitening(const Features& features);

class Whitening {
 public:
  Whitening(const NamedWeights& weights, const std::string& source, const Features& features);

  /// Replaces the target of every row of c (one record each) by u.
  void apply(std::span<float> c) const;

 private:
  Features features_;
  WhiteningGraph network_;
  AlignedVector<float> weights_;
};

}  // namespace catena::model
