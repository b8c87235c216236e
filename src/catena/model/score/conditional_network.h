/// The residual network of the paper's score estimator (docs/refs.bib: gloeckler2025): a variable, a condition and a
/// noise level go in, as many numbers as the variable has come out.
///
///   h₀ = gelu([W_c·condition, W_v·variable] + e),  e = dense(Fourier features of the level)
///   h  ← layer_norm(gelu(W h + e) + h), layers − 1 times;  y = W h
#pragma once

#include "catena/core/config.h"
#include "catena/nn/graph.h"

namespace catena::model {

struct ConditionalNetworkConfig {
  int width = 50;
  int layers = 5;
  int fourier_features = 32;
  double fourier_spread = 1;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.width, "width", "units of each hidden layer", at_least(2));
    visit(c.layers, "layers", "hidden layers, the first of which joins variable and condition", at_least(1));
    visit(c.fourier_features, "fourier_features", "random Fourier features of the noise level", at_least(2));
    visit(c.fourier_spread, "fourier_spread", "standard deviation of their frequencies", positive());
  }
};

struct ConditionalNetwork {
  nn::Value variable, condition, level;  // inputs
  nn::Value output;
};

/// Records the network. `level` has one feature; with nn::Lanes::one() all lanes share it and its embedding is computed
/// once.
ConditionalNetwork record_conditional_network(nn::Graph& graph, const ConditionalNetworkConfig& config,
                                              std::size_t variables, std::size_t conditions, nn::Lanes level_lanes);

/// The same on values that are recorded already; those that lanes share are repeated where they meet the others.
nn::Value record_conditional_output(nn::Graph& graph, const ConditionalNetworkConfig& config, nn::Value variable,
                                    nn::Value condition, nn::Value level);

}  // namespace catena::model
