#include "catena/nn/ops/ops.h"

namespace catena::nn {

const Registry<Operation>& operations() {
  static const Registry<Operation> registry("operation", {
                                                             ops::dense(),
                                                             ops::masked_dense(),
                                                             ops::bias(),
                                                             ops::add(),
                                                             ops::multiply(),
                                                             ops::scale(),
                                                             ops::scale_lanes(),
                                                             ops::concatenate(),
                                                             ops::slice(),
                                                             ops::gelu(),
                                                             ops::silu(),
                                                             ops::tanh(),
                                                             ops::sigmoid(),
                                                             ops::softplus(),
                                                             ops::relu(),
                                                             ops::exp(),
                                                             ops::log(),
                                                             ops::layer_norm(),
                                                             ops::residual_layer(),
                                                             ops::lane_dot(),
                                                             ops::lane_matvec(),
                                                             ops::lane_pairs(),
                                                             ops::unfold_lanes(),
                                                             ops::next_lane(),
                                                             ops::logsumexp_lanes(),
                                                             ops::sum_groups(),
                                                             ops::repeat(),
                                                             ops::fourier(),
                                                             ops::logsumexp_features(),
                                                             ops::rational_quadratic(),
                                                             ops::conv2d(),
                                                             ops::group_norm(),
                                                             ops::gru(),
                                                             ops::sum_places(),
                                                             ops::distance_correlation(),
                                                         });
  return registry;
}

}  // namespace catena::nn
