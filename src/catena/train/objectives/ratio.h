/// FNRE's local estimator: classification of (z, c) against (z', c) with z' drawn independently of c. The state x^t is
/// proposed independently of θ, so that p(z, c)/(p(z) p(c)) = p(x^(t+1) | x^t, z)/p(x^(t+1) | x^t).
///
/// A separable network is compared with the z of the following lanes of its block: all pairs are one matrix product. A
/// joint network takes one lane for each pair, with z' from any row of the data. Losses with noise (ratio_loss.h) have
/// a second lane for each transition, with the same x^t, noise for an increment and z' from any row.
#pragma once

#include "catena/model/ratio/network.h"
#include "catena/train/objective.h"
#include "catena/train/objectives/ratio_loss.h"

namespace catena::train {

/// Lanes that can be compared: pairs of joint networks have to divide them.
inline constexpr int ratio_block_lanes = 128;

class RatioObjective final : public Objective {
 public:
  /// `loss` must not say auto or 0 any more. Losses with noise are for separable networks.
  RatioObjective(const model::RatioNetworkSettings& network, const RatioLossSettings& loss, model::RatioMap map,
                 std::size_t parameters);

  const nn::Graph& graph() const override { return graph_; }
  nn::Value loss() const override { return loss_; }
  std::size_t lanes_per_example() const override { return lanes_per_example_; }
  std::size_t block_lanes() const override { return ratio_block_lanes; }
  void fill(nn::Workspace& workspace, const BatchPart& part, Stream stream) const override;

 private:
  model::RatioMap map_;
  model::RatioShape shape_;
  bool noise_;
  std::size_t lanes_per_example_;
  nn::Graph graph_;
  model::RatioInputs inputs_;
  nn::Value real_, loss_;
};

}  // namespace catena::train
