// The paper's score network (5 × 50, GELU, layer norm, noise embedding; d = 4, n = 2) beside the machine's peak.
// Floating-point operations are those of the matrix products alone: 2 per weight forward, three times that with the
// backward pass.

#include <algorithm>

#include "bench.h"
#include "catena/nn/batch_gradient.h"
#include "catena/nn/conditional_network.h"
#include "catena/nn/layers.h"
#include "catena/nn/optimizer.h"
#include "catena/nn/products.h"

namespace catena::cli {

namespace {

constexpr std::size_t parameters = 4;
constexpr std::size_t conditions = 4;  // x^t and x^(t+1)
constexpr std::size_t batch = 1000;
constexpr std::size_t inference_lanes = 128;  // as in training; residual layers cut it to the first cache themselves

void fill_inputs(nn::Workspace& workspace, std::size_t lanes, std::size_t block) {
  Stream stream = Streams(1).stream("bench", block);
  for (const int input : workspace.graph().inputs()) {
    const Block x = workspace.value(nn::Value{input}, lanes);
    stream.fill_normal(std::span<float>(x.data, x.features * x.stride));
  }
}

double forward_seconds(BenchContext& context, const nn::Graph& graph) {
  nn::Workspace workspace(graph, inference_lanes, nn::Purpose::inference());
  fill_inputs(workspace, inference_lanes, 0);
  const auto weights = graph.initial_weights(Streams(1));
  return context.seconds_per_call([&] { workspace.forward(weights, inference_lanes); }) / inference_lanes;
}

double train_step_seconds(BenchContext& context, const nn::Graph& graph, nn::Value loss, int threads) {
  nn::BatchGradient gradient(graph, loss, batch, Parallel(threads));
  const nn::Optimizer optimizer(graph, {});
  nn::OptimizerState state = optimizer.init(graph.initial_weights(Streams(1)));
  const nn::BatchGradient::Fill fill = [](nn::Workspace& workspace, std::size_t begin, std::size_t end,
                                          std::size_t block) { fill_inputs(workspace, end - begin, block); };
  return context.seconds_per_call([&] {
    gradient.compute(state.weights, batch, fill);
    optimizer.step(state, gradient.gradient(), 1e-4);
  });
}

}  // namespace

void bench_networks(BenchContext& context) {
  nn::Graph graph;
  const nn::ConditionalNetwork network =
      nn::record_conditional_network(graph, {}, parameters, conditions, nn::Lanes::each());
  const double flops = graph.forward_flops_per_lane();
  const double peak = context.peak().gflops * 1e9;
  const double forward = forward_seconds(context, graph);
  context.record("score_forward_per_s", 1 / forward, "1/s", "forward evaluations of the score network, one core");
  context.record("score_forward_share", flops / forward / peak, "of peak", "the same, in matrix products");

  const nn::Value target = graph.input("target", parameters);
  const nn::Value error = nn::subtract(graph, network.output, target);
  const nn::Value loss = graph.apply("lane_dot", {error, error});
  const double train_flops = 3 * flops * batch;
  // One and two threads in turn, so that a neighbour's load falls on both.
  std::vector<double> one, two, ratios;
  for (int round = 0; round < 3; ++round) {
    one.push_back(train_step_seconds(context, graph, loss, 1));
    two.push_back(train_step_seconds(context, graph, loss, 2));
    ratios.push_back(one.back() / two.back());
  }
  for (auto* seconds : {&one, &two, &ratios}) std::ranges::sort(*seconds);
  context.record("train_step_ms", 1e3 * one[1], "ms", "forward, backward and AdamW at batch 1,000, one core");
  context.record("train_step_share", train_flops / one[1] / peak, "of peak", "the same, in matrix products");
  context.record("train_step_ms.threads2", 1e3 * two[1], "ms", "the same on two threads");
  context.record("train_step_share.threads2", train_flops / two[1] / (2 * peak), "of peak",
                 "the same, of two cores' peak");
  context.record("threads2_speedup", ratios[1], "×", "one thread's time over two threads'");
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
  const double peak = context.peak().gflops * 1e9;
  const auto share = [&](const auto& work) { return flops / context.seconds_per_call(work) / peak; };
  context.record("product_share.forward",
                 share([&] { nn::kernels::product({weights.data(), width, width, width, 1}, x, nullptr, {}, y); }),
                 "of peak", "W x, 50 × 50 times 50 × 128 lanes");
  context.record("product_share.transposed",
                 share([&] { nn::kernels::product({weights.data(), width, width, 1, width}, x, nullptr, {}, y); }),
                 "of peak", "Wᵀ g");
  context.record("product_share.outer", share([&] {
                   std::ranges::fill(weights, 0.0F);
                   nn::kernels::add_outer_product(x, y, weights.data());
                 }),
                 "of peak", "g xᵀ");
}

}  // namespace catena::cli
