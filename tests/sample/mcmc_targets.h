/// Targets whose quantiles are known exactly, for every kernel to be tested on.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "catena/prior/special.h"
#include "catena/sample/mcmc/chains.h"
#include "catena/sample/mcmc/target.h"

namespace catena::sample {

/// A scalar function of z with its distribution function.
struct KnownMargin {
  std::string name;
  std::function<double(std::span<const double> z)> of;
  std::function<double(double q)> quantile;
};

struct KnownTarget {
  std::string name;
  std::size_t dimension;
  PointTarget::DensityAndGradient density;
  std::vector<KnownMargin> margins;
  std::function<void(Stream&, std::span<double>)> draw;  // an exact draw
};

inline double normal_quantile(double q) { return prior::normal_from_tails({q, 1 - q}); }

inline std::function<double(std::span<const double>)> coordinate(std::size_t i) {
  return [i](std::span<const double> z) { return z[i]; };
}

/// x_1 ~ N(0, 1), x_i = r x_(i−1) + √(1−r²) e_i, z_i = m_i + s_i x_i: scales from 1 down to 0.05.
inline KnownTarget correlated_gaussian(std::size_t d, double r) {
  const auto mean = [](std::size_t i) { return i % 2 == 0 ? 0.4 : -0.6; };
  const auto scale = [](std::size_t i) { return i % 3 == 0 ? 1 : i % 3 == 1 ? 0.2 : 0.05; };
  const double fresh = std::sqrt(1 - r * r);
  KnownTarget target{fmt::format("gaussian_{}", d), d, {}, {}, {}};
  target.density = [=](std::span<const double> z, std::span<double> gradient) {
    double log_density = 0, before = 0;
    for (std::size_t i = 0; i < d; ++i) {
      const double x = (z[i] - mean(i)) / scale(i);
      const double e = i == 0 ? x : (x - r * before) / fresh;
      log_density -= 0.5 * e * e;
      const double slope = i == 0 ? -e : -e / fresh;  // of −e²/2 in x_i
      gradient[i] = slope / scale(i);
      if (i > 0) gradient[i - 1] += -r * slope / scale(i - 1);
      before = x;
    }
    return log_density;
  };
  for (std::size_t i = 0; i < d; ++i) {
    target.margins.push_back({fmt::format("z{}", i), coordinate(i),
                              [m = mean(i), s = scale(i)](double q) { return m + s * normal_quantile(q); }});
  }
  target.draw = [=](Stream& stream, std::span<double> z) {
    double x = 0;
    for (std::size_t i = 0; i < d; ++i) {
      x = i == 0 ? stream.normal() : r * x + fresh * stream.normal();
      z[i] = mean(i) + scale(i) * x;
    }
  };
  return target;
}

/// e^(z_i) ~ Gamma(shape_i): a long left tail.
inline KnownTarget log_gammas() {
  const std::vector<double> shapes{0.7, 2, 10};
  KnownTarget target{"log_gamma", shapes.size(), {}, {}, {}};
  target.density = [shapes](std::span<const double> z, std::span<double> gradient) {
    double log_density = 0;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      log_density += shapes[i] * z[i] - std::exp(z[i]);
      gradient[i] = shapes[i] - std::exp(z[i]);
    }
    return log_density;
  };
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    target.margins.push_back({fmt::format("z{}", i), coordinate(i), [shape = shapes[i]](double q) {
                                return std::log(prior::gamma_from_tails(shape, {q, 1 - q}));
                              }});
  }
  target.draw = [shapes](Stream& stream, std::span<double> z) {
    for (std::size_t i = 0; i < shapes.size(); ++i) z[i] = std::log(stream.gamma(shapes[i]));
  };
  return target;
}

