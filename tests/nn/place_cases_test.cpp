// The slow twins of the operations over places and series; see operation_cases.h.

#include "nn/operation_cases.h"

namespace catena::nn::testing {
namespace place_cases_test {

namespace {

ZBlock zeros(std::size_t features, std::size_t lanes) { return ZBlock(features, std::vector<Z>(lanes)); }

ParameterInfo weights(std::size_t rows, std::size_t cols) {
  return {.name = "w", .rows = rows, .cols = cols, .init = Init::standard_normal};
}

OperationCase conv2d_case(Shape in, std::size_t kernel_y, std::size_t kernel_x, std::size_t stride,
                          std::size_t channels, bool bias) {
  std::vector<ParameterInfo> parameters{weights(channels, kernel_y * kernel_x * in.channels)};
  if (bias) parameters.push_back(weights(channels, 1));
  const auto twin = [=](const Operands& o) {
    const Shape out((in.y - kernel_y) / stride + 1, (in.x - kernel_x) / stride + 1, channels);
    ZBlock result = zeros(out.size(), o.lanes);
    for (std::size_t y = 0; y < out.y; ++y) {
      for (std::size_t x = 0; x < out.x; ++x) {
        for (std::size_t c = 0; c < channels; ++c) {
          for (std::size_t l = 0; l < o.lanes; ++l) {
            Z sum = bias ? o.parameters[1][c] : 0;
            for (std::size_t j = 0; j < kernel_y; ++j) {
              for (std::size_t i = 0; i < kernel_x; ++i) {
                for (std::size_t k = 0; k < in.channels; ++k) {
                  sum += o.parameters[0][((c * kernel_y + j) * kernel_x + i) * in.channels + k] *
                         o.inputs[0][((y * stride + j) * in.x + x * stride + i) * in.channels + k][l];
                }
              }
            }
            result[(y * out.x + x) * channels + c][l] = sum;
          }
        }
      }
    }
    return result;
  };
  return {"conv2d", {{in}}, parameters, {{"kernel_y", kernel_y}, {"kernel_x", kernel_x}, {"stride", stride}}, twin};
}

OperationCase group_norm_case(Shape shape, std::size_t groups) {
  const auto twin = [=](const Operands& o) {
    ZBlock y = o.inputs[0];
    const std::size_t width = shape.channels / groups;
    const auto n = static_cast<double>(width * shape.places());
    for (std::size_t l = 0; l < o.lanes; ++l) {
      for (std::size_t g = 0; g < groups; ++g) {
        Z mean = 0, variance = 0;
        const auto for_members = [&](const auto& body) {
          for (std::size_t p = 0; p < shape.places(); ++p) {
            for (std::size_t c = g * width; c < (g + 1) * width; ++c) body(p * shape.channels + c, c);
          }
        };
        const ZBlock& x = o.inputs[0];
        for_members([&](std::size_t f, std::size_t) { mean += x[f][l] / n; });
        for_members([&](std::size_t f, std::size_t) { variance += (x[f][l] - mean) * (x[f][l] - mean) / n; });
        for_members([&](std::size_t f, std::size_t c) {
          y[f][l] = o.parameters[0][c] * (x[f][l] - mean) / std::sqrt(variance + 1e-6) + o.parameters[1][c];
        });
      }
    }
    return y;
  };
  return {
      "group_norm", {{shape}}, {weights(shape.channels, 1), weights(shape.channels, 1)}, {{"groups", groups}}, twin};
}

/// One lane at a time, one unit at a time, as the formulas of ops/gru.cpp are written.
OperationCase gru_case(std::size_t times, std::size_t features, std::size_t units, bool state, bool mask) {
  std::vector<InputShape> inputs{{Shape(times, 1, features)}};
  if (state) inputs.push_back({units});
  if (mask) inputs.push_back({Shape(times, 1, 1)});
  const auto twin = [=](const Operands& o) {
    ZBlock out = zeros(times * units, o.lanes);
    const auto logistic = [](Z x) { return 1.0 / (1.0 + std::exp(-x)); };
    for (std::size_t l = 0; l < o.lanes; ++l) {
      std::vector<Z> h(units);
      for (std::size_t i = 0; i < units && state; ++i) h[i] = o.inputs[1][i][l];
      for (std::size_t t = 0; t < times; ++t) {
        const auto from_x = [&](std::size_t row) {
          Z sum = o.parameters[2][row];
          for (std::size_t k = 0; k < features; ++k) {
            sum += o.parameters[0][row * features + k] * o.inputs[0][t * features + k][l];
          }
          return sum;
        };
        const auto from_h = [&](std::size_t row) {
          Z sum = 0;
          for (std::size_t k = 0; k < units; ++k) sum += o.parameters[1][row * units + k] * h[k];
          return sum;
        };
        std::vector<Z> next(units);
        for (std::size_t i = 0; i < units; ++i) {
          const Z r = logistic(from_x(i) + from_h(i)), z = logistic(from_x(units + i) + from_h(units + i));
          const Z n = std::tanh(from_x(2 * units + i) + r * (from_h(2 * units + i) + o.parameters[3][i]));
          const Z m = mask ? o.inputs.back()[t][l] : 1;
          next[i] = m * ((1.0 - z) * n + z * h[i]) + (1.0 - m) * h[i];
        }
        h = next;
        for (std::size_t i = 0; i < units; ++i) out[t * units + i][l] = h[i];
      }
    }
    return out;
  };
  return {"gru",
          inputs,
          {weights(3 * units, features), weights(3 * units, units), weights(3 * units, 1), weights(units, 1)},
          {{"state", state}, {"mask", mask}},
          twin};
}

OperationCase sum_places_case(Shape shape, bool mask) {
  std::vector<InputShape> inputs{{shape}};
  if (mask) inputs.push_back({Shape(shape.y, shape.x, 1)});
  return {"sum_places", inputs, {}, {}, [=](const Operands& o) {
            ZBlock y = zeros(shape.channels, o.lanes);
            for (std::size_t p = 0; p < shape.places(); ++p) {
              for (std::size_t c = 0; c < shape.channels; ++c) {
                for (std::size_t l = 0; l < o.lanes; ++l) {
                  y[c][l] += (mask ? o.inputs[1][p][l] : 1.0) * o.inputs[0][p * shape.channels + c][l];
                }
              }
            }
            return y;
          }};
}

}  // namespace
}  // namespace place_cases_test

std::vector<OperationCase> place_cases() {
  using namespace place_cases_test;
  return {
      conv2d_case({4, 5, 2}, 2, 3, 2, 3, true),   // the stride leaves the last row out
      conv2d_case({3, 4, 1}, 2, 2, 1, 2, false),  // windows overlap
      conv2d_case({3, 4, 12}, 2, 3, 1, 2, true),  // rows of windows that are long enough for products of their own
      conv2d_case({6, 1, 3}, 3, 1, 2, 18, true),  // a series: rows of the window follow each other
      group_norm_case({2, 3, 4}, 2),
      group_norm_case({3, 1, 2}, 1),
      gru_case(1, 2, 3, false, false),
      gru_case(3, 2, 4, true, true),
      gru_case(2, 3, 2, true, false),
      gru_case(3, 1, 3, false, true),
      sum_places_case({2, 2, 3}, false),
      sum_places_case({3, 1, 2}, true),
  };
}

}  // namespace catena::nn::testing
