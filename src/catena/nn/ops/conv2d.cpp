// Convolution over the places of [y, x, channels], without padding: with a window of K_y × K_x places and stride s,
//
//   out[y, x, o] = b_o + Σ_{j<K_y} Σ_{i<K_x} Σ_c W[o, j, i, c] in[s y + j, s x + i, c].
//
// A row of the window, K_x places of all channels, is one piece of memory. So the sum over i and c is a dense layer's
// product, and only the sum over j is a sum of products; nothing is copied to make a larger one (no im2col). Where the
// window is as wide as the input, as for a series, its rows follow each other and are one product. Where rows are
// short, as those of the few channels of a picture, products of them spend their time on sums that they load and store:
// the rows of one window are then put one after the other, into memory that stays in the first cache.

#include <algorithm>

#include "catena/nn/ops/ops.h"

#include "catena/nn/kernels/kernels.h"

namespace catena::nn::ops {

namespace {

struct Convolution {
  Shape in, out;
  std::size_t stride;
  std::size_t pieces, piece;  // of a window: how many, and the features of each
  bool gathered;              // rows are put one after the other first: one piece
};

constexpr std::size_t short_row = 32;  // features: with more, a product spends little on its sums

std::size_t positive_size(std::string_view operation, const ShapeCall& call, std::string_view attribute) {
  check::at_least(operation, attribute, call.attributes.at(attribute), 1.0);
  return call.attributes.size_at(attribute);
}

void conv2d_shape(ShapeCall& call) {
  expect("conv2d", call, 1, call.parameters.size() == 1 ? 1 : 2);
  const Shape in = call.inputs[0]->shape;
  const std::size_t kernel_y = positive_size("conv2d", call, "kernel_y"),
                    kernel_x = positive_size("conv2d", call, "kernel_x"),
                    stride = positive_size("conv2d", call, "stride");
  check::that(kernel_y <= in.y && kernel_x <= in.x, "conv2d", "the window", fmt::format("{} × {}", kernel_y, kernel_x),
              fmt::format("within the input's {} × {} places", in.y, in.x));
  const ParameterInfo* weights = call.parameters[0];
  expect_parameter("conv2d", weights, weights->rows, kernel_y * kernel_x * in.channels);
  if (call.parameters.size() == 2) expect_parameter("conv2d", call.parameters[1], weights->rows, 1);
  call.shape = {(in.y - kernel_y) / stride + 1, (in.x - kernel_x) / stride + 1, weights->rows};
  const std::size_t pieces = kernel_x == in.x ? 1 : kernel_y;
  const std::size_t piece = weights->cols / pieces;
  const bool gathered = pieces > 1 && piece <= short_row;
  call.resolved.set(Convolution{in, call.shape, stride, pieces, piece, gathered});
  if (gathered) call.scratch_features = weights->cols;
  call.flops = product_flops(*weights) * static_cast<double>(call.shape.places());
}

/// Calls body(first feature of a place of the output, piece of the window, that piece's first feature of the input).
template <class Body>
void for_pieces_of_windows(const Convolution& c, const Body& body) {
  for (std::size_t y = 0; y < c.out.y; ++y) {
    for (std::size_t x = 0; x < c.out.x; ++x) {
      for (std::size_t j = 0; j < c.pieces; ++j) {
        body((y * c.out.x + x) * c.out.channels, j, ((y * c.stride + j) * c.in.x + x * c.stride) * c.in.channels);
      }
    }
  }
}

kernels::Coefficients piece_of(const Convolution& c, const float* weights, std::size_t j) {
  return {weights + j * c.piece, c.out.channels, c.piece, c.pieces * c.piece, 1};
}
kernels::Coefficients piece_transposed(const Convolution& c, const float* weights, std::size_t j) {
  return {weights + j * c.piece, c.piece, c.out.channels, 1, c.pieces * c.piece};
}

/// Calls body(first feature of a place of the output, its window) with the rows of the window in `to`.
template <class Body>
void for_gathered_windows(const Convolution& c, ConstBlock in, Block to, const Body& body) {
  for (std::size_t y = 0; y < c.out.y; ++y) {
    for (std::size_t x = 0; x < c.out.x; ++x) {
      for (std::size_t j = 0; j < c.pieces; ++j) {
        const std::size_t from = ((y * c.stride + j) * c.in.x + x * c.stride) * c.in.channels;
        for (std::size_t f = 0; f < c.piece; ++f) {
          std::copy_n(in.feature(from + f), padded_lanes(in.lanes), to.feature(j * c.piece + f));
        }
      }
      body((y * c.out.x + x) * c.out.channels, ConstBlock(to.data, to.features, in.lanes, to.stride));
    }
  }
}

void convolve(const Convolution& c, const float* weights, const float* bias, ConstBlock in, Block scratch, Block out) {
  if (c.gathered) {
    const std::size_t features = c.pieces * c.piece;
    for_gathered_windows(c, in, scratch, [&](std::size_t to, const ConstBlock& window) {
      kernels::product({weights, c.out.channels, features, features, 1}, window, bias, {},
                       rows(out, to, c.out.channels));
    });
    return;
  }
  for_pieces_of_windows(c, [&](std::size_t to, std::size_t j, std::size_t from) {
    const Block y = rows(out, to, c.out.channels);
    kernels::product(piece_of(c, weights, j), rows(in, from, c.piece), j == 0 ? bias : nullptr, present(y, j > 0), y);
  });
}

void conv2d_forward(const ForwardCall& call) {
  const float* bias = call.parameters.size() == 2 ? call.parameters[1] : nullptr;
  convolve(call.resolved.as<Convolution>(), call.parameters[0], bias, call.inputs[0], call.scratch_rows, call.output);
}

void conv2d_reverse(const ReverseCall& call) {
  const auto& c = call.resolved.as<Convolution>();
  const Block gx = call.input_gradients[0];
  float* gw = call.parameter_gradients[0];
  float* gb = call.parameters.size() == 2 ? cleared_gradient(call, 1) : nullptr;
  if (gx.data != nullptr && !call.accumulate[0]) zero(gx);  // windows overlap, and a stride may leave places out
  if (gw != nullptr && c.gathered) {
    for_gathered_windows(c, call.inputs[0], call.scratch_rows, [&](std::size_t to, const ConstBlock& window) {
      kernels::outer_product(rows(call.output_gradient, to, c.out.channels), window, gw, c.pieces * c.piece,
                             call.accumulate_parameters[0] || to > 0);
    });
  }
  for_pieces_of_windows(c, [&](std::size_t to, std::size_t j, std::size_t from) {
    const ConstBlock gy = rows(call.output_gradient, to, c.out.channels);
    if (gx.data != nullptr) {
      const Block part = rows(gx, from, c.piece);
      kernels::product(piece_transposed(c, call.parameters[0], j), gy, nullptr, part, part);
    }
    if (gw != nullptr && !c.gathered) {
      kernels::outer_product(gy, rows(call.inputs[0], from, c.piece), gw + j * c.piece, c.pieces * c.piece,
                             call.accumulate_parameters[0] || to > 0);
    }
    if (gb != nullptr && j == 0) kernels::add_row_sums(gy, gb);
  });
}

void conv2d_tangent(const TangentCall& call) {
  convolve(call.resolved.as<Convolution>(), call.parameters[0], nullptr, call.input_tangents[0], call.scratch_rows,
           call.output_tangent);
}

}  // namespace

Operation conv2d() {
  return {"conv2d",
          "out[y, x, o] = b_o + Σ_jic W[o, j, i, c] in[s y + j, s x + i, c]",
          conv2d_shape,
          conv2d_forward,
          conv2d_reverse,
          conv2d_tangent,
          {"kernel_y", "kernel_x", "stride"}};
}

}  // namespace catena::nn::ops
