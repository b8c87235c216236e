// The paper's score network (5 × 50, GELU, layer norm, noise embedding; d = 4, n = 2) beside the machine's peak.
// Floating-point operations are those of the matrix products alone: 2 per weight forward, three times that with the
// backward pass.

#include <algorithm>

#include "bench/bench.h"
#include "catena/model/score/conditional_network.h"
#include "catena/nn/batch_gradient.h"
#include "catena/nn/kernels/products.h"
#include "catena/nn/layers.h"
#include "catena/nn/optimizer.h"

namespace catena::cli {

namespace {

constexpr std::size_t score_parameters = 4;
constexpr std::size_t conditions = 4;  // x^t and x^(t+1)
constexpr std::size_t score_batch = 1000;
constexpr std::size_t inference_lanes = 128;  // as in compose/; residual layers cut it to the first cache themselves

/// Draws for all inputs of a network: what a training set would hold.
class Inputs {
 public:
  Inputs(const nn::Graph& graph, std::size_t lanes) {
    for (const int input : graph.inputs()) {
      nodes_.push_back({input});
      values_.emplace_back(graph.features({input}), lanes);
      const Block x = values_.back();
      Streams(1).stream("bench", nodes_.size()).fill_normal(std::span<float>(x.data, x.features * x.stride));
    }
  }

  /// Copies samples [begin, end) into the first lanes of a workspace.
  void copy(nn::Workspace& workspace, std::size_t begin, std::size_t end) const {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Block x = workspace.value(nodes_[i], end - begin);
      const ConstBlock from = values_[i];
      for (std::size_t f = 0; f < x.features; ++f) {
        std::copy(from.feature(f) + begin, from.feature(f) + end, x.feature(f));
      }
    }
  }

 private:
  std::vector<nn::Value> nodes_;
  std::vector<LaneBlock> values_;
};

/// Training of one network on so many threads: call it for a step.
class Training {
 public:
  Training(const nn::Graph& graph, nn::Value loss, const Inputs& inputs, int threads)
      : gradient_(graph, loss, score_batch, Parallel(threads)),
        optimizer_(graph, {}),
        state_(optimizer_.init(graph.initial_weights(Streams(1)))),
        fill_([&inputs](nn::Workspace& workspace, std::size_t begin, std::size_t end, std::size_t) {
          inputs.copy(workspace, begin, end);
        }) {}

  void step() {
    gradient_.compute(state_.weights, score_batch, fill_);
    optimizer_.step(state_, gradient_.gradient(), 1e-4);
  }

 private:
  nn::BatchGradient gradient_;
  nn::Optimizer optimizer_;
  nn::OptimizerState state_;
  nn::BatchGradient::Fill fill_;
};

}  // namespace

void bench_networks(BenchContext& context) {
  nn::Graph graph;
  const model::ConditionalNetwork network =
      model::record_conditional_network(graph, {}, score_parameters, conditions, nn::Lanes::each());
  const double flops = graph.forward_flops_per_lane();
  nn::Workspace workspace(graph, inference_lanes, nn::Purpose::inference());
  Inputs(graph, inference_lanes).copy(workspace, 0, inference_lanes);
  const auto weights = graph.initial_weights(Streams(1));

  nn::Graph with_loss = graph;
  const nn::Value target = with_loss.input("target", score_parameters);
  const nn::Value error = nn::subtract(with_loss, network.output, target);
  const nn::Value loss = with_loss.apply("lane_dot", {error, error});
  const Inputs inputs(with_loss, score_batch);
  Training one(with_loss, loss, inputs, 1), two(with_loss, loss, inputs, 2);
  const BesidePeak turns =
      context.beside_peak({[&] { workspace.forward(weights, inference_lanes); }, [&] { one.step(); }});

  context.record("peak_gflops.networks", 1e-9 * turns.peak(), "GFLOP/s", "one core's peak, in turn with the networks");
  context.record("score_forward_per_s", inference_lanes / median(turns[0].core), "1/s",
                 "forward evaluations of the score network, one core");
  context.record("score_forward_share", turns.share(0, flops * inference_lanes), "of peak",
                 "the same, in matrix products");
  const double train_flops = 3 * flops * score_batch;
  context.record("train_step_ms", 1e3 * median(turns[1].core), "ms",
                 "forward, backward and AdamW at batch 1,000, one core");
  context.record("train_step_share", turns.share(1, train_flops), "of peak", "the same, in matrix products");
  // Two threads need both cores, so what else runs there is counted against them (and not against one thread): the
  // fastest quarter of the rounds saw least of it, and on a busy machine the speed-up comes out too low, never too
  // high.
  const std::vector<Turns> threads = context.in_turn({[&] { one.step(); }, [&] { two.step(); }});
  const double wall_two = lower_quartile(threads[1].wall);
  context.record("train_step_ms.threads2", 1e3 * wall_two, "ms", "the same on two threads, lower quartile");
  context.record("train_step_share.threads2", train_flops / wall_two / (2 * turns.peak()), "of peak",
                 "the same, of two cores' peak");
  context.record("threads2_speedup", median(threads[0].core) / wall_two, "×",
                 "one thread's time on its core over two threads' time");
}

void bench_products(BenchContext& context) {
  constexpr std::size_t width = 50;
  constexpr std::size_t lanes = 128;
  LaneBlock x(width, lanes), y(width, lanes);
  Stream stream = Streams(1).stream("bench");
  for (LaneBlock* block : {&x, &y}) {
    const Block view = block->view();
    stream.fill_normal(std::span<float>(view.data, view.features * view.stride));
  }
  AlignedVector<float> weights(width * width, 0.01F);
  const double flops = 2.0 * width * width * lanes;
  const BesidePeak turns =
      context.beside_peak({[&] { nn::kernels::product({weights.data(), width, width, width, 1}, x, nullptr, {}, y); },
                           [&] { nn::kernels::product({weights.data(), width, width, 1, width}, x, nullptr, {}, y); },
                           [&] { nn::kernels::outer_product(x, y, weights.data(), false); }});
  context.record("product_share.forward", turns.share(0, flops), "of peak", "W x, 50 × 50 times 50 × 128 lanes");
  context.record("product_share.transposed", turns.share(1, flops), "of peak", "Wᵀ g");
  context.record("product_share.outer", turns.share(2, flops), "of peak", "g xᵀ");
}

}  // namespace catena::cli
