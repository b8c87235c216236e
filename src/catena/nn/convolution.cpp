#include "catena/nn/convolution.h"

#include "catena/core/check.h"

namespace catena::nn {

Value conv2d_layer(Graph& graph, const std::string& name, Value x, std::size_t channels, Conv2dOptions options) {
  check::at_least("conv2d_layer", "channels", channels, std::size_t{1});
  std::vector<Parameter> parameters{
      graph.parameter({.name = name + ".weight",
                       .rows = channels,
                       .cols = options.kernel_y * options.kernel_x * graph.shape(x).channels,
                       .init = Init::scaled_normal})};
  if (options.bias) {
    parameters.push_back(graph.parameter({.name = name + ".bias", .rows = channels, .cols = 1, .decays = false}));
  }
  return graph.apply("conv2d", {x}, parameters,
                     {{"kernel_y", options.kernel_y}, {"kernel_x", options.kernel_x}, {"stride", options.stride}});
}

Value group_norm_layer(Graph& graph, const std::string& name, Value x, std::size_t groups) {
  const std::size_t channels = graph.shape(x).channels;
  const Parameter gamma =
      graph.parameter({.name = name + ".gamma", .rows = channels, .cols = 1, .init = Init::ones, .decays = false});
  const Parameter beta = graph.parameter({.name = name + ".beta", .rows = channels, .cols = 1, .decays = false});
  return graph.apply("group_norm", {x}, {gamma, beta}, {{"groups", groups}});
}

}  // namespace catena::nn
