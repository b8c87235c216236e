#include "catena/model/score/conditional_network.h"

#include "catena/nn/layers.h"

namespace catena::model {

ConditionalNetwork record_conditional_network(nn::Graph& graph, const ConditionalNetworkConfig& config,
                                              std::size_t variables, std::size_t conditions, nn::Lanes level_lanes) {
  check_config("network", config);
  const auto width = static_cast<std::size_t>(config.width);
  ConditionalNetwork network;
  network.variable = graph.input("variable", variables);
  network.condition = graph.input("condition", conditions);
  network.level = graph.input("level", 1, level_lanes);
  const nn::Value waves = fourier_features(graph, "level", network.level,
                                           static_cast<std::size_t>(config.fourier_features), config.fourier_spread);
  const nn::Value e = repeat(graph, dense(graph, "embedding", waves, width));
  const nn::Value first = concatenate(graph, {dense(graph, "condition", network.condition, width / 2),
                                              dense(graph, "variable", network.variable, width - width / 2)});
  nn::Value h = graph.apply("gelu", {first, e});
  for (int i = 1; i < config.layers; ++i) h = residual_layer(graph, "layer" + std::to_string(i), h, e);
  network.output = dense(graph, "output", h, variables);
  return network;
}

}  // namespace catena::model
