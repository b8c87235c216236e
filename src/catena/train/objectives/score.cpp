#include "catena/train/objectives/score.h"

#include <algorithm>
#include <cmath>

#include "catena/nn/layers.h"

namespace catena::train {
ScoreObjective::ScoreObjective(const model::ScoreNetworkSettings& network, const std::string& schedule,
                               const ScoreLossSettings& loss, std::size_t parameters, std::size_t features)
    : ScoreObjective(model::record_score(network, parameters, features, nn::Lanes::each()), schedule, loss,
                     parameters) {}

ScoreObjective::ScoreObjective(model::ScoreGraph score, const std::string& schedule, const ScoreLossSettings& loss,
                               std::size_t parameters)
    : score_(std::move(score)),
      pairing_(loss.pairing == "none"         ? Pairing::none
               : loss.pairing == "antithetic" ? Pairing::antithetic
                                              : Pairing::control_variate),
      levels_(diffusion::schedules().at("train", schedule).schedule, loss.levels, loss.smallest_eta, loss.weight) {
  check_config("train", loss);
  nn::Graph& graph = score_.graph;
  origin_ = graph.input("origin", parameters);
  weight_ = graph.input("weight", 1);
  linear_ = graph.input("linear", parameters);
  const nn::Value e = nn::subtract(graph, score_.y, origin_);
  const nn::Value weighted = graph.apply("scale_lanes", {weight_, e});
  loss_ = nn::add(graph, graph.apply("lane_dot", {weighted, weighted}), graph.apply("lane_dot", {e, linear_}));
}

void ScoreObjective::fill_condition(nn::Workspace& workspace, const BatchPart& part) const {
  const std::size_t copies = lanes_per_example(), count = part.count();
  gather(workspace.value(score_.condition, count * copies), count, copies, [&](std::size_t i) { return part.c(i); });
}

void ScoreObjective::fill(nn::Workspace& workspace, const BatchPart& part, Stream stream) const {
  const std::size_t copies = lanes_per_example(), count = part.count(), lanes = count * copies;
  const std::size_t d = part.examples.parameters;
  fill_condition(workspace, part);
  const Block variable = workspace.value(score_.variable, lanes), level = workspace.value(score_.level, lanes),
              origin = workspace.value(origin_, lanes), weight = workspace.value(weight_, lanes),
              linear = workspace.value(linear_, lanes);

  thread_local std::vector<float> place, epsilon;
  place.resize(count);
  epsilon.resize(count * d);
  stream.fill_uniform(place);
  stream.fill_normal(epsilon);
  for (std::size_t i = 0; i < count; ++i) {
    const NoiseLevel& now = levels_.at(part, i, place[i]);
    const float* z = part.z(i);
    for (std::size_t k = 0; k < copies; ++k) {
      const std::size_t lane = i * copies + k;
      const float sign = k == 1 ? -1.0F : 1.0F;
      const bool at_mean = k == 1 && pairing_ == Pairing::control_variate;
      level(0, lane) = now.sigma;
      weight(0, lane) = at_mean ? 0.0F : now.weight;
      for (std::size_t f = 0; f < d; ++f) {
        const float noise = sign * epsilon[i * d + f];
        const float theta_a = now.m * z[f] + (at_mean ? 0.0F : now.sigma * noise);
        variable(f, lane) = now.c_in * theta_a;
        origin(f, lane) = now.over_m * theta_a;
        linear(f, lane) = now.linear * noise;
      }
    }
  }
}

}  // namespace catena::train
