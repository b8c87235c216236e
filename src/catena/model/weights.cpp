#include "catena/model/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "catena/core/errors.h"

namespace catena::model {

NamedWeights named_weights(const nn::Graph& graph, std::span<const float> weights) {
  NamedWeights named;
  for (const nn::ParameterInfo& info : graph.parameters()) {
    const auto values = weights.subspan(info.offset, info.size());
    named.push_back({info.name, {info.rows, info.cols}, std::vector<float>(values.begin(), values.end())});
  }
  return named;
}

AlignedVector<float> flat_weights(const nn::Graph& graph, const NamedWeights& named, const std::string& source) {
  AlignedVector<float> weights(graph.parameter_count(), 0.0F);
  for (const nn::ParameterInfo& info : graph.parameters()) {
    const auto found = std::ranges::find(named, info.name, &files::Tensor::name);
    if (found == named.end()) throw FileError(fmt::format("{}: has no weights \"{}\"", source, info.name));
    const auto* values = std::get_if<std::vector<float>>(&found->values);
    if (values == nullptr || found->shape != std::vector<std::size_t>{info.rows, info.cols}) {
      throw FileError(
          fmt::format("{}: the weights \"{}\" are not {} × {} floats", source, info.name, info.rows, info.cols));
    }
    if (!std::ranges::all_of(*values, [](float w) { return std::isfinite(w); })) {
      throw FileError(fmt::format("{}: the weights \"{}\" are not all finite", source, info.name));
    }
    std::ranges::copy(*values, weights.begin() + static_cast<std::ptrdiff_t>(info.offset));
  }
  return weights;
}

}  // namespace catena::model
