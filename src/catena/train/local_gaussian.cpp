#include "catena/train/local_gaussian.h"

#include <algorithm>
#include <vector>

#include "catena/nn/gaussian.h"
#include "catena/nn/layers.h"

namespace catena::train {

LocalGaussianGraph record_local_gaussian(int width, std::size_t parameters, std::size_t features) {
  LocalGaussianGraph network;
  network.condition = network.graph.input("condition", features);
  network.parameters = nn::mlp(network.graph, "gaussian", network.condition, static_cast<std::size_t>(width), 3,
                               nn::gaussian_parameters(parameters), "gelu");
  return network;
}

LocalGaussianObjective::LocalGaussianObjective(int width, std::size_t parameters, std::size_t features)
    : network_(record_local_gaussian(width, parameters, features)) {
  z_ = network_.graph.input("z", parameters);
  loss_ = nn::record_gaussian(network_.graph, network_.parameters, z_).loss;
}

void LocalGaussianObjective::fill(nn::Workspace& workspace, const BatchPart& part, Stream) const {
  const std::size_t count = part.count();
  gather(workspace.value(network_.condition, count), count, 1, [&](std::size_t i) { return part.c(i); });
  gather(workspace.value(z_, count), count, 1, [&](std::size_t i) { return part.z(i); });
}

Matrix local_gaussian_precisions(int width, const NamedWeights& named, const std::string& source,
                                 std::size_t parameters, ConstMatrixView c) {
  const LocalGaussianGraph network = record_local_gaussian(width, parameters, c.cols);
  const AlignedVector<float> weights = flat_weights(network.graph, named, source);
  constexpr std::size_t block = 128;
  nn::Workspace workspace(network.graph, block, nn::Purpose::inference());
  Matrix precisions(c.rows, parameters * parameters);
  std::vector<float> lane(nn::gaussian_parameters(parameters));
  for (std::size_t begin = 0; begin < c.rows; begin += block) {
    const std::size_t lanes = std::min(block, c.rows - begin);
    const Block condition = workspace.value(network.condition, lanes);
    for (std::size_t l = 0; l < lanes; ++l) {
      for (std::size_t f = 0; f < c.cols; ++f) condition(f, l) = static_cast<float>(c(begin + l, f));
    }
    workspace.forward(weights, lanes);
    const Block outputs = workspace.value(network.parameters, lanes);
    for (std::size_t l = 0; l < lanes; ++l) {
      for (std::size_t f = 0; f < lane.size(); ++f) lane[f] = outputs(f, l);
      const nn::GaussianValues values = nn::gaussian_values(lane, parameters);
      const Eigen::MatrixXd precision = values.l.transpose() * values.l;
      std::copy_n(precision.data(), precision.size(), precisions.row(begin + l).begin());  // symmetric: order is moot
    }
  }
  return precisions;
}

}  // namespace catena::train