/// 0.7 N(1.2 (1, …, 1), 0.15²) + 0.3 N(−1.2 (1, …, 1), 0.15²): 16 standard deviations apart along each axis.
inline KnownTarget two_modes(std::size_t d) {
  constexpr double weight = 0.7, place = 1.2, width = 0.15;
  KnownTarget target{fmt::format("two_modes_{}", d), d, {}, {}, {}};
  target.density = [d](std::span<const double> z, std::span<double> gradient) {
    double right = std::log(weight), left = std::log(1 - weight);
    for (const double x : z) {
      right -= 0.5 * (x - place) * (x - place) / (width * width);
      left -= 0.5 * (x + place) * (x + place) / (width * width);
    }
    const double high = std::max(left, right), log_density = high + std::log1p(std::exp(std::min(left, right) - high));
    const double on_the_right = std::exp(right - log_density);
    for (std::size_t i = 0; i < d; ++i) gradient[i] = (place * (2 * on_the_right - 1) - z[i]) / (width * width);
    return log_density;
  };
  // The quantile of the mixture at q: the modes do not overlap in doubles' sight.
  const auto quantile = [](double q) {
    if (q < 1 - weight) return -place + width * normal_quantile(q / (1 - weight));
    return place + width * normal_quantile((q - (1 - weight)) / weight);
  };
  for (std::size_t i = 0; i < d; ++i) target.margins.push_back({fmt::format("z{}", i), coordinate(i), quantile});
  target.draw = [](Stream& stream, std::span<double> z) {
    const double centre = stream.uniform() < weight ? place : -place;
    for (double& x : z) x = centre + width * stream.normal();
  };
  return target;
}

/// Two thin rings in the planes of (z_0, z_1) and of (z_1, z_2), of weights 0.6 and 0.4, as the posterior of linear_sde
/// given a long series has them: radius N(1, width²), angle uniform, N(±1.2, 0.1²) in z_3, N(0, width²) across the
/// plane, standard normals in z_4 and z_5.
inline KnownTarget two_rings(double width) {
  constexpr std::size_t d = 6;
  constexpr double weight = 0.6, place = 1.2, spread = 0.1;
  struct Ring {
    std::size_t x, y, across;
    double place, log_weight;
  };
  static const Ring rings[2] = {{0, 1, 2, place, std::log(weight)}, {1, 2, 0, -place, std::log(1 - weight)}};
  const auto which = [](std::span<const double> z) -> const Ring& { return rings[z[3] > 0 ? 0 : 1]; };
  KnownTarget target{"two_rings", d, {}, {}, {}};
  target.density = [width](std::span<const double> z, std::span<double> gradient) {
    double terms[2];
    for (std::size_t k = 0; k < 2; ++k) {
      const Ring& ring = rings[k];
      const double r = std::hypot(z[ring.x], z[ring.y]), off = (r - 1) / width, flat = z[ring.across] / width;
      const double shift = (z[3] - ring.place) / spread;
      terms[k] = ring.log_weight - 0.5 * (off * off + flat * flat + shift * shift) - std::log(r);
    }
    const double high = std::max(terms[0], terms[1]), low = std::min(terms[0], terms[1]);
    const double log_density = high + std::log1p(std::exp(low - high));
    std::ranges::fill(gradient, 0.0);
    for (std::size_t k = 0; k < 2; ++k) {
      const Ring& ring = rings[k];
      const double share = std::exp(terms[k] - log_density), r = std::hypot(z[ring.x], z[ring.y]);
      const double slope = -(r - 1) / (width * width) - 1 / r;
      gradient[ring.x] += share * slope * z[ring.x] / r;
      gradient[ring.y] += share * slope * z[ring.y] / r;
      gradient[ring.across] -= share * z[ring.across] / (width * width);
      gradient[3] -= share * (z[3] - ring.place) / (spread * spread);
    }
    double others = 0;
    for (const std::size_t i : {4, 5}) gradient[i] = -z[i], others -= 0.5 * z[i] * z[i];
    return log_density + others;
  };
  target.margins = {{"radius", [which](std::span<const double> z) { return std::hypot(z[which(z).x], z[which(z).y]); },
                     [width](double q) { return 1 + width * normal_quantile(q); }},
                    {"angle", [which](std::span<const double> z) { return std::atan2(z[which(z).y], z[which(z).x]); },
                     [](double q) { return (2 * q - 1) * std::numbers::pi; }},
                    {"across", [which](std::span<const double> z) { return z[which(z).across]; },
                     [width](double q) { return width * normal_quantile(q); }},
                    {"ring", coordinate(3),
                     [](double q) {
                       return q < 1 - weight ? -place + spread * normal_quantile(q / (1 - weight))
                                             : place + spread * normal_quantile((q - (1 - weight)) / weight);
                     }},
                    {"z4", coordinate(4), normal_quantile},
                    {"z5", coordinate(5), normal_quantile}};
  target.draw = [width](Stream& stream, std::span<double> z) {
    const Ring& ring = rings[stream.uniform() < weight ? 0 : 1];
    const double r = 1 + width * stream.normal(), angle = (2 * stream.uniform() - 1) * std::numbers::pi;
    z[ring.x] = r * std::cos(angle), z[ring.y] = r * std::sin(angle);
    z[ring.across] = width * stream.normal();
    z[3] = ring.place + spread * stream.normal();
    z[4] = stream.normal(), z[5] = stream.normal();
  };
  return target;
}

