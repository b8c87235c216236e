// Monotone splines, coordinate by coordinate: inputs are n·(3K − 1) raw parameters (coordinate by coordinate) and v;
// outputs f(v) and then log f'(v). Attributes: `bins`, K, and `bound`, B. The forward pass keeps the partial
// derivatives of both outputs, so that reverse and tangent are sums of products: K + 1 dual directions would cost more
// than the closed chain rule below, which goes through the six numbers that describe a bin.

#include "catena/nn/kernels/rational_quadratic.h"

#include <array>
#include <memory>
#include <span>

#include "catena/nn/ops/ops.h"

namespace catena::nn::ops {

namespace {

/// A number with its partial derivatives with respect to N others.
template <std::size_t N>
struct Dual {
  double value = 0;
  std::array<double, N> d{};

  Dual() = default;
  explicit Dual(double constant) : value(constant) {}
  static Dual variable(double value, std::size_t i) {
    Dual x(value);
    x.d[i] = 1;
    return x;
  }
  /// g with dg = a dx + b dy
  static Dual chain(double g, double a, const Dual& x, double b, const Dual& y) {
    Dual z(g);
    for (std::size_t i = 0; i < N; ++i) z.d[i] = a * x.d[i] + b * y.d[i];
    return z;
  }
  friend Dual operator+(const Dual& x, const Dual& y) { return chain(x.value + y.value, 1, x, 1, y); }
  friend Dual operator-(const Dual& x, const Dual& y) { return chain(x.value - y.value, 1, x, -1, y); }
  friend Dual operator*(const Dual& x, const Dual& y) { return chain(x.value * y.value, y.value, x, x.value, y); }
  friend Dual operator/(const Dual& x, const Dual& y) {
    const double q = x.value / y.value;
    return chain(q, 1 / y.value, x, -q / y.value, y);
  }
  friend Dual log(const Dual& x) { return chain(std::log(x.value), 1 / x.value, x, 0, x); }
};

struct SplineSettings {
  std::size_t bins;
  double bound;

  std::size_t parameters() const { return spline::parameter_count(bins); }
  std::size_t partials() const { return 2 * (parameters() + 1); }
};

/// What one evaluation needs, in the scratch memory of the operation: a lane's parameters, knots, partial derivatives.
struct SplineMemory {
  double *knots, *partials;
  float* parameters;

