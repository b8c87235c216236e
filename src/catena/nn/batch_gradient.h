/// The gradient of a batch's mean loss: the batch is cut into lane blocks, the blocks are shared among threads and
/// ranks, and their gradients are added in the order of the blocks, so that the result has the same bits for any number
/// of either. Ranks send each other the gradients of their blocks, not their sums, whose order would depend on how many
/// ranks there are.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "catena/core/parallel.h"
#include "catena/nn/execute.h"
#include "catena/nn/graph.h"

namespace catena::nn {

/// A network of some 50 units then stays within the second cache, and a batch of 1,000 is four blocks. Half as many
/// lanes take 3 % more time for it on one core, but go to eight cores. Candidates and ensembles are trained at the same
/// time and have use for more cores than four; one network alone has not.
inline constexpr std::size_t training_block_lanes = 256;

class BatchGradient {
 public:
  /// loss: one feature, one value per lane.
  BatchGradient(const Graph& graph, Value loss, std::size_t largest_batch, Parallel parallel,
                std::size_t block_lanes = training_block_lanes);

  /// Writes the inputs of samples [begin, end) of the batch into lanes 0 … end − begin − 1. `block` is a number for
  /// streams.
  using Fill = std::function<void(Workspace& workspace, std::size_t begin, std::size_t end, std::size_t block)>;

  /// Mean loss over the batch; its gradient with respect to the weights is left in gradient().
  double compute(std::span<const float> weights, std::size_t batch, const Fill& fill);
  /// Mean loss alone, for held-out data.
  double loss(std::span<const float> weights, std::size_t batch, const Fill& fill);

  std::span<const float> gradient() const { return gradient_; }

 private:
  double run(std::span<const float> weights, std::size_t batch, const Fill& fill, bool with_gradient);
  /// Every rank has made some of the blocks; then all have all of them.
  void share_blocks(std::size_t blocks, bool with_gradient);

  const Graph* graph_;
  Value loss_;
  Parallel parallel_;
  std::size_t block_lanes_;
  std::vector<Workspace> workspaces_;  // one per worker
  std::size_t stride_;                 // weights per block's gradient
  AlignedVector<float> block_gradients_;
  std::vector<const float*> parts_;
  std::vector<double> block_losses_;
  AlignedVector<float> gradient_;
};

}  // namespace catena::nn
