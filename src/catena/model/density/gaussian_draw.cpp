#include "catena/model/density/gaussian_draw.h"

#include "catena/nn/layers.h"

namespace catena::model {

nn::Value record_masked_gaussian(nn::Graph& graph, const nn::GaussianNode& node, nn::Value keep) {
  const nn::Value e = nn::multiply(graph, keep, node.residual);
  const nn::Value squares = nn::scale(graph, 0.5, graph.apply("lane_dot", {e, e}));
  return nn::subtract(graph, squares, graph.apply("lane_dot", {keep, node.log_diagonal}));
}

void draw_gaussian(std::span<const float> parameters, std::span<const double> keep, Stream& stream,
                   std::span<double> v) {
  const nn::GaussianValues values = nn::gaussian_values(parameters, v.size());
  for (std::size_t i = 0; i < v.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    double rest = values.b(row) + stream.normal();
    if (keep[i] == 0) continue;
    for (std::size_t j = 0; j < i; ++j) rest -= values.l(row, static_cast<Eigen::Index>(j)) * v[j];
    v[i] = rest / values.l(row, row);
  }
}

}  // namespace catena::model
