#include "catena/nn/batch_gradient.h"

#include <algorithm>

#include "catena/core/check.h"
#include "catena/core/ranks/bytes.h"
#include "catena/core/ranks/ranks.h"
#include "catena/nn/kernels/optimizer_kernels.h"

namespace catena::nn {

BatchGradient::BatchGradient(const Graph& graph, Value loss, std::size_t largest_batch, Parallel parallel,
                             std::size_t block_lanes)
    : graph_(&graph),
      loss_(loss),
      parallel_(std::move(parallel)),
      block_lanes_(block_lanes),
      stride_(graph.parameter_count()) {
  CATENA_ASSERT(graph.features(loss) == 1 && graph.node(loss).lanes == Lanes::each());
  CATENA_ASSERT(largest_batch > 0);
  Purpose purpose = Purpose::training();
  purpose.reverse_once = true;
  for (int i = 0; i < parallel_.threads(); ++i) workspaces_.emplace_back(graph, block_lanes, purpose);
  const std::size_t blocks = (largest_batch + block_lanes - 1) / block_lanes;
  block_gradients_.assign(blocks * stride_, 0.0F);
  block_losses_.assign(blocks, 0.0);
  gradient_.assign(stride_, 0.0F);
  parts_.reserve(blocks);
}

double BatchGradient::compute(std::span<const float> weights, std::size_t batch, const Fill& fill) {
  return run(weights, batch, fill, true);
}

double BatchGradient::loss(std::span<const float> weights, std::size_t batch, const Fill& fill) {
  return run(weights, batch, fill, false);
}

double BatchGradient::run(std::span<const float> weights, std::size_t batch, const Fill& fill, bool with_gradient) {
  CATENA_ASSERT(batch > 0 && (batch + block_lanes_ - 1) / block_lanes_ <= block_losses_.size());
  const std::size_t blocks = (batch + block_lanes_ - 1) / block_lanes_;
  const float seed = 1.0F / static_cast<float>(batch);
  Ranks& ranks = parallel_.ranks();
  const std::size_t first = ranks.mine(blocks).first, last = ranks.mine(blocks).second;
  parallel_.for_each(last - first, [&](std::size_t index) {
    const std::size_t block = first + index, begin = block * block_lanes_, end = std::min(batch, begin + block_lanes_);
    Workspace& workspace = workspaces_[static_cast<std::size_t>(Parallel::worker())];
    const std::size_t lanes = end - begin;
    fill(workspace, begin, end, block);
    workspace.forward(weights, lanes);
    const ConstBlock losses = workspace.value(loss_, lanes);
    double sum = 0;
    for (std::size_t l = 0; l < lanes; ++l) sum += losses.data[l];
    block_losses_[block] = sum;
    if (!with_gradient) return;
    const Block seeds = workspace.gradient(loss_, lanes);
    std::fill_n(seeds.data, lanes, seed);
    const std::span<float> gradient(block_gradients_.data() + block * stride_, stride_);
    workspace.reverse(weights, lanes, loss_, gradient);
  });
  if (ranks.shared()) share_blocks(blocks, with_gradient);
  double total = 0;
  for (std::size_t block = 0; block < blocks; ++block) total += block_losses_[block];
  if (with_gradient) {
    parts_.clear();
    for (std::size_t block = 0; block < blocks; ++block) parts_.push_back(block_gradients_.data() + block * stride_);
    // Wide networks: the sum is worth sharing; 64 Ki weights are some 10 µs of adding per block.
    parallel_.for_blocks(stride_, 1 << 16, [&](std::size_t begin, std::size_t end, std::size_t) {
      kernels::sum_parts(parts_, begin, end, gradient_.data());
    });
  }
  return total / static_cast<double>(batch);
}

void BatchGradient::share_blocks(std::size_t blocks, bool with_gradient) {
  Ranks& ranks = parallel_.ranks();
  const auto [first, last] = ranks.mine(blocks);
  BytesWriter mine;
  mine.put_all(std::span<const double>(block_losses_).subspan(first, last - first));
  if (with_gradient) {
    mine.put_all(std::span<const float>(block_gradients_).subspan(first * stride_, (last - first) * stride_));
  }
  const std::vector<std::string> all = ranks.all_gather(mine.take());
  for (int r = 0; r < ranks.size(); ++r) {
    if (r == ranks.rank()) continue;
    const auto [begin, end] = ranks.part(blocks, r);
    BytesReader bytes(all[static_cast<std::size_t>(r)]);
    bytes.get_all(std::span(block_losses_).subspan(begin, end - begin));
    if (with_gradient) bytes.get_all(std::span(block_gradients_).subspan(begin * stride_, (end - begin) * stride_));
  }
}

}  // namespace catena::nn
