// The steps of solver.h, a row at a time: differences along x are between rows, those along y between vectors that are
// loaded one value apart.

#include "catena/tasks/kolmogorov_flow/inner_step.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "catena/tasks/kolmogorov_flow/inner_step.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace catena::tasks::kolmogorov_flow::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
// No wider than half the shortest side.
using Float = hn::CappedTag<float, 16>;
using FloatV = hn::Vec<Float>;

HWY_INLINE FloatV at(const float* from) { return hn::LoadU(Float(), from); }

/// F through the face between `here` and `next`, with the neighbours on both sides.
HWY_INLINE FloatV flux(FloatV a, FloatV courant, FloatV before, FloatV here, FloatV next, FloatV after) {
  const Float d;
  const auto forward = hn::Gt(a, hn::Zero(d));
  const FloatV difference = hn::Sub(next, here);
  const FloatV upwind = hn::IfThenElse(forward, hn::Sub(here, before), hn::Sub(after, next));
  const FloatV product = hn::Mul(upwind, difference);
  const FloatV limited =  // φ/2
      hn::IfThenElseZero(hn::Gt(product, hn::Zero(d)), hn::Div(product, hn::Add(upwind, difference)));
  const FloatV side = hn::IfThenElse(forward, hn::Set(d, 1.0F), hn::Set(d, -1.0F));
  const FloatV base = hn::IfThenElse(forward, here, next);
  return hn::Mul(a, hn::MulAdd(hn::NegMulAdd(courant, a, side), limited, base));
}

HWY_INLINE FloatV mean(FloatV a, FloatV b) { return hn::Mul(hn::Set(Float(), 0.5F), hn::Add(a, b)); }

/// Rows i − 1, i, i + 1 and i + 2 of a component.
struct Rows {
  Rows(const Field& field, std::size_t i, std::size_t n)
      : before(field.row((i + n - 1) % n)),
        here(field.row(i)),
        next(field.row((i + 1) % n)),
        after(field.row((i + 2) % n)) {}
  const float *before, *here, *next, *after;
};

/// F through the faces between rows i and i + 1.
HWY_INLINE FloatV flux_along_x(const Rows& c, FloatV a, FloatV courant, std::size_t j) {
  return flux(a, courant, at(c.before + j), at(c.here + j), at(c.next + j), at(c.after + j));
}
/// Through those between j and j + 1 of a row.
HWY_INLINE FloatV flux_along_y(const float* c, FloatV a, FloatV courant, std::size_t j) {
  return flux(a, courant, at(c + j - 1), at(c + j), at(c + j + 1), at(c + j + 2));
}

/// c* without the force.
HWY_INLINE FloatV moved(const Rows& c, FloatV outflow, const StepCoefficients& k, std::size_t j) {
  const Float d;
  const FloatV here = at(c.here + j);
  const FloatV sides =
      hn::Add(hn::Add(at(c.before + j), at(c.next + j)), hn::Add(at(c.here + j - 1), at(c.here + j + 1)));
  const FloatV laplacian = hn::NegMulAdd(hn::Set(d, 4.0F), here, sides);
  FloatV change = hn::Mul(hn::Set(d, k.diffusion), laplacian);
  change = hn::NegMulAdd(hn::Set(d, k.courant), outflow, change);
  change = hn::NegMulAdd(hn::Set(d, k.decay), here, change);
  return hn::Add(here, change);
}

void Advance(const StepCoefficients& k, const float* force, Flow& flow) {
  const Float d;
  const std::size_t n = flow.n, width = hn::Lanes(d), stride = flow.u.stride;
  const FloatV courant = hn::Set(d, k.courant), push = hn::Set(d, k.push);
  float* u_along_x = flow.fluxes.data() + row_margin;  // of the row before, then of this one
  float *v_along_x = u_along_x + stride, *u_along_y = v_along_x + stride, *v_along_y = u_along_y + stride;
  const Rows u_last(flow.u, n - 1, n), v_last(flow.v, n - 1, n);
  for (std::size_t j = 0; j < n; j += width) {
    const FloatV u = at(u_last.here + j);
    hn::StoreU(flux_along_x(u_last, mean(u, at(u_last.next + j)), courant, j), d, u_along_x + j);
    hn::StoreU(flux_along_x(v_last, mean(u, at(u_last.here + j + 1)), courant, j), d, v_along_x + j);
  }
  for (std::size_t i = 0; i < n; ++i) {
    const Rows u(flow.u, i, n), v(flow.v, i, n);
    for (std::size_t j = 0; j < n; j += width) {
      const FloatV v_here = at(v.here + j);
      hn::StoreU(flux_along_y(u.here, mean(v_here, at(v.next + j)), courant, j), d, u_along_y + j);
      hn::StoreU(flux_along_y(v.here, mean(v_here, at(v.here + j + 1)), courant, j), d, v_along_y + j);
    }
    u_along_y[-1] = u_along_y[n - 1];
    v_along_y[-1] = v_along_y[n - 1];
    float *u_star = flow.u_star.row(i), *v_star = flow.v_star.row(i);
    for (std::size_t j = 0; j < n; j += width) {
      const FloatV u_here = at(u.here + j);
      const FloatV through_u = flux_along_x(u, mean(u_here, at(u.next + j)), courant, j);
      const FloatV through_v = flux_along_x(v, mean(u_here, at(u.here + j + 1)), courant, j);
      const FloatV out_of_u =
          hn::Add(hn::Sub(through_u, at(u_along_x + j)), hn::Sub(at(u_along_y + j), at(u_along_y + j - 1)));
      const FloatV out_of_v =
          hn::Add(hn::Sub(through_v, at(v_along_x + j)), hn::Sub(at(v_along_y + j), at(v_along_y + j - 1)));
      hn::StoreU(through_u, d, u_along_x + j);
      hn::StoreU(through_v, d, v_along_x + j);
      hn::StoreU(hn::MulAdd(push, at(force + j), moved(u, out_of_u, k, j)), d, u_star + j);
      hn::StoreU(moved(v, out_of_v, k, j), d, v_star + j);
    }
    fill_margins(v_star, n);
  }
}

