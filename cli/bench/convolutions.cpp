// The paper's embedding of a flow of 2 × 64 × 64 (model/frames/frame_network.h) beside the machine's peak, a block of
// frames as training has it. Floating-point operations are those of products with weights: 2 per multiply-add forward,
// three times that in training, without the gradient of the first layer's input, which nobody wants.

#include "bench/bench.h"
#include "catena/model/frames/frame_network.h"
#include "catena/nn/execute.h"
#include "catena/nn/layers.h"

namespace catena::cli {

void bench_convolutions(BenchContext& context) {
  constexpr std::size_t lanes = 64;
  const model::FrameShape shape{2, 64, 64};
  const model::FrameNetworkSettings settings;
  nn::Graph graph;
  const nn::Value frames = graph.input("frames", model::places_of(shape));
  const nn::Value loss = nn::sum_features(graph, model::record_frame_embedding(graph, settings, shape, frames));
  double first = 0;
  for (const nn::Node& node : graph.nodes()) {
    if (first == 0) first = node.flops;
  }
  const double forward = graph.forward_flops_per_lane() * lanes, training = 3 * forward - first * lanes;
  const auto weights = graph.initial_weights(Streams(1));
  AlignedVector<float> gradient(weights.size());
  nn::Workspace inference(graph, lanes, nn::Purpose::inference());
  nn::Workspace derivatives(graph, lanes, {.parameter_gradients = true, .reverse_once = true});
  Stream stream = Streams(1).stream("bench");
  AlignedVector<float> values(graph.features(frames) * lanes);
  stream.fill_normal(std::span<float>(values));
  const auto fill = [&](nn::Workspace& workspace) {
    const Block x = workspace.value(frames, lanes);
    for (std::size_t f = 0; f < x.features; ++f) std::copy_n(values.data() + f * lanes, lanes, x.feature(f));
  };
  const BesidePeak turns = context.beside_peak({[&] {
                                                  fill(inference);
                                                  inference.forward(weights, lanes);
                                                },
                                                [&] {
                                                  fill(derivatives);
                                                  derivatives.forward(weights, lanes);
                                                  const Block seed = derivatives.gradient(loss, lanes);
                                                  std::fill_n(seed.data, lanes, 1.0F);
                                                  derivatives.reverse(weights, lanes, loss, gradient);
                                                }});
  context.record("convolution_share.forward", turns.share(0, forward), "of peak",
                 "embedding of 64 frames of 2 × 64 × 64, one core, in matrix products");
  context.record("convolution_share.training", turns.share(1, training), "of peak", "the same, forward and backward");
  context.record("embeddings_per_s", lanes / median(turns[0].core), "1/s", "frames of 2 × 64 × 64, one core");
}

}  // namespace catena::cli
