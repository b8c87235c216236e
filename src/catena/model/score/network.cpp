#include "catena/model/score/network.h"

#include <cmath>

#include "catena/model/score/conditional_network.h"
#include "catena/nn/layers.h"

namespace catena::model {
namespace {

constexpr std::size_t level_features = 32;

/// ψ(c)
nn::Value summary(nn::Graph& graph, const ScoreNetworkSettings& settings, nn::Value condition) {
  const auto width = static_cast<std::size_t>(settings.width);
  const int hidden = std::max(1, settings.layers - 2);
  return nn::mlp(graph, "psi", condition, width, hidden, static_cast<std::size_t>(settings.terms), "gelu");
}

/// [Φ, b] by rows
nn::Value coefficients(nn::Graph& graph, const ScoreNetworkSettings& settings, nn::Value variable, nn::Value level) {
  const auto width = static_cast<std::size_t>(settings.width), terms = static_cast<std::size_t>(settings.terms);
  const nn::Value waves = nn::fourier_features(graph, "level", level, level_features, 1);
  const nn::Value e = nn::repeat(graph, nn::dense(graph, "embedding", waves, width));
  nn::Value h = graph.apply("gelu", {nn::dense(graph, "variable", variable, width), e});
  for (int i = 1; i < std::max(2, settings.layers - 2); ++i) {
    h = nn::residual_layer(graph, "layer" + std::to_string(i), h, e);
  }
  return nn::dense(graph, "phi", h, graph.features(variable) * (terms + 1));
}

}  // namespace

Precondition::Precondition(const diffusion::Schedule& schedule, double a, double share)
    : m(schedule.m(a)), sigma(schedule.sigma(a)), v(m * m * share + sigma * sigma), c_in(std::sqrt(share / v)) {}

ScoreGraph record_score(const ScoreNetworkSettings& settings, std::size_t parameters, std::size_t features,
                        nn::Lanes level_lanes) {
  check_config("score network", settings);
  ScoreGraph score;
  if (!settings.separable()) {
    const ConditionalNetwork network = record_conditional_network(
        score.graph, {.width = settings.width, .layers = settings.layers}, parameters, features, level_lanes);
    score.variable = network.variable;
    score.condition = network.condition;
    score.level = network.level;
    score.y = network.output;
    return score;
  }
  nn::Graph& graph = score.graph;
  score.variable = graph.input("variable", parameters);
  score.condition = graph.input("condition", features);
  score.level = graph.input("level", 1, level_lanes);
  const nn::Value psi = summary(graph, settings, score.condition);
  const nn::Value one = graph.apply("exp", {nn::scale(graph, 0, nn::slice(graph, psi, 0, 1))});
  const nn::Value phi = coefficients(graph, settings, score.variable, score.level);
  score.y = graph.apply("lane_matvec", {phi, nn::concatenate(graph, {psi, one})});
  return score;
}

SummaryGraph record_summary(const ScoreNetworkSettings& settings, std::size_t features) {
  SummaryGraph result;
  result.condition = result.graph.input("condition", features);
  result.psi = summary(result.graph, settings, result.condition);
  return result;
}

CoefficientGraph record_coefficients(const ScoreNetworkSettings& settings, std::size_t parameters,
                                     nn::Lanes level_lanes) {
  CoefficientGraph result;
  result.variable = result.graph.input("variable", parameters);
  result.level = result.graph.input("level", 1, level_lanes);
  result.phi = coefficients(result.graph, settings, result.variable, result.level);
  return result;
}

}  // namespace catena::model
