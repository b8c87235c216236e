/// Weights by name: what a model file holds. A network may be recorded in several ways (for training, for inference, in
/// parts); each takes the arrays that its parameters name.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "catena/files/safetensors.h"
#include "catena/nn/graph.h"

namespace catena::model {

using NamedWeights = std::vector<files::Tensor>;

NamedWeights named_weights(const nn::Graph& graph, std::span<const float> weights);

/// The flat array for `graph`. Throws FileError naming `source` if an array is missing, of another shape or not finite.
AlignedVector<float> flat_weights(const nn::Graph& graph, const NamedWeights& named, const std::string& source);

}  // namespace catena::model
