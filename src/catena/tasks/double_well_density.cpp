// One coordinate, f(x) = x + (a x − b x³) dt, a = e^(θ₁/2), b = e^(θ₂/2), s = √dt:
//
//   p(y | x) = ∫…∫ N(z₁; f(x), s²) N(z₂; f(z₁), s²) … N(y; f(z_{k−1}), s²) dz₁…dz_{k−1}
//            ≈ h Σ_ij l_i [P^(k−2)]_ij r_j,   l_i = N(g_i; f(x), s²),  P_ij = h N(g_j; f(g_i), s²),  r_j = N(y; f(g_j), s²)
//
// with the trapezoidal rule on one grid g of spacing h for all transitions. In each z the integrand is a product of two
// Gaussians of variances s² and (s/f′)², so of variance σ² = s²/(1 + f′²), and the rule's relative error for a Gaussian
// is 2 exp(−2π²σ²/h²) (Poisson summation): 1e-10 at h = 0.65 s and f′ = 1. Where the data visit steeper places of f the
// grid is refined accordingly. The model is symmetric under x → −x, so every transition is mirrored to start at x ≥ 0,
// which halves the grid.

#include "catena/tasks/double_well_density.h"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "catena/core/check.h"
#include "catena/tasks/normal_density.h"

namespace catena::tasks {

namespace {

constexpr double finest_spacing = 0.2;  // of s: good for slopes |f′| up to 4.5; the density there is 0 for practical purposes
// A Gaussian is cut off where it has fallen below e^(−34) ≈ 2e-15 of its peak: 8.25 standard deviations.
constexpr double cut_off = 8.25;
// Below this many transitions × coordinates one vector per transition is pushed through the steps; above it the power
// of P is computed once. Measured: equal at about 60.
constexpr std::size_t few_transitions = 60;

using Values = std::vector<double>;

class DoubleWellLikelihood : public SeriesLikelihood {
 public:
  DoubleWellLikelihood(const DoubleWellConstants& constants, ConstMatrixView series, const DoubleWellGrid& grid)
      : constants_(constants), grid_(grid), s_(std::sqrt(constants.dt)), transitions_(series.rows - 1) {
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
        out[m / constants_.dim] += log_normal_density(ends_[m], step(starts_[m]), s_);
      }
    } else {
      const Grid grid(step, s_, lowest_, highest_, grid_, constants_.steps);
      if (starts_.size() <= few_transitions) {
        push_vectors(step, grid, out);
      } else {
        use_power(step, grid, out);
      }
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

    Grid(const Step& step, double s, double lowest, double highest, const DoubleWellGrid& settings, int steps) {
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

  /// row[j] = scale·N(g_j; mean, s²) over the points near the mean, which are returned; nothing is written elsewhere.
  /// exp(−(z + jδ)²/2) by the recurrence g_{j+1} = g_j r_j, r_{j+1} = r_j e^(−δ²): two exponentials per row.
  std::pair<std::size_t, std::size_t> normal_row(const Grid& grid, double mean, double scale, double* row) const {
    const auto [first, last] = grid.around(mean, cut_off * s_);
    if (first == last) return {first, last};
    const double delta = grid.spacing / s_;
    const double z = (grid.at(first) - mean) / s_;
    double value = scale / s_ * std::exp(-0.5 * z * z - log_sqrt_2pi);
    double ratio = std::exp(-delta * (z + 0.5 * delta));
    const double shrink = std::exp(-delta * delta);
    for (std::size_t j = first; j < last; ++j) {
      row[j] = value;
      value *= ratio;
      ratio *= shrink;
    }
    return {first, last};
  }

  /// r_j = N(y; f(g_j), s²) against a vector v over the grid: Σ_j v_j r_j, logarithm.
  double log_close(const Grid& grid, const double* v, double y) const {
    double sum = 0;
    for (std::size_t j = 0; j < grid.size; ++j) {
      const double z = (y - grid.images[j]) / s_;
      if (std::abs(z) < cut_off) sum += v[j] * std::exp(-0.5 * z * z);
    }
    return std::log(sum * grid.spacing / s_) - log_sqrt_2pi;
  }

  void push_vectors(const Step& step, const Grid& grid, std::span<double> out) const {
    Values kernel(grid.size * grid.size);
    std::vector<std::pair<std::size_t, std::size_t>> band(grid.size);
    for (std::size_t i = 0; i < grid.size; ++i) {
      band[i] = normal_row(grid, grid.images[i], grid.spacing, kernel.data() + i * grid.size);
    }
    Values v(grid.size), next(grid.size);
    for (std::size_t m = 0; m < starts_.size(); ++m) {
      std::ranges::fill(v, 0.0);
      auto [first, last] = normal_row(grid, step(starts_[m]), 1, v.data());
      for (int k = 0; k < constants_.steps - 2; ++k) {
        std::ranges::fill(next, 0.0);
        std::size_t next_first = grid.size, next_last = 0;
        for (std::size_t i = first; i < last; ++i) {
          const auto [begin, end] = band[i];
          if (begin == end) continue;
          const double* row = kernel.data() + i * grid.size;
          for (std::size_t j = begin; j < end; ++j) next[j] += v[i] * row[j];
          next_first = std::min(next_first, begin);
          next_last = std::max(next_last, end);
        }
        v.swap(next);
        first = next_first, last = next_last;
      }
      out[m / constants_.dim] += log_close(grid, v.data(), ends_[m]);
    }
  }

  void use_power(const Step& step, const Grid& grid, std::span<double> out) const {
    const std::size_t n = grid.size;
    Values kernel(n * n, 0.0), power, scratch(n * n);
    for (std::size_t i = 0; i < n; ++i) normal_row(grid, grid.images[i], grid.spacing, kernel.data() + i * n);
    // P^(k−2) by repeated squaring; no power yet means the identity.
    for (int k = constants_.steps - 2; k > 0; k /= 2) {
      if (k % 2 == 1) {
        if (power.empty()) {
          power = kernel;
        } else {
          multiply(power, n, kernel, n, scratch);
          power.swap(scratch);
        }
      }
      if (k > 1) {
        multiply(kernel, n, kernel, n, scratch);
        kernel.swap(scratch);
      }
    }
    Values starts(starts_.size() * n, 0.0), pushed(starts_.size() * n);
    for (std::size_t m = 0; m < starts_.size(); ++m) normal_row(grid, step(starts_[m]), 1, starts.data() + m * n);
    if (power.empty()) {
      pushed = starts;
    } else {
      multiply(starts, starts_.size(), power, n, pushed);
    }
    for (std::size_t m = 0; m < starts_.size(); ++m) {
      out[m / constants_.dim] += log_close(grid, pushed.data() + m * n, ends_[m]);
    }
  }

  /// c = a b, with a rows × n and b n × n.
  static void multiply(const Values& a, std::size_t rows, const Values& b, std::size_t n, Values& c) {
    const auto r = static_cast<int>(rows), m = static_cast<int>(n);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, r, m, m, 1, a.data(), m, b.data(), m, 0, c.data(), m);
  }

  DoubleWellConstants constants_;
  DoubleWellGrid grid_;
  double s_;
  std::size_t transitions_;
  Values starts_, ends_;  // transition by transition, coordinate by coordinate, mirrored to start at x ≥ 0
  double lowest_, highest_;
};

}  // namespace

std::unique_ptr<SeriesLikelihood> double_well_likelihood(const DoubleWellConstants& constants, ConstMatrixView series,
                                                         const DoubleWellGrid& grid) {
  check::at_least("double_well", "dim", constants.dim, std::size_t{1});
  check::at_least("double_well", "steps", constants.steps, 1);
  check::positive("double_well", "dt", constants.dt);
  check_series("double_well", series, constants.dim);
  return std::make_unique<DoubleWellLikelihood>(constants, series, grid);
}

}  // namespace catena::tasks
