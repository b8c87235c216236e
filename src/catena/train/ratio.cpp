#include "catena/train/ratio.h"

#include <vector>

#include "catena/nn/layers.h"

namespace catena::train {

RatioObjective::RatioObjective(const RatioNetworkSettings& network, const RatioLossSettings& loss, RatioMap map,
                               std::size_t parameters)
    : map_(std::move(map)),
      shape_(map_.shape(parameters)),
      lanes_per_example_(network.separable() ? 1 : static_cast<std::size_t>(loss.atoms)) {
  check_config("train", network);
  check_config("train", loss);
  // With a lane for each pair, one transition is shared by a group of lanes.
  const nn::Lanes c_lanes = nn::Lanes::grouped(lanes_per_example_);
  inputs_.z = graph_.input("z", shape_.parameters);
  inputs_.state = graph_.input("state", shape_.state, c_lanes);
  inputs_.increment = graph_.input("increment", shape_.increment, c_lanes);
  nn::Value ratios;
  if (network.separable()) {
    const nn::Value phi = record_coefficients(graph_, network, inputs_.z);
    const nn::Value psi = record_summary(graph_, network, inputs_.state, inputs_.increment);
    ratios = graph_.apply("lane_pairs", {phi, psi}, {}, {static_cast<double>(loss.atoms)});
  } else {
    ratios =
        graph_.apply("unfold_lanes", {record_joint(graph_, network, inputs_)}, {}, {static_cast<double>(loss.atoms)});
  }
  loss_ = nn::repeat(graph_, ratio_losses().at("train", loss.loss).record(graph_, loss, ratios));
}

void RatioObjective::fill(nn::Workspace& workspace, const BatchPart& part, Stream stream) const {
  const std::size_t count = part.count(), pairs = lanes_per_example_, lanes = count * pairs;
  const Block z = workspace.value(inputs_.z, lanes), state = workspace.value(inputs_.state, lanes),
              increment = workspace.value(inputs_.increment, lanes);
  const auto put = [](const auto& values, Block block, std::size_t lane) {
    for (std::size_t f = 0; f < block.features; ++f) block(f, lane) = values[f];
  };
  thread_local std::vector<float> s, t;
  s.resize(shape_.state);
  t.resize(shape_.increment);
  for (std::size_t i = 0; i < count; ++i) {
    map_.state(part.c(i), s);
    map_.increment(part.c(i), t);
    put(s, state, i);
    put(t, increment, i);
    put(part.z(i), z, i * pairs);
    const std::size_t own = part.order[part.begin + i], rows = part.examples.size();
    for (std::size_t k = 1; k < pairs; ++k) {
      const std::size_t other = (own + 1 + stream.integer(rows - 1)) % rows;
      put(part.examples.z_of(other), z, i * pairs + k);
    }
  }
}

}  // namespace catena::train
