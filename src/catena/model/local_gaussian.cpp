#include "catena/model/local_gaussian.h"

#include <algorithm>
#include <vector>

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

Matrix local_gaussian_precisions(int width, const NamedWeights& named, const std::string& source,
                                 std::size_t parameters, ConstMatrixView c) {
  const LocalGaussianGraph network = record_local_gaussian(width, parameters, c.cols);
  Matrix precisions(c.rows, parameters * parameters);
  std::vector<float> lane(nn::gaussian_parameters(parameters));
  nn::run_rows(
      network.graph, flat_weights(network.graph, named, source), c.rows,
      [&](nn::Workspace& workspace, std::size_t begin, std::size_t lanes) {
        nn::rows_to_lanes(c, begin, workspace.value(network.condition, lanes));
      },
      [&](nn::Workspace& workspace, std::size_t begin, std::size_t lanes) {
        const Block outputs = workspace.value(network.parameters, lanes);
        for (std::size_t l = 0; l < lanes; ++l) {
          for (std::size_t f = 0; f < lane.size(); ++f) lane[f] = outputs(f, l);
          const nn::GaussianValues values = nn::gaussian_values(lane, parameters);
          const Eigen::MatrixXd precision = values.l.transpose() * values.l;  // symmetric: its order is moot
          std::copy_n(precision.data(), precision.size(), precisions.row(begin + l).begin());
        }
      });
  return precisions;
}

}  // namespace catena::model
