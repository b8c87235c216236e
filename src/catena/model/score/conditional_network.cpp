#include "catena/model/score/conditional_network.h"

#include "catena/nn/layers.h"

namespace catena::model {

ConditionalNetwork record_conditional_network(nn::Graph& graph, const ConditionalNetworkConfig& config,
                                              std::size_t variables, std::size_t conditions, nn::Lanes level_lanes) {
  check_config("network", config);
  ConditionalNetwork network;
  network.variable = graph.input("variable", variables);
  network.condition = graph.input("condition", conditions);
  network.level = graph.input("level", 1, level_lanes);
  network.output = record_conditional_output(graph, config, network.variable, network.condition, network.level);
  return network;
}

nn::Value record_conditional_output(nn::Graph& graph, const ConditionalNetworkConfig& config, nn::Value variable,
                                    nn::Value condition, nn::Value level) {
  const auto width = static_cast<std::size_t>(config.width);
  const nn::Value waves =
      fourier_features(graph, "level", level, static_cast<std::size_t>(config.fourier_features), config.fourier_spread);
  const nn::Value e = repeat(graph, dense(graph, "embedding", waves, width));
  const nn::Value first = concatenate(graph, {repeat(graph, dense(graph, "condition", condition, width / 2)),
                                              dense(graph, "variable", variable, width - width / 2)});
  nn::Value h = graph.apply("gelu", {first, e});
  for (int i = 1; i < config.layers; ++i) h = residual_layer(graph, "layer" + std::to_string(i), h, e);
  return dense(graph, "output", h, graph.features(variable));
}

}  // namespace catena::model