  static std::size_t doubles(const SplineSettings& s) { return spline::knot_count(s.bins) + s.partials(); }
  static std::size_t floats(const SplineSettings& s) { return 2 * doubles(s) + s.parameters(); }
  SplineMemory(const SplineSettings& s, float* scratch) : knots(reinterpret_cast<double*>(scratch)) {
    static_assert(sizeof(double) == 2 * sizeof(float));
    std::uninitialized_fill_n(knots, doubles(s), 0.0);  // from here on, doubles live there
    partials = knots + spline::knot_count(s.bins);
    parameters = scratch + 2 * doubles(s);
  }
};

void spline_shape(ShapeCall& call) {
  expect("rational_quadratic", call, 2, 0);
  check::at_least("rational_quadratic", "bins", call.attributes.at("bins"), 2.0);
  check::positive("rational_quadratic", "bound", call.attributes.at("bound"));
  const SplineSettings settings{call.attributes.size_at("bins"), call.attributes.at("bound")};
  call.resolved.set(settings);
  const std::size_t n = call.inputs[1]->features(), each = settings.parameters();
  expect_features("rational_quadratic", call.inputs[0], n * each);
  call.shape = 2 * n;
  call.scratch = SplineMemory::floats(settings);
  call.saved_features = 2 * n * (each + 1);  // for each coordinate: ∂f, then ∂log f', each by parameters and v
}

/// f(v), log f'(v) and, in `partial` unless null, their partial derivatives: by the parameters and v, first of f.
std::pair<double, double> evaluate_spline(const SplineSettings& settings, const SplineMemory& memory, double v,
                                          double* partial) {
  const auto [bins, bound] = settings;
  const std::size_t each = settings.parameters();
  if (partial != nullptr) std::fill_n(partial, 2 * (each + 1), 0.0);
  if (!(std::abs(v) < bound)) {
    if (partial != nullptr) partial[each] = 1;
    return {v, 0.0};
  }
  const auto parameter = [&](std::size_t i) { return static_cast<double>(memory.parameters[i]); };
  const spline::KnotsView<double> knots(bins, memory.knots);
  spline::fill_knots(bound, parameter, knots);
  const std::size_t k = spline::find_bin(knots.x, [&](double x) { return v < x; });
  const spline::Bin<double> bin = spline::bin(knots, k);
  if (partial == nullptr) return spline::evaluate(bin, v);

  using D = Dual<7>;
  const spline::Bin<D> dual{D::variable(bin.x, 0), D::variable(bin.w, 1),  D::variable(bin.y, 2),
                            D::variable(bin.h, 3), D::variable(bin.d0, 4), D::variable(bin.d1, 5)};
  const auto [value, log_slope] = spline::evaluate(dual, D::variable(v, 6));
  const double spread = 1 - spline::least_share * static_cast<double>(bins);
  const D* outputs[2] = {&value, &log_slope};
  for (std::size_t o = 0; o < 2; ++o) {
    double* to = partial + o * (each + 1);
    const std::array<double, 7>& d = outputs[o]->d;
    // With shares p_j = softmax: w = 2B(least + spread p_k), x = −B + 2B Σ_{j<k} (least + spread p_j), and
    // ∂p_i/∂r_j = p_i (δ_ij − p_j).
    for (std::size_t side = 0; side < 2; ++side) {
      const std::span<const double> at = side == 0 ? knots.x : knots.y;
      const double by_start = d[2 * side], by_size = d[2 * side + 1];
      const auto share = [&](std::size_t j) {
        return ((at[j + 1] - at[j]) / (2 * bound) - spline::least_share) / spread;
      };
      double mean = by_size * share(k);
      for (std::size_t j = 0; j < k; ++j) mean += by_start * share(j);
      for (std::size_t j = 0; j < bins; ++j) {
        const double direct = j < k ? by_start : j == k ? by_size : 0;
        to[side * bins + j] = 2 * bound * spread * share(j) * (direct - mean);
      }
    }
    // slope = least + softplus(r + offset), whose derivative is 1 − e^−(slope − least)
    const auto raw = [&](std::size_t knot) { return -std::expm1(spline::least_slope - knots.slope[knot]); };
    if (k > 0) to[2 * bins + k - 1] = d[4] * raw(k);
    if (k + 1 < bins) to[2 * bins + k] = d[5] * raw(k + 1);
    to[each] = d[6];
  }
  return {value.value, log_slope.value};
}

void spline_forward(const ForwardCall& call) {
  const auto& settings = call.resolved.as<SplineSettings>();
  const SplineMemory memory(settings, call.scratch);
  const std::size_t n = call.inputs[1].features, each = settings.parameters();
  const std::size_t partials = call.derivatives ? settings.partials() : 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t l = 0; l < call.output.lanes; ++l) {
      for (std::size_t p = 0; p < each; ++p) memory.parameters[p] = call.inputs[0](i * each + p, l);
      const auto [value, log_slope] =
          evaluate_spline(settings, memory, call.inputs[1](i, l), call.derivatives ? memory.partials : nullptr);
      call.output(i, l) = static_cast<float>(value);
      call.output(n + i, l) = static_cast<float>(log_slope);
      for (std::size_t p = 0; p < partials; ++p) {
        call.saved(i * partials + p, l) = static_cast<float>(memory.partials[p]);
      }
    }
  }
}

void spline_reverse(const ReverseCall& call) {
  const std::size_t each = call.resolved.as<SplineSettings>().parameters(), n = call.inputs[1].features;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t p = 0; p <= each; ++p) {
      const Block gradient = call.input_gradients[p < each ? 0 : 1];
      if (gradient.data == nullptr) continue;
      const bool accumulate = call.accumulate[p < each ? 0 : 1];
      float* out = gradient.feature(p < each ? i * each + p : i);
      const float *by_value = call.saved.feature(2 * i * (each + 1) + p),
                  *by_slope = call.saved.feature((2 * i + 1) * (each + 1) + p);
      const float *g_value = call.output_gradient.feature(i), *g_slope = call.output_gradient.feature(n + i);
      for (std::size_t l = 0; l < call.output.lanes; ++l) {
        const float sum = g_value[l] * by_value[l] + g_slope[l] * by_slope[l];
        out[l] = accumulate ? out[l] + sum : sum;
      }
    }
  }
}

void spline_tangent(const TangentCall& call) {
  const std::size_t each = call.resolved.as<SplineSettings>().parameters(), n = call.inputs[1].features;
  zero(call.output_tangent);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t p = 0; p <= each; ++p) {
      const ConstBlock change = call.input_tangents[p < each ? 0 : 1];
      if (change.data == nullptr) continue;
      const float* t = change.feature(p < each ? i * each + p : i);
      for (std::size_t o = 0; o < 2; ++o) {
        const float* by = call.saved.feature((2 * i + o) * (each + 1) + p);
        float* out = call.output_tangent.feature(o * n + i);
        for (std::size_t l = 0; l < call.output.lanes; ++l) out[l] += by[l] * t[l];
      }
    }
  }
}

}  // namespace

Operation rational_quadratic() {
  return {"rational_quadratic", "y = (f(v), log f'(v)), f a monotone spline",
          spline_shape,         spline_forward,
          spline_reverse,       spline_tangent,
          {"bins", "bound"}};
}

}  // namespace catena::nn::ops