/// Neal's funnel (docs/refs.bib: neal2003): v ~ N(0, 3²), x_i | v ~ N(0, e^v), i = 1 … 3.
inline KnownTarget funnel() {
  constexpr std::size_t d = 4;
  KnownTarget target{"funnel", d, {}, {}, {}};
  target.density = [](std::span<const double> z, std::span<double> gradient) {
    const double v = z[0], precision = std::exp(-v);
    double log_density = -0.5 * v * v / 9;
    gradient[0] = -v / 9;
    for (std::size_t i = 1; i < d; ++i) {
      log_density += -0.5 * z[i] * z[i] * precision - 0.5 * v;
      gradient[0] += 0.5 * z[i] * z[i] * precision - 0.5;
      gradient[i] = -z[i] * precision;
    }
    return log_density;
  };
  target.margins.push_back({"v", coordinate(0), [](double q) { return 3 * normal_quantile(q); }});
  for (std::size_t i = 1; i < d; ++i) {
    target.margins.push_back(
        {"x/sd", [i](std::span<const double> z) { return z[i] * std::exp(-z[0] / 2); }, normal_quantile});
  }
  target.draw = [](Stream& stream, std::span<double> z) {
    z[0] = 3 * stream.normal();
    for (std::size_t i = 1; i < d; ++i) z[i] = std::exp(z[0] / 2) * stream.normal();
  };
  return target;
}

/// A share of chains' draws at or below the exact quantile q, and how far that is from q in standard errors.
struct QuantileError {
  std::string margin;
  double q, share, errors;
};

/// Over all margins and q = 0.05, 0.25, 0.5, 0.75, 0.95; the standard error √(q(1−q)/ESS) by the effective size of the
/// indicator itself.
inline std::vector<QuantileError> quantile_errors(const KnownTarget& target, const Traces& traces) {
  std::vector<QuantileError> result;
  const std::size_t chains = traces[0].rows(), kept = traces[0].cols();
  std::vector<double> z(target.dimension);
  for (const KnownMargin& margin : target.margins) {
    Matrix values(chains, kept);
    for (std::size_t c = 0; c < chains; ++c) {
      for (std::size_t k = 0; k < kept; ++k) {
        for (std::size_t i = 0; i < z.size(); ++i) z[i] = traces[i](c, k);
        values(c, k) = margin.of(z);
      }
    }
    for (const double q : {0.05, 0.25, 0.5, 0.75, 0.95}) {
      const double bound = margin.quantile(q);
      Matrix below(chains, kept);
      double share = 0;
      for (std::size_t i = 0; i < values.values().size(); ++i) {
        below.values()[i] = values.values()[i] <= bound ? 1 : 0;
        share += below.values()[i] / static_cast<double>(chains * kept);
      }
      const double error = std::sqrt(q * (1 - q) / bulk_ess(below));
      result.push_back({margin.name, q, share, (share - q) / error});
    }
  }
  return result;
}

}  // namespace catena::sample
