/// What an embedding of states is trained with (model/frames/frame_network.h): a head that makes of the embeddings of
/// x^t and x^(t+1) a Gaussian of z, and −log N(z; μ, C⁻¹) as the loss. It is the regression of z, with its uncertainty,
/// that keeps what a transition says of z where the posterior is far narrower than any noise of score matching.
///
/// An example is a run of frames next to each other in the lanes. Each frame's embedding is computed once; that of the
/// next lane (nn/ops/next_lane.cpp) makes a pair of it. Lanes that no record leads on from have the weight 0. Where
/// shifted states say the same of the parameters, every look at an example is at another shift of its frames.
#pragma once

#include "catena/model/frames/frame_network.h"
#include "catena/train/objective.h"

namespace catena::train {

/// Frames of an example: a whole vector of lanes. Examples overlap by one, so that no pair is left out.
inline constexpr std::size_t frames_of_example = 16, pairs_of_example = frames_of_example - 1;

class FrameObjective final : public Objective {
 public:
  /// `joined_share`: of all lanes, those that count.
  FrameObjective(const model::FrameNetworkSettings& settings, const model::FrameShape& shape, std::size_t parameters,
                 double joined_share, const model::FrameShifts& shifts = {});

  const nn::Graph& graph() const override { return graph_; }
  nn::Value loss() const override { return loss_; }
  std::size_t lanes_per_example() const override { return frames_of_example; }
  std::size_t block_lanes() const override { return 4 * frames_of_example; }
  /// z of an example: d numbers and the weight, 0 or 1, for each of its pairs. c: its frames, as the network sees them.
  void fill(nn::Workspace& workspace, const BatchPart& part, Stream stream) const override;

 private:
  nn::Graph graph_;
  std::size_t parameters_;
  double weight_;
  model::FrameShape shape_;
  model::FrameShifts shifts_;
  nn::Value frames_, z_, counts_, loss_;
};

}  // namespace catena::train
