/// Layers over places [y, x, channels]: convolution and its norm.
#pragma once

#include <string>

#include "catena/nn/graph.h"

namespace catena::nn {

struct Conv2dOptions {
  std::size_t kernel_y = 3, kernel_x = 3;
  std::size_t stride = 1;
  bool bias = true;
};

/// [y, x, c] to [(y − kernel_y)/stride + 1, (x − kernel_x)/stride + 1, channels]: no padding.
Value conv2d_layer(Graph& graph, const std::string& name, Value x, std::size_t channels, Conv2dOptions options = {});

/// Mean 0 and variance 1 over all places and the channels of each group, then a scale and an offset for each channel.
Value group_norm_layer(Graph& graph, const std::string& name, Value x, std::size_t groups);

}  // namespace catena::nn
