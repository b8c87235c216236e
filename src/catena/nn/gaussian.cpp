#include "catena/nn/gaussian.h"

#include <cmath>
#include <vector>

#include "catena/core/check.h"
#include "catena/nn/layers.h"

namespace catena::nn {

GaussianNode record_gaussian(Graph& graph, Value parameters, Value variable) {
  const std::size_t k = graph.features(variable);
  CATENA_ASSERT(graph.features(parameters) == gaussian_parameters(k));
  const Value b = slice(graph, parameters, 0, k), l = slice(graph, parameters, k, 2 * k);
  Value lv = multiply(graph, graph.apply("exp", {l}), variable);
  if (k > 1) {
    // Row i of L below the diagonal has i entries; row 0 has none.
    std::vector<Value> rows{scale(graph, 0, slice(graph, variable, 0, 1))};
    std::size_t at = 2 * k;
    for (std::size_t i = 1; i < k; ++i, at += i - 1) {
      rows.push_back(graph.apply("lane_dot", {slice(graph, parameters, at, at + i), slice(graph, variable, 0, i)}));
    }
    lv = add(graph, lv, concatenate(graph, rows));
  }
  GaussianNode node;
  node.residual = subtract(graph, lv, b);
  node.log_diagonal = l;
  const Value squares = scale(graph, 0.5, graph.apply("lane_dot", {node.residual, node.residual}));
  node.loss = subtract(graph, squares, sum_features(graph, l));
  return node;
}

GaussianValues gaussian_values(std::span<const float> parameters, std::size_t k) {
  const auto size = static_cast<Eigen::Index>(k);
  GaussianValues values{Eigen::MatrixXd::Zero(size, size), Eigen::VectorXd(size)};
  std::size_t at = 2 * k;
  for (std::size_t i = 0; i < k; ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    values.b(row) = parameters[i];
    values.l(row, row) = std::exp(static_cast<double>(parameters[k + i]));
    for (std::size_t j = 0; j < i; ++j) values.l(row, static_cast<Eigen::Index>(j)) = parameters[at++];
  }
  return values;
}

}  // namespace catena::nn