void TakeDivergence(Flow& flow) {
  const std::size_t n = flow.n, width = hn::Lanes(Float());
  for (std::size_t i = 0; i < n; ++i) {
    const float *u = flow.u_star.row(i), *before = flow.u_star.row((i + n - 1) % n), *v = flow.v_star.row(i);
    float* q = flow.q.row(i);
    for (std::size_t j = 0; j < n; j += width) {
      const FloatV along_x = hn::Sub(at(u + j), at(before + j)), along_y = hn::Sub(at(v + j), at(v + j - 1));
      hn::StoreU(hn::Add(along_x, along_y), Float(), q + j);
    }
  }
}

void PairRows(std::size_t n, Field& field) {
  const std::size_t width = hn::Lanes(Float());
  for (std::size_t i = 0; i < n / 2; ++i) {
    float *one = field.row(i), *other = field.row(n - 1 - i);
    for (std::size_t j = 0; j < n; j += width) {
      const FloatV a = at(one + j), b = at(other + j);
      hn::StoreU(hn::Add(a, b), Float(), one + j);
      hn::StoreU(hn::Sub(a, b), Float(), other + j);
    }
  }
}

void PairColumns(std::size_t n, Field& field) {
  const std::size_t width = hn::Lanes(Float());
  for (std::size_t i = 0; i < n; ++i) {
    float* row = field.row(i);
    for (std::size_t j = 0; j < n / 2; j += width) {
      float* other = row + n - width - j;
      const FloatV a = at(row + j), b = hn::Reverse(Float(), at(other));
      hn::StoreU(hn::Add(a, b), Float(), row + j);
      hn::StoreU(hn::Reverse(Float(), hn::Sub(a, b)), Float(), other);
    }
  }
}

void Multiply(const float* m, std::size_t n, Field& field) {
  const std::size_t width = hn::Lanes(Float());
  for (std::size_t i = 0; i < n; ++i) {
    float* row = field.row(i);
    for (std::size_t j = 0; j < n; j += width) hn::StoreU(hn::Mul(at(row + j), at(m + i * n + j)), Float(), row + j);
  }
}

void SubtractGradient(Flow& flow) {
  const std::size_t n = flow.n, width = hn::Lanes(Float());
  for (std::size_t i = 0; i < n; ++i) {
    float* q = flow.q.row(i);
    fill_margins(q, n);
    const float *next = flow.q.row((i + 1) % n), *u_star = flow.u_star.row(i), *v_star = flow.v_star.row(i);
    float *u = flow.u.row(i), *v = flow.v.row(i);
    for (std::size_t j = 0; j < n; j += width) {
      const FloatV here = at(q + j);
      hn::StoreU(hn::Sub(at(u_star + j), hn::Sub(at(next + j), here)), Float(), u + j);
      hn::StoreU(hn::Sub(at(v_star + j), hn::Sub(at(q + j + 1), here)), Float(), v + j);
    }
    fill_margins(u, n);
    fill_margins(v, n);
  }
}

}  // namespace catena::tasks::kolmogorov_flow::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace catena::tasks::kolmogorov_flow {

HWY_EXPORT(Advance);
HWY_EXPORT(TakeDivergence);
HWY_EXPORT(PairRows);
HWY_EXPORT(PairColumns);
HWY_EXPORT(Multiply);
HWY_EXPORT(SubtractGradient);

void advance(const StepCoefficients& coefficients, const float* force, Flow& flow) {
  HWY_DYNAMIC_DISPATCH(Advance)(coefficients, force, flow);
}
void take_divergence(Flow& flow) { HWY_DYNAMIC_DISPATCH(TakeDivergence)(flow); }
void pair_rows(std::size_t n, Field& field) { HWY_DYNAMIC_DISPATCH(PairRows)(n, field); }
void pair_columns(std::size_t n, Field& field) { HWY_DYNAMIC_DISPATCH(PairColumns)(n, field); }
void multiply(const float* m, std::size_t n, Field& field) { HWY_DYNAMIC_DISPATCH(Multiply)(m, n, field); }
void subtract_gradient(Flow& flow) { HWY_DYNAMIC_DISPATCH(SubtractGradient)(flow); }

}  // namespace catena::tasks::kolmogorov_flow
#endif
