#include "catena/report/kernel_density.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "catena/core/check.h"

namespace catena::report {

namespace {

struct Spread {
  double low = 0, high = 0, deviation = 0, quartile_range = 0;
};

Spread spread(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const auto n = static_cast<double>(sorted.size());
  const double mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / n;
  double squares = 0;
  for (const double v : sorted) squares += (v - mean) * (v - mean);
  return {sorted.front(), sorted.back(), std::sqrt(squares / std::max(1.0, n - 1)),
          sorted[sorted.size() * 3 / 4] - sorted[sorted.size() / 4]};
}

/// 0.9 min(σ, IQR/1.34) n^(-1/5), Silverman 1986, eq. 3.31 (docs/refs.bib: silverman1986).
double silverman(const Spread& s, std::size_t n) {
  const double robust = s.quartile_range > 0 ? std::min(s.deviation, s.quartile_range / 1.34) : s.deviation;
  return 0.9 * robust * std::pow(static_cast<double>(n), -0.2);
}

/// Botev et al. 2010, algorithm 1. With the values scaled to [0, 1] and the cosine series a_k of their histogram,
///   ‖f^(s)‖² ≈ ½ π^(2s) Σ_k k^(2s) a_k² exp(−k²π²t),
/// and t is the fixed point of ξγ^[5](t), the optimal t_s for each derivative being found from the next higher one.
class FixedPoint {
 public:
  FixedPoint(std::span<const double> unit_values) : n_(static_cast<double>(unit_values.size())) {
    std::vector<double> share(cells, 0.0);
    for (const double u : unit_values) {
      share[std::min(cells - 1, static_cast<std::size_t>(u * static_cast<double>(cells)))] += 1 / n_;
    }
    // cos(πk(j + ½)/cells) = cos(π k(2j + 1) / (2 cells)) has the period 4 cells in k(2j + 1).
    std::vector<double> cosine(4 * cells);
    for (std::size_t i = 0; i < cosine.size(); ++i) {
      cosine[i] = std::cos(std::numbers::pi * static_cast<double>(i) / static_cast<double>(2 * cells));
    }
    for (std::size_t k = 1; k < cells; ++k) {
      double a = 0;
      for (std::size_t j = 0; j < cells; ++j) a += share[j] * cosine[k * (2 * j + 1) % (4 * cells)];
      squares_.push_back(a * a);
      log_k2_.push_back(2 * std::log(static_cast<double>(k)));
    }
  }

  /// t − ξγ^[5](t)
  double operator()(double t) const {
    double norm = derivative_norm(7, t);
    for (int s = 6; s >= 2; --s) {
      double odd_factorial = 1;  // 1·3·…·(2s−1)
      for (int i = 1; i < 2 * s; i += 2) odd_factorial *= i;
      const double c = (1 + std::pow(0.5, s + 0.5)) / 3;
      const double t_s = std::pow(c * odd_factorial / (n_ * std::sqrt(std::numbers::pi / 2) * norm), 2.0 / (3 + 2 * s));
      norm = derivative_norm(s, t_s);
    }
    return t - std::pow(2 * n_ * std::sqrt(std::numbers::pi) * norm, -0.4);
  }

 private:
  static constexpr std::size_t cells = 256;

  double derivative_norm(int s, double t) const {
    constexpr double pi2 = std::numbers::pi * std::numbers::pi;
    double sum = 0;
    for (std::size_t k = 1; k <= squares_.size(); ++k) {
      const double k2 = static_cast<double>(k * k);
      const double exponent = s * log_k2_[k - 1] - k2 * pi2 * t;
      if (exponent > -700) sum += squares_[k - 1] * std::exp(exponent);
    }
    return 2 * std::pow(pi2, s) * sum;
  }

