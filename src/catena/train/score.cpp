#include "catena/train/score.h"

#include <algorithm>
#include <cmath>

#include "catena/nn/layers.h"

namespace catena::train {
namespace {

constexpr std::size_t level_count = 4096;  // far finer than what a network can tell apart

}  // namespace

ScoreObjective::ScoreObjective(const ScoreSettings& settings, std::size_t parameters, std::size_t features)
    : score_(record_score(settings.network, parameters, features, nn::Lanes::each())),
      pairing_(settings.pairing == "none"         ? Pairing::none
               : settings.pairing == "antithetic" ? Pairing::antithetic
                                                  : Pairing::control_variate) {
  check_config("train", settings);
  nn::Graph& graph = score_.graph;
  origin_ = graph.input("origin", parameters);
  weight_ = graph.input("weight", 1);
  linear_ = graph.input("linear", parameters);
  const nn::Value e = nn::subtract(graph, score_.y, origin_);
  const nn::Value weighted = graph.apply("scale_lanes", {weight_, e});
  loss_ = nn::add(graph, graph.apply("lane_dot", {weighted, weighted}), graph.apply("lane_dot", {e, linear_}));

  const diffusion::Schedule& schedule = diffusion::schedules().at("train", settings.schedule).schedule;
  const double low = std::log(settings.smallest_eta), high = std::log(schedule.eta(1));
  check::that(low < high, "train", "smallest_eta", settings.smallest_eta, "below the largest noise");
  for (std::size_t i = 0; i < level_count; ++i) {
    const double u = (static_cast<double>(i) + 0.5) / level_count;
    const double a = settings.levels == "uniform" ? schedule.a_min + u * (1 - schedule.a_min)
                                                  : schedule.a_at(std::exp(low + u * (high - low)));
    const Precondition p(schedule, a);
    const double lambda = settings.weight == "sigma" ? schedule.weight(a) : p.v;
    levels_.push_back({.m = static_cast<float>(p.m),
                       .sigma = static_cast<float>(p.sigma),
                       .c_in = static_cast<float>(p.c_in),
                       .weight = static_cast<float>(std::sqrt(lambda) * p.m / p.v),
                       .over_m = static_cast<float>(1 / p.m),
                       .linear = static_cast<float>(2 * lambda / p.sigma * p.m / p.v)});
  }
}

void ScoreObjective::fill(nn::Workspace& workspace, const BatchPart& part, Stream stream) const {
  const std::size_t copies = lanes_per_example(), count = part.count(), lanes = count * copies;
  const std::size_t d = part.examples.parameters;
  gather(workspace.value(score_.condition, lanes), count, copies, [&](std::size_t i) { return part.c(i); });
  const Block variable = workspace.value(score_.variable, lanes), level = workspace.value(score_.level, lanes),
              origin = workspace.value(origin_, lanes), weight = workspace.value(weight_, lanes),
              linear = workspace.value(linear_, lanes);

  // The i-th of n examples takes the i-th of n equal shares of the levels.
  thread_local std::vector<float> place, epsilon;
  place.resize(count);
  epsilon.resize(count * d);
  stream.fill_uniform(place);
  stream.fill_normal(epsilon);
  const float share = static_cast<float>(level_count) / static_cast<float>(part.size());
  for (std::size_t i = 0; i < count; ++i) {
    const auto index = static_cast<std::size_t>((static_cast<float>(part.begin + i) + place[i]) * share);
    const Level& now = levels_[std::min(index, level_count - 1)];
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
