#include "catena/train/objectives/score.h"

#include <algorithm>
#include <cmath>

#include "catena/model/score/local_precondition.h"
#include "catena/nn/layers.h"

namespace catena::train {
ScoreObjective::ScoreObjective(const model::ScoreNetworkSettings& network, const std::string& schedule,
                               const ScoreLossSettings& loss, std::size_t parameters, std::size_t features,
                               std::shared_ptr<const model::LocalGaussianNetwork> local)
    : ScoreObjective(model::record_score(network, parameters,
                                         features + (local ? model::local_features(parameters) : 0), nn::Lanes::each()),
                     schedule, loss, parameters, network.prior_share, local) {}

ScoreObjective::ScoreObjective(model::ScoreGraph score, const std::string& schedule, const ScoreLossSettings& loss,
                               std::size_t parameters, double prior_share,
                               std::shared_ptr<const model::LocalGaussianNetwork> local)
    : score_(std::move(score)),
      local_(std::move(local)),
      pairing_(loss.pairing == "none"         ? Pairing::none
               : loss.pairing == "antithetic" ? Pairing::antithetic
                                              : Pairing::control_variate),
      levels_(diffusion::schedules().at("train", schedule).schedule, loss.levels, loss.smallest_eta, loss.weight,
              prior_share) {
  check_config("train", loss);
  nn::Graph& graph = score_.graph;
  origin_ = graph.input("origin", parameters);
  weight_ = graph.input("weight", 1);
  linear_ = graph.input("linear", parameters);
  nn::Value e = nn::subtract(graph, score_.y, origin_);
  if (local_) {
    gain_ = graph.input("gain", parameters * parameters);
    e = graph.apply("lane_matvec", {gain_, e});
  }
  const nn::Value weighted = graph.apply("scale_lanes", {weight_, e});
  loss_ = nn::add(graph, graph.apply("lane_dot", {weighted, weighted}), graph.apply("lane_dot", {e, linear_}));
}

void ScoreObjective::fill_condition(nn::Workspace& workspace, const BatchPart& part) const {
  const std::size_t copies = lanes_per_example(), count = part.count();
  const Block seen = workspace.value(score_.condition, count * copies).slice_features(0, part.examples.features);
  gather(seen, count, copies, [&](std::size_t i) { return part.c(i); });
}

void ScoreObjective::fill(nn::Workspace& workspace, const BatchPart& part, Stream stream) const {
  const std::size_t copies = lanes_per_example(), count = part.count(), lanes = count * copies;
  const std::size_t d = part.examples.parameters;
  fill_condition(workspace, part);
  const Block variable = workspace.value(score_.variable, lanes), level = workspace.value(score_.level, lanes),
              origin = workspace.value(origin_, lanes), weight = workspace.value(weight_, lanes),
              linear = workspace.value(linear_, lanes);

  thread_local std::vector<float> place, epsilon;
  thread_local std::vector<const NoiseLevel*> levels;
  levels.resize(lanes);
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
        origin(f, lane) = local_ ? theta_a : now.over_m * theta_a;
        linear(f, lane) = now.linear * noise;
      }
      levels[lane] = &now;
    }
  }
  if (local_) fill_local(workspace, lanes, levels);
}

void ScoreObjective::fill_local(nn::Workspace& workspace, std::size_t lanes,
                                std::span<const NoiseLevel* const> levels) const {
  const Block variable = workspace.value(score_.variable, lanes), level = workspace.value(score_.level, lanes),
              origin = workspace.value(origin_, lanes), gain = workspace.value(gain_, lanes);
  const std::size_t d = variable.features;
  thread_local model::LocalLanes posteriors;
  thread_local std::vector<float> m;
  m.resize(lanes);
  for (std::size_t l = 0; l < lanes; ++l) m[l] = levels[l]->m;
  posteriors.read(*local_, workspace.value(score_.condition, lanes));
  posteriors.at(m, {level.feature(0), lanes}, origin, variable);
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t l = 0; l < lanes; ++l) origin(i, l) = levels[l]->over_m * static_cast<float>(posteriors.xi(i, l));
    for (std::size_t j = 0; j < d; ++j) {
      for (std::size_t l = 0; l < lanes; ++l) {
        gain(i * d + j, l) = levels[l]->v * static_cast<float>(posteriors.gain(i, j, l));
      }
    }
  }
}

}  // namespace catena::train
