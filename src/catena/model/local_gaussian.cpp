#include "catena/model/local_gaussian.h"

#include <algorithm>
#include <vector>

#include "catena/core/check.h"
#include "catena/nn/batch_gradient.h"
#include "catena/nn/gaussian.h"
#include "catena/nn/layers.h"
#include "catena/nn/rows.h"

namespace catena::model {

LocalGaussianGraph record_local_gaussian(int width, std::size_t parameters, std::size_t features) {
  LocalGaussianGraph network;
  network.condition = network.graph.input("condition", features);
  network.parameters = nn::mlp(network.graph, "gaussian", network.condition, static_cast<std::size_t>(width), 3,
                               nn::gaussian_parameters(parameters), "gelu");
  return network;
}

LocalGaussianNetwork::LocalGaussianNetwork(int width, const NamedWeights& weights, const std::string& source,
                                           std::size_t parameters, std::size_t features)
    : parameters_(parameters),
      network_(record_local_gaussian(width, parameters, features)),
      weights_(flat_weights(network_.graph, weights, source)),
      pool_(network_.graph, nn::training_block_lanes, nn::Purpose::inference()) {}

void LocalGaussianNetwork::evaluate(ConstBlock c, Block outputs) const {
  CATENA_ASSERT(c.lanes <= nn::training_block_lanes);
  const auto workspace = pool_.borrow();
  const Block condition = workspace->value(network_.condition, c.lanes);
  for (std::size_t f = 0; f < c.features; ++f) std::copy_n(c.feature(f), c.lanes, condition.feature(f));
  workspace->forward(weights_, c.lanes);
  const Block found = workspace->value(network_.parameters, c.lanes);
  for (std::size_t f = 0; f < found.features; ++f) std::copy_n(found.feature(f), c.lanes, outputs.feature(f));
}

Matrix LocalGaussianNetwork::evaluate(ConstMatrixView c) const {
  Matrix outputs(c.rows, nn::gaussian_parameters(parameters_));
  nn::run_rows(
      network_.graph, weights_, c.rows,
      [&](nn::Workspace& workspace, std::size_t begin, std::size_t lanes) {
        nn::rows_to_lanes(c, begin, workspace.value(network_.condition, lanes));
      },
      [&](nn::Workspace& workspace, std::size_t begin, std::size_t lanes) {
        nn::lanes_to_rows(ConstBlock(workspace.value(network_.parameters, lanes)), begin, outputs.view());
      });
  return outputs;
}

Matrix local_gaussian_precisions(int width, const NamedWeights& named, const std::string& source,
                                 std::size_t parameters, ConstMatrixView c) {
  const LocalGaussianNetwork network(width, named, source, parameters, c.cols);
  const Matrix outputs = network.evaluate(c);
  Matrix precisions(c.rows, parameters * parameters);
  std::vector<float> row(outputs.cols());
  for (std::size_t r = 0; r < outputs.rows(); ++r) {
    std::ranges::transform(outputs.row(r), row.begin(), [](double value) { return static_cast<float>(value); });
    const nn::GaussianValues values = nn::gaussian_values(row, parameters);
    const Eigen::MatrixXd precision = values.l.transpose() * values.l;  // symmetric: its order is moot
    std::copy_n(precision.data(), precision.size(), precisions.row(r).begin());
  }
  return precisions;
}

}  // namespace catena::model
