// A gated recurrent unit (Cho et al. 2014; docs/refs.bib: cho2014) over a series [time, 1, features]: from the state h
// to h', for every time,
//
//   r = σ(W_r x + U_r h + b_r)        z = σ(W_z x + U_z h + b_z)
//   n = tanh(W_n x + b_n + r ∘ u)     u = U_n h + c
//   h' = h + m (1 − z) ∘ (n − h)
//
// All states come out, [time, 1, units]. Inputs: the series; with `state` the state before it (else zero); with `mask`
// m [time, 1, 1], one number per lane and time (else 1). Where m is 0 the state stays: series of different lengths
// share a block, and the last state is that of each series' own end. Parameters: W, U (rows r, z, n), b, c. One time is
// a series too, so that a state that is carried from call to call gives what the whole series would, bit for bit.
//
// Times that no lane of the block has (m = 0 in all of them) cost a copy: lanes of like lengths stand together. At the
// first time without a state before it, h = 0 and the products with U are left out.
//
// The reverse pass goes back through the times; what it does at each stands in kernels/gru_kernels.h. No tangent.

#include "catena/nn/kernels/gru_kernels.h"

#include <algorithm>
#include <utility>

#include "catena/nn/kernels/kernels.h"
#include "catena/nn/ops/ops.h"

namespace catena::nn::ops {

namespace {

struct GruSizes {
  std::size_t times, features, units;
  bool state, mask;
};

void gru_shape(ShapeCall& call) {
  const bool state = call.attributes.at("state") != 0, mask = call.attributes.at("mask") != 0;
  expect("gru", call, 1 + std::size_t{state} + std::size_t{mask}, 4);
  const Shape series = call.inputs[0]->shape;
  check::equal("gru", "the series' size in the direction x", series.x, std::size_t{1});
  const std::size_t units = call.parameters[1]->cols;
  expect_parameter("gru", call.parameters[0], 3 * units, series.channels);
  expect_parameter("gru", call.parameters[1], 3 * units, units);
  expect_parameter("gru", call.parameters[2], 3 * units, 1);
  expect_parameter("gru", call.parameters[3], units, 1);
  if (state) expect_shape("gru", call.inputs[1], units);
  if (mask) expect_shape("gru", call.inputs.back(), {series.y, 1, 1});
  call.resolved.set(GruSizes{series.y, series.channels, units, state, mask});
  call.shape = {series.y, 1, units};
  call.saved_features = series.y * 4 * units;  // r, z, n, u of every time
  call.scratch_features = 6 * units;           // the same of one time, or their gradients; ∂L/∂h; zeros
  call.flops =
      static_cast<double>(series.y) * (product_flops(*call.parameters[0]) + product_flops(*call.parameters[1]));
}

/// The operands of one time.
struct GruTime {
  ConstBlock x, h, m;
  bool from_zero;  // h is zero

  /// `states` are the states that come out.
  GruTime(const GruSizes& s, const nn::Operands& call, ConstBlock states, std::size_t time)
      : x(rows(call.inputs[0], time * s.features, s.features)), from_zero(time == 0 && !s.state) {
    h = time > 0  ? rows(states, (time - 1) * s.units, s.units)
        : s.state ? call.inputs[1]
                  : ConstBlock(rows(call.scratch_rows, 5 * s.units, s.units));
    if (s.mask) m = rows(call.inputs.back(), time, 1);
  }
};

/// Whether any lane has this time.
bool has_time(const GruTime& now) {
  if (now.m.data == nullptr) return true;
  return std::any_of(now.m.data, now.m.data + now.m.lanes, [](float m) { return m != 0; });
}

/// U_r and U_z, and U_n: as they are, or transposed.
struct RecurrentWeights {
  kernels::Coefficients gates, candidate;

