/// Layers: a few operations with their weights, recorded into a graph.
#pragma once

#include <string>

#include "catena/nn/graph.h"

namespace catena::nn {

struct DenseOptions {
  bool bias = true;
  double scale = 1;  // factor on the initial weights
};

/// W x + b
Value dense(Graph& graph, const std::string& name, Value x, std::size_t features, DenseOptions options = {});

Value add(Graph& graph, Value x, Value y);
Value subtract(Graph& graph, Value x, Value y);
Value multiply(Graph& graph, Value x, Value y);
Value scale(Graph& graph, double factor, Value x);
Value concatenate(Graph& graph, const std::vector<Value>& parts);
Value slice(Graph& graph, Value x, std::size_t begin, std::size_t end);

/// 1 in every feature and lane of x
Value ones(Graph& graph, Value x);
/// Σ_f x_f in each lane
Value sum_features(Graph& graph, Value x);

/// One value for all lanes (or one per group of them) becomes one per lane; a value per lane stays as it is.
Value repeat(Graph& graph, Value x);

Value layer_norm(Graph& graph, const std::string& name, Value x);

/// layer_norm(gelu(W h + b + e) + h)
Value residual_layer(Graph& graph, const std::string& name, Value h, Value e);

/// cos and sin of 2π w x with `count`/2 frequencies w ~ N(0, spread²), fixed.
Value fourier_features(Graph& graph, const std::string& name, Value x, std::size_t count, double spread);

/// Dense layers of the given width with an activation ("gelu", "silu", "tanh", "relu") after each.
Value hidden(Graph& graph, const std::string& name, Value x, std::size_t width, int layers,
             std::string_view activation = "gelu");

/// Hidden layers, then a dense layer to `features`.
Value mlp(Graph& graph, const std::string& name, Value x, std::size_t width, int hidden_layers, std::size_t features,
          std::string_view activation);

}  // namespace catena::nn
