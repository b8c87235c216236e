// One coordinate, f(x) = x + (a x − b x³) dt, a = e^(θ₁/2), b = e^(θ₂/2), s = √dt:
//
//   p(y | x) = ∫…∫ N(z₁; f(x), s²) N(z₂; f(z₁), s²) … N(y; f(z_{k−1}), s²) dz₁…dz_{k−1}
//            ≈ h Σ_ij l_i [P^(k−2)]_ij r_j,   l_i = N(g_i; f(x), s²),  P_ij = h N(g_j; f(g_i), s²),  r_j = N(y; f(g_j),
//            s²)
//
// with the trapezoidal rule on one grid g of spacing h for all transitions. In each z the integrand is a product of two
// Gaussians of variances s² and (s/f′)², so of variance σ² = s²/(1 + f′²), and the rule's relative error for a Gaussian
// is 2 exp(−2π²σ²/h²) (Poisson summation): 1e-10 at h = 0.65 s and f′ = 1. Where the data visit steeper places of f the
// grid is refined accordingly. The model is symmetric under x → −x, so every transition is mirrored to start at x ≥ 0,
// which halves the grid. Only grid points that a path from x to y can plausibly visit are used: those around the line
// from x to y, where the inner states of a bridge lie. With many transitions P⁴ is computed once and applied in its
// place.

#include "catena/tasks/double_well/double_well.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "catena/core/check.h"
#include "catena/tasks/exact/normal.h"
#include "catena/tasks/exact/series.h"
#include "catena/tasks/likelihood.h"

namespace catena::tasks::double_well {

namespace {

constexpr double finest_spacing =
    0.2;  // of s: good for slopes |f′| up to 4.5; the density there is 0 for practical purposes
// A Gaussian is cut off at 7.5 standard deviations, where it has fallen below e^(−28) ≈ 6e-13 of its peak.
constexpr double cut_off = 7.5;
// From this many transitions × coordinates on, computing P⁴ pays.
constexpr std::size_t many_transitions = 100;

using Values = std::vector<double>;

class Likelihood : public SeriesLikelihood {
 public:
  Likelihood(const Constants& constants, ConstMatrixView series, const Quadrature& quadrature)
      : constants_(constants), quadrature_(quadrature), s_(std::sqrt(constants.dt)), transitions_(series.rows - 1) {
    for (std::size_t t = 0; t < transitions_; ++t) {
      for (std::size_t i = 0; i < series.cols; ++i) {
        const double mirror = series(t, i) < 0 ? -1 : 1;
        starts_.push_back(mirror * series(t, i));
        ends_.push_back(mirror * series(t + 1, i));
      }
    }
    lowest_ = std::min(*std::ranges::min_element(starts_), *std::ranges::min_element(ends_));
    highest_ = std::max(*std::ranges::max_element(starts_), *std::ranges::max_element(ends_));
  }

  std::size_t parameters() const override { return 2; }
  std::size_t transitions() const override { return transitions_; }

  void log_transitions(std::span<const double> theta, std::span<const double>, std::span<double> out) const override {
    const Step step{std::exp(theta[0] / 2), std::exp(theta[1] / 2), constants_.dt};
    std::ranges::fill(out, 0.0);
    if (constants_.steps == 1) {
      for (std::size_t m = 0; m < starts_.size(); ++m) {
        out[m / constants_.states] += exact::log_normal_density(ends_[m], step(starts_[m]), s_);
      }
    } else {
      push_through(step, Grid(step, s_, lowest_, highest_, quadrature_, constants_.steps), out);
    }
    for (double& value : out) {
      if (std::isnan(value)) value = -std::numeric_limits<double>::infinity();
    }
  }

 private:
  /// f(x) = x + (a x − b x³) dt
  struct Step {
    double a, b, dt;
    double operator()(double x) const { return x + (a - b * x * x) * x * dt; }
    double slope(double x) const { return 1 + (a - 3 * b * x * x) * dt; }
  };

  struct Grid {
    double low, spacing;
    std::size_t size;
    Values images;  // f(g_i)

    Grid(const Step& step, double s, double lowest, double highest, const Quadrature& settings, int steps) {
      // The slope is largest at 0 or at the far end of the data.
      const double far = std::max(std::abs(lowest), std::abs(highest));
      const double slope = std::max({1.0, std::abs(step.slope(0)), std::abs(step.slope(far))});
      spacing = s * std::max(finest_spacing, settings.spacing * std::sqrt(2 / (1 + slope * slope)));
      const double padding = settings.padding * s * std::sqrt(steps) / 2;
      low = lowest - padding;
      size = static_cast<std::size_t>(std::ceil((highest + padding - low) / spacing)) + 1;
      images.resize(size);
      for (std::size_t i = 0; i < size; ++i) images[i] = step(at(i));
    }
    double at(std::size_t i) const { return low + spacing * static_cast<double>(i); }
    /// The points within `reach` of x: [first, second).
    std::pair<std::size_t, std::size_t> around(double x, double reach) const {
      const double n = static_cast<double>(size);
      const double first = std::ceil((x - reach - low) / spacing), last = std::floor((x + reach - low) / spacing) + 1;
      if (!(first < n) || !(last > 0)) return {0, 0};
      return {static_cast<std::size_t>(std::max(first, 0.0)), static_cast<std::size_t>(std::min(last, n))};
    }
  };

  using Window = std::pair<std::size_t, std::size_t>;  // grid points [first, second)