  static RecurrentWeights of(const float* u, std::size_t units) {
    return {{u, 2 * units, units, units, 1}, {u + 2 * units * units, units, units, units, 1}};
  }
  static RecurrentWeights transposed_of(const float* u, std::size_t units) {
    return {{u, units, 2 * units, 1, units}, {u + 2 * units * units, units, units, 1, units}};
  }
};

/// r, z, n and u of one time into `kept`, and h' into `out`.
void compute_time(const GruSizes& s, const nn::Operands& call, const GruTime& now, Block kept, Block out) {
  const std::size_t k = s.units;
  const auto u_of = RecurrentWeights::of(call.parameters[1], k);
  const Block all = rows(kept, 0, 3 * k), gates = rows(kept, 0, 2 * k), r = rows(kept, 0, k), z = rows(kept, k, k),
              n = rows(kept, 2 * k, k), u = rows(kept, 3 * k, k);
  kernels::product(matrix(call.parameters[0], *call.shapes[0]), now.x, call.parameters[2], {}, all);
  if (now.from_zero) {
    for (std::size_t f = 0; f < k; ++f) std::fill_n(u.feature(f), padded_lanes(u.lanes), call.parameters[3][f]);
  } else {
    kernels::product(u_of.gates, now.h, nullptr, gates, gates);
    kernels::product(u_of.candidate, now.h, call.parameters[3], {}, u);
  }
  kernels::activate(kernels::Activation::sigmoid, gates, {}, gates, {});
  kernels::multiply(r, u, out, false);  // h' will stand here
  kernels::activate(kernels::Activation::tanh, n, out, n, {});
  kernels::gru_state(now.h, z, n, now.m, out);
}

void gru_forward(const ForwardCall& call) {
  const auto& s = call.resolved.as<GruSizes>();
  const std::size_t k = s.units;
  if (!s.state) zero(rows(call.scratch_rows, 5 * k, k));
  for (std::size_t time = 0; time < s.times; ++time) {
    const GruTime now(s, call, call.output, time);
    const Block kept = call.derivatives ? rows(call.saved, time * 4 * k, 4 * k) : rows(call.scratch_rows, 0, 4 * k);
    const Block out = rows(call.output, time * k, k);
    if (has_time(now)) {
      compute_time(s, call, now, kept, out);
    } else {
      kernels::scale(1, now.h, out, false);
    }
  }
}

void gru_reverse(const ReverseCall& call) {
  const auto& s = call.resolved.as<GruSizes>();
  const std::size_t k = s.units;
  const auto back = RecurrentWeights::transposed_of(call.parameters[1], k);
  const Block gates = rows(call.scratch_rows, 0, 3 * k), both = rows(call.scratch_rows, 0, 2 * k),
              gu = rows(call.scratch_rows, 3 * k, k), gh = rows(call.scratch_rows, 4 * k, k);
  zero(gh);
  if (!s.state) zero(rows(call.scratch_rows, 5 * k, k));
  const Block gx = call.input_gradients[0], gm = s.mask ? call.input_gradients.back() : Block();
  const Block g_state = s.state ? call.input_gradients[1] : Block();
  float *gb = cleared_gradient(call, 2), *gc = cleared_gradient(call, 3);
  bool first_w = !call.accumulate_parameters[0], first_u = !call.accumulate_parameters[1];  // to be overwritten
  for (std::size_t time = s.times; time-- > 0;) {
    const GruTime now(s, call, call.output, time);
    const ConstBlock g_output = rows(call.output_gradient, time * k, k);
    const Block to_x = gx.data == nullptr ? Block() : rows(gx, time * s.features, s.features);
    const Block kept = rows(call.saved, time * 4 * k, 4 * k);
    if (!has_time(now)) {
      if (gm.data == nullptr) {
        kernels::scale(1, g_output, gh, true);
        if (to_x.data != nullptr && !call.accumulate[0]) zero(to_x);
        continue;
      }
      compute_time(s, call, now, kept, gu);  // m has a gradient also where it is zero
    }
    kernels::gru_reverse({rows(kept, 0, k), rows(kept, k, k), rows(kept, 2 * k, k), rows(kept, 3 * k, k), now.h, now.m,
                          g_output, gh, gates, gu, gm.data == nullptr ? Block() : rows(gm, time, 1),
                          s.mask && call.accumulate.back()});
    if (to_x.data != nullptr) {
      kernels::product(transposed(call.parameters[0], *call.shapes[0]), gates, nullptr,
                       present(to_x, call.accumulate[0]), to_x);
    }
    if (float* gw = call.parameter_gradients[0]) {
      kernels::outer_product(gates, now.x, gw, !std::exchange(first_w, false));
    }
    if (float* g = call.parameter_gradients[1]; g != nullptr && !now.from_zero) {
      const bool add = !std::exchange(first_u, false);
      kernels::outer_product(both, now.h, g, add);
      kernels::outer_product(gu, now.h, g + 2 * k * k, add);
    }
    if (gb != nullptr) kernels::add_row_sums(gates, gb);
    if (gc != nullptr) kernels::add_row_sums(gu, gc);
    if (time == 0 && g_state.data == nullptr) continue;
    kernels::product(back.gates, both, nullptr, gh, gh);
    kernels::product(back.candidate, gu, nullptr, gh, gh);
  }
  // A block of series of one transition each: the states before them are all zero.
  if (float* g = call.parameter_gradients[1]; g != nullptr && first_u) std::fill_n(g, call.shapes[1]->size(), 0.0F);
  if (float* gw = call.parameter_gradients[0]; gw != nullptr && first_w) std::fill_n(gw, call.shapes[0]->size(), 0.0F);
  if (g_state.data != nullptr) kernels::scale(1, gh, g_state, call.accumulate[1]);
}

}  // namespace

Operation gru() {
  return {"gru", "h' = h + m (1 − z) ∘ (n − h)", gru_shape, gru_forward, gru_reverse, nullptr, {"state", "mask"}};
}

}  // namespace catena::nn::ops
