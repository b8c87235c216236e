// Products within each lane: dot products and matrix–vector products whose matrix differs from lane to lane.

#include "catena/nn/kernels/kernels.h"
#include "catena/nn/ops/ops.h"

namespace catena::nn::ops {

namespace {

// z = Σ_f x_f y_f

void dot_shape(ShapeCall& call) {
  expect("lane_dot", call, 2, 0);
  expect_features("lane_dot", call.inputs[1], call.inputs[0]->features());
  call.shape = 1;
}
void dot_forward(const ForwardCall& call) { kernels::dot_features(call.inputs[0], call.inputs[1], call.output, false); }
void dot_reverse(const ReverseCall& call) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (call.input_gradients[i].data != nullptr) {
      kernels::scale_lanes(call.output_gradient, call.inputs[1 - i], call.input_gradients[i], call.accumulate[i]);
    }
  }
}
void dot_tangent(const TangentCall& call) {
  bool accumulate = false;
  for (std::size_t i = 0; i < 2; ++i) {
    if (call.input_tangents[i].data == nullptr) continue;
    kernels::dot_features(call.input_tangents[i], call.inputs[1 - i], call.output_tangent, accumulate);
    accumulate = true;
  }
}

// y_i = Σ_j A_ij v_j: A is given by its rows, so that feature i·k + j of the first input is A_ij

void matvec_shape(ShapeCall& call) {
  expect("lane_matvec", call, 2, 0);
  const std::size_t cols = call.inputs[1]->features();
  check::that(call.inputs[0]->features() % cols == 0, "lane_matvec", "the matrix's number of features",
              call.inputs[0]->features(), fmt::format("a multiple of {}, the vector's", cols));
  call.shape = call.inputs[0]->features() / cols;
}
void matvec_forward(const ForwardCall& call) {
  const std::size_t cols = call.inputs[1].features;
  for (std::size_t i = 0; i < call.output.features; ++i) {
    kernels::dot_features(rows(call.inputs[0], i * cols, cols), call.inputs[1], rows(call.output, i, 1), false);
  }
}
void matvec_reverse(const ReverseCall& call) {
  const std::size_t cols = call.inputs[1].features;
  for (std::size_t i = 0; i < call.output.features; ++i) {
    const ConstBlock g = rows(call.output_gradient, i, 1);
    if (call.input_gradients[0].data != nullptr) {
      kernels::scale_lanes(g, call.inputs[1], rows(call.input_gradients[0], i * cols, cols), call.accumulate[0]);
    }
    if (call.input_gradients[1].data != nullptr) {
      kernels::scale_lanes(g, rows(call.inputs[0], i * cols, cols), call.input_gradients[1],
                           call.accumulate[1] || i > 0);
    }
  }
}
void matvec_tangent(const TangentCall& call) {
  const std::size_t cols = call.inputs[1].features;
  const bool moves_matrix = call.input_tangents[0].data != nullptr;
  for (std::size_t i = 0; i < call.output.features; ++i) {
    const Block out = rows(call.output_tangent, i, 1);
    if (moves_matrix) kernels::dot_features(rows(call.input_tangents[0], i * cols, cols), call.inputs[1], out, false);
    if (call.input_tangents[1].data != nullptr) {
      kernels::dot_features(rows(call.inputs[0], i * cols, cols), call.input_tangents[1], out, moves_matrix);
    }
  }
}

}  // namespace

Operation lane_dot() { return {"lane_dot", "z = Σ_f x_f y_f", dot_shape, dot_forward, dot_reverse, dot_tangent}; }
Operation lane_matvec() {
  return {"lane_matvec", "y_i = Σ_j A_ij v_j", matvec_shape, matvec_forward, matvec_reverse, matvec_tangent};
}

}  // namespace catena::nn::ops