  /// row[j] = scale·N(g_j; mean, s²) over the points near the mean, which are returned; nothing is written elsewhere.
  /// exp(−(z + jδ)²/2) by the recurrence g_{j+1} = g_j r_j, r_{j+1} = r_j e^(−δ²): two exponentials per row.
  Window normal_row(const Grid& grid, double mean, double scale, double* row) const {
    const auto [first, last] = grid.around(mean, cut_off * s_);
    if (first == last) return {first, last};
    const double delta = grid.spacing / s_;
    const double z = (grid.at(first) - mean) / s_;
    double value = scale / s_ * std::exp(-0.5 * z * z - exact::log_sqrt_2pi);
    double ratio = std::exp(-delta * (z + 0.5 * delta));
    const double shrink = std::exp(-delta * delta);
    for (std::size_t j = first; j < last; ++j) {
      row[j] = value;
      value *= ratio;
      ratio *= shrink;
    }
    return {first, last};
  }

  /// P^m, row by row, each row on a window of its own.
  struct Kernel {
    int steps = 1;  // m
    Values values;  // size × size; outside of the windows anything
    std::vector<Window> windows;
  };

  Kernel one_step(const Grid& grid) const {
    Kernel kernel{1, Values(grid.size * grid.size), std::vector<Window>(grid.size)};
    for (std::size_t i = 0; i < grid.size; ++i) {
      kernel.windows[i] = normal_row(grid, grid.images[i], grid.spacing, kernel.values.data() + i * grid.size);
    }
    return kernel;
  }

  /// P^2m from P^m, each row cut off around where 2m noise-free steps lead.
  Kernel squared(const Step& step, const Grid& grid, const Kernel& half) const {
    Kernel kernel{2 * half.steps, Values(grid.size * grid.size), std::vector<Window>(grid.size)};
    for (std::size_t i = 0; i < grid.size; ++i) {
      double image = grid.at(i);
      for (int k = 0; k < kernel.steps; ++k) image = step(image);
      kernel.windows[i] = grid.around(image, cut_off * s_ * std::sqrt(kernel.steps) + s_);
      push(half.values.data() + i * grid.size, half.windows[i], half, grid.size, kernel.windows[i],
           kernel.values.data() + i * grid.size);
    }
    return kernel;
  }

  /// next_j = Σ_i v_i [P^m]_ij for i in `from` and j in `to`.
  static void push(const double* v, Window from, const Kernel& kernel, std::size_t size, Window to, double* next) {
    std::fill(next + to.first, next + to.second, 0.0);
    for (std::size_t i = from.first; i < from.second; ++i) {
      const double weight = v[i];
      const double* row = kernel.values.data() + i * size;
      const std::size_t begin = std::max(to.first, kernel.windows[i].first);
      const std::size_t end = std::min(to.second, kernel.windows[i].second);
      for (std::size_t j = begin; j < end; ++j) next[j] += weight * row[j];
    }
  }

  void push_through(const Step& step, const Grid& grid, std::span<double> out) const {
    const int inner = constants_.steps - 2;  // applications of P
    Kernel kernel = one_step(grid);
    if (starts_.size() >= many_transitions && inner > 0 && inner % 4 == 0) {
      kernel = squared(step, grid, squared(step, grid, kernel));
    }
    Values v(grid.size), next(grid.size);
    for (std::size_t m = 0; m < starts_.size(); ++m) {
      Window window = normal_row(grid, step(starts_[m]), 1, v.data());
      for (int done = 1; done <= inner; done += kernel.steps) {
        const Window to = bridge_window(grid, starts_[m], ends_[m], done + kernel.steps);
        push(v.data(), window, kernel, grid.size, to, next.data());
        v.swap(next);
        window = to;
      }
      out[m / constants_.states] += log_close(grid, v.data(), window, ends_[m]);
    }
  }

  /// Where inner state k of K can be: x + (k/K)(y − x), give or take a bridge's deviations, √(dt k (K − k)/K) each, and
  /// one s for the bend that the drift gives to the path.
  Window bridge_window(const Grid& grid, double x, double y, int k) const {
    const double share = static_cast<double>(k) / constants_.steps;
    const double sd = s_ * std::sqrt(constants_.steps * share * (1 - share));
    return grid.around(x + share * (y - x), quadrature_.padding * sd + s_);
  }

  /// log h Σ_j v_j r_j with r_j = N(y; f(g_j), s²).
  double log_close(const Grid& grid, const double* v, Window window, double y) const {
    double sum = 0;
    for (std::size_t j = window.first; j < window.second; ++j) {
      const double z = (y - grid.images[j]) / s_;
      sum += v[j] * std::exp(-0.5 * z * z);
    }
    return std::log(sum * grid.spacing / s_) - exact::log_sqrt_2pi;
  }

  Constants constants_;
  Quadrature quadrature_;
  double s_;
  std::size_t transitions_;
  Values starts_, ends_;  // transition by transition, coordinate by coordinate, mirrored to start at x ≥ 0
  double lowest_, highest_;
};

}  // namespace

std::unique_ptr<SeriesLikelihood> likelihood(ConstMatrixView series, const Constants& constants,
                                             const Quadrature& quadrature) {
  check::at_least("double_well", "states", constants.states, std::size_t{1});
  check::at_least("double_well", "steps", constants.steps, 1);
  check::positive("double_well", "dt", constants.dt);
  exact::check_series("double_well", series, constants.states);
  return std::make_unique<Likelihood>(constants, series, quadrature);
}

}  // namespace catena::tasks::double_well