  double n_;
  std::vector<double> squares_, log_k2_;
};

struct Borders {
  bool low = false, high = false;
};

/// The fixed point for draws whose range ends in these borders, between an eighth of Silverman's rule and the rule
/// itself.
double bandwidth(std::span<const double> values, const Spread& s, const Borders& border) {
  if (!(s.high > s.low) || !std::isfinite(s.high - s.low)) return 0;
  const double rule = silverman(s, values.size());
  const double least = rule / 8;
  // A cosine series is a reflection at the ends of its box: right at a border, and elsewhere a tenth away from the
  // draws.
  const double margin = 0.1 * (s.high - s.low);
  const double begin = s.low - (border.low ? 0 : margin);
  const double length = s.high + (border.high ? 0 : margin) - begin;
  std::vector<double> unit;
  unit.reserve(values.size());
  for (const double v : values) unit.push_back((v - begin) / length);
  const FixedPoint residual(unit);
  const auto t_of = [length](double h) { return (h / length) * (h / length); };
  if (residual(t_of(rule)) <= 0) return rule;
  if (residual(t_of(least)) >= 0) return least;
  double low = least, high = rule;
  for (int i = 0; i < 30; ++i) {
    const double middle = std::sqrt(low * high);
    (residual(t_of(middle)) < 0 ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

/// A border of the prior is assumed where, within one bandwidth of the outermost draw, there are still a third as many
/// draws as at the mode. A normal's tail has at most a tenth there for n ≥ 100.
Borders borders(std::span<const double> values, const Spread& s) {
  if (values.size() < 100) return {};
  const double h = bandwidth(values, s, {});
  if (h == 0) return {};
  std::vector<std::size_t> counts(static_cast<std::size_t>((s.high - s.low) / (2 * h)) + 1, 0);
  std::size_t near_low = 0, near_high = 0;
  for (const double v : values) {
    ++counts[std::min(counts.size() - 1, static_cast<std::size_t>((v - s.low) / (2 * h)))];
    near_low += v < s.low + h ? 1 : 0;
    near_high += v > s.high - h ? 1 : 0;
  }
  const std::size_t mode = std::ranges::max(counts);  // in twice the width
  return {6 * near_low > mode, 6 * near_high > mode};
}

double bandwidth(std::span<const double> values, const Spread& s) { return bandwidth(values, s, borders(values, s)); }

Grid grid_of(std::span<const double> values, const Spread& s, double h, std::size_t cells) {
  const Borders border = borders(values, s);
  return {border.low ? s.low : s.low - 3 * h, border.high ? s.high : s.high + 3 * h, cells, border.low, border.high};
}

/// Shares of a value between the two cells whose middles enclose it.
struct Placed {
  std::size_t cell, next;
  double share_of_next;
};
Placed place(const Grid& grid, double value) {
  const double position = std::clamp((value - grid.low) / grid.width() - 0.5, 0.0, static_cast<double>(grid.cells - 1));
  const auto cell = static_cast<std::size_t>(position);
  return {cell, std::min(cell + 1, grid.cells - 1), position - static_cast<double>(cell)};
}

/// The values at `stride` convolved with a Gaussian of standard deviation h.
void smooth(double* values, std::size_t stride, const Grid& grid, double h) {
  const double sd = h / grid.width();
  const auto radius = static_cast<std::ptrdiff_t>(std::ceil(4 * sd));
  std::vector<double> kernel;
  for (std::ptrdiff_t k = -radius; k <= radius; ++k) {
    kernel.push_back(std::exp(-0.5 * static_cast<double>(k * k) / std::max(sd * sd, 1e-12)));
  }
  const double total = std::accumulate(kernel.begin(), kernel.end(), 0.0);
  const auto cells = static_cast<std::ptrdiff_t>(grid.cells);
  std::vector<double> before(grid.cells);
  for (std::size_t i = 0; i < grid.cells; ++i) before[i] = values[i * stride] / total;
  for (std::ptrdiff_t i = 0; i < cells; ++i) {
    double sum = 0;
    for (std::ptrdiff_t k = -radius; k <= radius; ++k) {
      std::ptrdiff_t j = i + k;
      if (j < 0 && grid.reflect_low) j = -1 - j;
      if (j >= cells && grid.reflect_high) j = 2 * cells - 1 - j;
      if (j >= 0 && j < cells) {
        sum += kernel[static_cast<std::size_t>(k + radius)] * before[static_cast<std::size_t>(j)];
      }
    }
    values[static_cast<std::size_t>(i) * stride] = sum;
  }
}

void normalise(std::vector<double>& height, double cell) {
  const double total = std::accumulate(height.begin(), height.end(), 0.0) * cell;
  for (double& h : height) h /= total;
}

}  // namespace

double bandwidth(std::span<const double> values) { return values.size() < 2 ? 0 : bandwidth(values, spread(values)); }

double correlation(std::span<const double> x, std::span<const double> y) {
  const auto n = static_cast<double>(x.size());
  const double mean_x = std::accumulate(x.begin(), x.end(), 0.0) / n;
  const double mean_y = std::accumulate(y.begin(), y.end(), 0.0) / n;
  double xx = 0, yy = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

Density density(std::span<const double> values, std::size_t cells) {
  const Spread s = spread(values);
  const double h = bandwidth(values, s);
  check::positive("density", "the bandwidth", h);
  Density result{grid_of(values, s, h, cells), std::vector<double>(cells, 0.0)};
  for (const double v : values) {
    const Placed p = place(result.grid, v);
    result.height[p.cell] += 1 - p.share_of_next;
    result.height[p.next] += p.share_of_next;
  }
  smooth(result.height.data(), 1, result.grid, std::max(h, 0.5 * result.grid.width()));
  normalise(result.height, result.grid.width());
  return result;
}

namespace {

/// For a normal with correlation ρ the bandwidths of a product kernel that minimise the asymptotic mean integrated
/// squared error are h_i = σ_i (1−ρ²)^(5/12) (1+ρ²/2)^(−1/6) n^(−1/6) (Scott 1992, docs/refs.bib: scott1992); σ_i is
/// read off the one-dimensional bandwidth, which for a normal is 1.06 σ n^(−1/5). A quarter more than that costs a
/// quarter of the error, (2·1.25⁻² + 1.25⁴)/3 = 1.24, and takes away ragged outlines that the eye would mistake for
/// structure.
Density2 density(std::span<const double> x, std::span<const double> y, double wider) {
  const auto n = static_cast<double>(x.size());
  const double rho = std::clamp(correlation(x, y), -0.999, 0.999);
  const double factor = wider * 1.25 * std::pow(1 - rho * rho, 5.0 / 12) * std::pow(1 + rho * rho / 2, -1.0 / 6) *
                        std::pow(n, -1.0 / 6) * std::pow(n, 0.2) / 1.06;
  const Spread spread_x = spread(x), spread_y = spread(y);
  const double h_x = factor * bandwidth(x, spread_x), h_y = factor * bandwidth(y, spread_y);
  check::positive("density", "the bandwidth of x", h_x);
  check::positive("density", "the bandwidth of y", h_y);
  // Two cells per bandwidth show every bump that there is; the bounds keep a figure smooth and its file small.
  const auto cells = [](const Spread& s, double h) {
    return static_cast<std::size_t>(std::clamp(2 * (s.high - s.low) / h + 12, 48.0, 128.0));
  };
  Density2 result{grid_of(x, spread_x, h_x, cells(spread_x, h_x)), grid_of(y, spread_y, h_y, cells(spread_y, h_y)), {}};
  const Grid &gx = result.x, &gy = result.y;
  result.height.assign(gx.cells * gy.cells, 0.0);
  for (std::size_t k = 0; k < x.size(); ++k) {
    const Placed px = place(gx, x[k]), py = place(gy, y[k]);
    for (const auto& [iy, wy] : {std::pair(py.cell, 1 - py.share_of_next), std::pair(py.next, py.share_of_next)}) {
      result.height[iy * gx.cells + px.cell] += wy * (1 - px.share_of_next);
      result.height[iy * gx.cells + px.next] += wy * px.share_of_next;
    }
  }
  for (std::size_t iy = 0; iy < gy.cells; ++iy) {
    smooth(result.height.data() + iy * gx.cells, 1, gx, std::max(h_x, 0.7 * gx.width()));
  }
  for (std::size_t ix = 0; ix < gx.cells; ++ix) {
    smooth(result.height.data() + ix, gx.cells, gy, std::max(h_y, 0.7 * gy.width()));
  }
  normalise(result.height, gx.width() * gy.width());
  return result;
}

/// Whether the region of this share has pieces or holes that are too small to be structure: with less than a fiftieth
/// of the probability, or holes of less than a hundredth of the region's cells.
bool has_islands(const Density2& density, double share) {
  const double level = height_of_region(density.height, share);
  const std::size_t columns = density.x.cells, rows = density.y.cells;
  const double all = std::accumulate(density.height.begin(), density.height.end(), 0.0);
  const auto above = [&](std::size_t cell) { return density.height[cell] > level; };
  const auto region = static_cast<double>(std::ranges::count_if(density.height, [&](double h) { return h > level; }));
  std::vector<bool> seen(density.height.size(), false);
  std::vector<std::size_t> stack;
  for (std::size_t first = 0; first < seen.size(); ++first) {
    if (seen[first]) continue;
    double mass = 0, cells = 0;
    bool edge = false;
    stack.assign(1, first);
    seen[first] = true;
    while (!stack.empty()) {
      const std::size_t cell = stack.back(), row = cell / columns, column = cell % columns;
      stack.pop_back();
      mass += density.height[cell];
      ++cells;
      edge = edge || row == 0 || column == 0 || row + 1 == rows || column + 1 == columns;
      const auto visit = [&](std::size_t next) {
        if (seen[next] || above(next) != above(first)) return;
        seen[next] = true;
        stack.push_back(next);
      };
      if (row > 0) visit(cell - columns);
      if (row + 1 < rows) visit(cell + columns);
      if (column > 0) visit(cell - 1);
      if (column + 1 < columns) visit(cell + 1);
    }
    if (above(first) ? mass < 0.02 * all : !edge && cells < 0.01 * region) return true;
  }
  return false;
}

}  // namespace

Density2 density(std::span<const double> x, std::span<const double> y) {
  constexpr double shares[] = {0.9, 0.5}, step = 1.1;  // no wider than it takes
  Density2 result = density(x, y, 1);
  double wider = step;
  while (wider < 2.5 && std::ranges::any_of(shares, [&](double share) { return has_islands(result, share); })) {
    result = density(x, y, wider);
    wider *= step;
  }
  return result;
}

double height_of_region(std::span<const double> height, double share) {
  std::vector<double> sorted(height.begin(), height.end());
  std::ranges::sort(sorted, std::greater());
  const double wanted = share * std::accumulate(sorted.begin(), sorted.end(), 0.0);
  double sum = 0;
  for (const double h : sorted) {
    sum += h;
    if (sum >= wanted) return h;
  }
  return 0;
}

}  // namespace catena::report
