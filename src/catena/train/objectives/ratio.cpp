#include "catena/train/objectives/ratio.h"

#include <vector>

#include "catena/core/check.h"
#include "catena/nn/layers.h"

namespace catena::train {

RatioObjective::RatioObjective(const model::RatioNetworkSettings& network, const RatioLossSettings& loss,
                               model::RatioMap map, std::size_t parameters)
    : map_(std::move(map)),
      shape_(map_.shape(parameters)),
      noise_(ratio_losses().at("train", loss.loss).noise),
      lanes_per_example_(!network.separable() ? static_cast<std::size_t>(loss.atoms) : (noise_ ? 2 : 1)) {
  check_config("train", network);
  check_config("train", loss);
  CATENA_ASSERT(network.separable() || !noise_);
  // With a lane for each pair, one transition is shared by a group of lanes.
  const nn::Lanes c_lanes = nn::Lanes::grouped(network.separable() ? 1 : lanes_per_example_);
  inputs_.z = graph_.input("z", shape_.parameters);
  inputs_.state = graph_.input("state", shape_.state, c_lanes);
  inputs_.increment = graph_.input("increment", shape_.increment, c_lanes);
  nn::Value ratios;
  if (network.separable()) {
    const nn::Value phi = model::record_coefficients(graph_, network, inputs_.z);
    const nn::Value psi = model::record_summary(graph_, network, shape_, inputs_.state, inputs_.increment);
    ratios = model::record_products(graph_, network.layout(), phi, psi, static_cast<std::size_t>(loss.atoms));
  } else {
    ratios = graph_.apply("unfold_lanes", {model::record_joint(graph_, network, inputs_)}, {}, {{"group", loss.atoms}});
  }
  if (noise_) real_ = graph_.input("real", 1);
  loss_ = nn::repeat(graph_, ratio_losses().at("train", loss.loss).record(graph_, loss, ratios, real_));
}

void RatioObjective::fill(nn::Workspace& workspace, const BatchPart& part, Stream stream) const {
  const std::size_t count = part.count(), pairs = lanes_per_example_, lanes = count * pairs;
  const Block z = workspace.value(inputs_.z, lanes), state = workspace.value(inputs_.state, lanes),
              increment = workspace.value(inputs_.increment, lanes);
  const auto put = [](const auto& values, Block block, std::size_t lane) {
    for (std::size_t f = 0; f < block.features; ++f) block(f, lane) = values[f];
  };
  thread_local std::vector<float> s, t, u;
  s.resize(shape_.state);
  t.resize(shape_.increment);
  u.resize(map_.states());
  for (std::size_t i = 0; i < count; ++i) {
    map_.state(part.c(i), s);
    map_.increment(part.c(i), t);
    const std::size_t c_lane = noise_ ? 2 * i : i;
    put(s, state, c_lane);
    put(t, increment, c_lane);
    if (noise_) {
      stream.fill_normal(u);
      map_.statistics(u, t);
      put(s, state, c_lane + 1);
      put(t, increment, c_lane + 1);
      const Block real = workspace.value(real_, lanes);
      real(0, c_lane) = 1;
      real(0, c_lane + 1) = 0;
    }
    put(part.z(i), z, i * pairs);
    const std::size_t own = part.order[part.begin + i], rows = part.examples.size();
    for (std::size_t k = 1; k < pairs; ++k) {
      const std::size_t other = (own + 1 + stream.integer(rows - 1)) % rows;
      put(part.examples.z_of(other), z, i * pairs + k);
    }
  }
}

}  // namespace catena::train
