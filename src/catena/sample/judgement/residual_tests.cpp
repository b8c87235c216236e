#include "catena/sample/judgement/residual_tests.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <span>

#include "catena/core/log_mean_exp.h"
#include "catena/prior/special.h"

namespace catena::sample {
namespace {

// Tolerances of scores, in the units of each statistic; measured as those of ranks (residual_tests.h).
constexpr double product_tolerance = 0.1, score_tolerance = 0.3, curvature_tolerance = 1.0;
constexpr double tolerated_shift = 0.5;  // of a posterior, in its standard deviations
// Of log w: what a network may be off for each record, and what one record may add, so that no single one decides
// (smaller w have smaller means, so that the bound holds).
constexpr double own_tolerance = 0.05, most_of_one = 3;

/// The smallest of several p-values.
class Smallest {
 public:
  void add(double p, std::string what) {
    ++count_;
    if (!(p < smallest_)) return;
    smallest_ = p;
    what_ = std::move(what);
  }
  /// |value| beyond a tolerance, in standard errors: two-sided.
  void add_normal(double value, double tolerance, double error, std::string what) {
    const double beyond = std::max(0.0, std::abs(value) - tolerance) / error;
    add(2 * prior::normal_tails(beyond).upper, std::move(what));
  }
  ResidualTest result() const { return {std::min(1.0, smallest_ * static_cast<double>(count_)), what_}; }

 private:
  double smallest_ = 2;
  std::size_t count_ = 0;
  std::string what_;
};

/// P(√T D > λ) by Kolmogorov's series, with Stephens' correction for small T.
double kolmogorov_p(double distance, double count) {
  const double root = std::sqrt(count), lambda = (root + 0.12 + 0.11 / root) * distance;
  if (lambda < 0.3) return 1;
  double sum = 0;
  for (int k = 1; k <= 20; ++k) sum += (k % 2 == 1 ? 2 : -2) * std::exp(-2.0 * k * k * lambda * lambda);
  return std::clamp(sum, 0.0, 1.0);
}

/// P(a sum of n terms of mean zero over the root of their squares > s) if they are normal: with t = s √((n − 1)/(n −
/// s²)) it is that of Student's t, n − 1 degrees of freedom; the normal law would take s for smaller than it is, for
/// the terms' own mean is in their squares. Of terms that are skew to the right, as squares of scores are, it is a
/// bound.
double student_upper(double s, double n) {
  if (s * s >= n) return 0;
  const double t = s * std::sqrt((n - 1) / (n - s * s));
  return boost::math::cdf(boost::math::complement(boost::math::students_t(n - 1), t));
}

double distance_from_uniform(std::vector<double> u) {
  std::ranges::sort(u);
  double distance = 0;
  const auto n = static_cast<double>(u.size());
  for (std::size_t i = 0; i < u.size(); ++i) {
    const auto at = static_cast<double>(i);
    distance = std::max({distance, u[i] - at / n, (at + 1) / n - u[i]});
  }
  return distance;
}

struct Sums {
  double mean = 0, halves = 0, product = 0;  // mean, difference of the halves' means, mean product of neighbours
  std::size_t pairs = 0;
};

Sums sums_of(std::span<const double> values, const std::vector<bool>& follows) {
  Sums sums;
  const std::size_t count = values.size(), half = count / 2;
  double first = 0, second = 0;
  for (std::size_t t = 0; t < count; ++t) {
    (t < half ? first : second) += values[t];
    if (t == 0 || !follows[t]) continue;
    sums.product += values[t - 1] * values[t];
    ++sums.pairs;
  }
  sums.mean = (first + second) / static_cast<double>(count);
  sums.halves = first / static_cast<double>(half) - second / static_cast<double>(count - half);
  if (sums.pairs > 0) sums.product /= static_cast<double>(sums.pairs);
  return sums;
}

double square_sum(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return sum;
}

void standardise(std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / n;
  for (double& value : values) value -= mean;
  const double deviation = std::sqrt(square_sum(values) / n);
  for (double& value : values) value /= std::max(deviation, std::numeric_limits<double>::min());
}

}  // namespace

RankTolerance by_simulator(std::size_t parameters) {
  return {.who = "simulator", .errors = tolerated_shift * std::sqrt(static_cast<double>(parameters))};
}

ResidualTest test_ranks(const Matrix& u, const std::vector<bool>& follows, const std::vector<std::string>& names,
                        const RankTolerance& tolerance) {
  const std::size_t count = u.rows();
  if (count < fewest_residuals) return {};
  const auto n = static_cast<double>(count);
  Smallest smallest;
  for (std::size_t i = 0; i < u.cols(); ++i) {
    std::vector<double> ranks(count), r(count), size(count);
    for (std::size_t t = 0; t < count; ++t) {
      ranks[t] = u(t, i);
      r[t] = prior::normal_from_tails({ranks[t], 1 - ranks[t]});
      size[t] = std::abs(r[t]);
    }
    standardise(size);  // by its own mean and deviation: that it is too large is for the scale to say
    const Sums plain = sums_of(r, follows), sizes = sums_of(size, follows);
    std::vector<double> centred = r;  // that all lie on one side is for the mean to say
    for (double& value : centred) value -= plain.mean;
    const double product = sums_of(centred, follows).product;
    const double scale = square_sum(r) / n;
    const auto add = [&](double value, double tolerated, double error, std::string what) {
      smallest.add_normal(value, tolerated + tolerance.errors * error, error, std::move(what));
    };
    const double root = std::sqrt(n);
    add(plain.mean, tolerance.mean, 1 / root,
        fmt::format("{} lies {} of what the {} foresees one step ahead, on average", names[i],
                    plain.mean > 0 ? "above the middle" : "below the middle", tolerance.who));
    // Σ r²/T to a third is nearly normal (Wilson and Hilferty).
    const double cube = std::cbrt(scale) - (1 - 2 / (9 * n)), cube_error = std::sqrt(2 / (9 * n));
    add(cube, tolerance.scale, cube_error,
        fmt::format("{} varies {} from step to step than the {} says", names[i], scale > 1 ? "more" : "less",
                    tolerance.who));
    // The share of ranks below u has a standard error of ½/√T at most.
    const double distance = distance_from_uniform(ranks) - tolerance.shape - tolerance.errors / (2 * root);
    smallest.add(kolmogorov_p(std::max(0.0, distance), n),
                 fmt::format("the steps of {} are spread otherwise than the {} says", names[i], tolerance.who));
    add(plain.halves, tolerance.halves, 2 / root,
        fmt::format("the {} fits one half of the series and not the other, in {}", tolerance.who, names[i]));
    if (plain.pairs < fewest_residuals) continue;
    const double pair_error = 1 / std::sqrt(static_cast<double>(plain.pairs));
    add(product, tolerance.product, pair_error,
        fmt::format("residuals of {} that follow each other are {}", names[i], product > 0 ? "alike" : "opposed"));
    // The products of χ-like values have heavier tails than normal ones: their fourth moment is counted in.
    add(sizes.product, tolerance.product, 1.5 * pair_error,
        fmt::format("calm and wild stretches of {} follow each other", names[i]));
  }
  return smallest.result();
}

ResidualTest test_scores(const Matrix& g, const Matrix& h, const std::vector<bool>& follows,
                         const std::vector<std::string>& names) {
  const std::size_t count = g.rows(), d = g.cols();
  if (count < fewest_residuals) return {};
  const auto rows = static_cast<Eigen::Index>(count), columns = static_cast<Eigen::Index>(d);
  Eigen::MatrixXd all(rows, columns);
  for (std::size_t t = 0; t < count; ++t) {
    for (std::size_t i = 0; i < d; ++i) all(static_cast<Eigen::Index>(t), static_cast<Eigen::Index>(i)) = g(t, i);
  }
  if (!all.allFinite()) return {0, "the learned score of some transitions is not finite"};
  Smallest smallest;
  const auto n = static_cast<double>(count);
  for (Eigen::Index i = 0; i < columns; ++i) {
    const std::string& name = names[static_cast<std::size_t>(i)];
    const double square = all.col(i).squaredNorm();
    if (!(square > 0)) continue;
    std::vector<double> y(count), products, surplus;
    for (std::size_t t = 0; t < count; ++t) {
      y[t] = all(static_cast<Eigen::Index>(t), i) * std::sqrt(n / square);
      if (t > 0 && follows[t]) products.push_back(y[t - 1] * y[t]);
    }
    const Sums sums = sums_of(y, follows);
    smallest.add_normal(sums.mean, score_tolerance, 1 / std::sqrt(n),
                        fmt::format("what transitions say about {} does not add up to the posterior", name));
    smallest.add_normal(sums.halves, 2 * score_tolerance, 2 / std::sqrt(n),
                        fmt::format("the two halves of the series contradict each other about {}", name));
    if (products.size() >= fewest_residuals) {
      const double error = std::sqrt(square_sum(products)) / static_cast<double>(products.size());
      smallest.add_normal(sums.product, product_tolerance,
                          std::max(error, 1 / std::sqrt(static_cast<double>(products.size()))),
                          fmt::format("what transitions that follow each other say about {} is {}", name,
                                      sums.product > 0 ? "alike" : "opposed"));
    }
    double surplus_sum = 0, information = 0;
    for (std::size_t t = 0; t < count; ++t) {
      const double g_squared = g(t, static_cast<std::size_t>(i)) * g(t, static_cast<std::size_t>(i));
      surplus.push_back(g_squared - h(t, static_cast<std::size_t>(i)));
      surplus_sum += surplus.back();
      information += std::max(0.0, h(t, static_cast<std::size_t>(i)));
    }
    const double spread = std::sqrt(square_sum(surplus)), scale = std::min(square, information);
    if (!(spread > 0) || !std::isfinite(spread)) continue;
    const double beyond = std::max(0.0, std::abs(surplus_sum) - curvature_tolerance * scale) / spread;
    smallest.add(2 * (surplus_sum > 0 ? student_upper(beyond, n) : prior::normal_tails(beyond).upper),
                 fmt::format("transitions say {} about {} than the learned model expects of them",
                             surplus_sum > 0 ? "more different things" : "more uniform things", name));
  }
  return smallest.result();
}

ResidualTest test_own_parameters(const Matrix& log_w) {
  if (log_w.rows() < fewest_residuals) return {};
  std::vector<double> log_e(log_w.cols());
  for (std::size_t t = 0; t < log_w.rows(); ++t) {
    for (std::size_t j = 0; j < log_e.size(); ++j) {
      const double value = log_w(t, j);
      log_e[j] += (std::isnan(value) ? 0 : std::min(value, most_of_one)) - own_tolerance;
    }
  }
  return {std::exp(-std::max(0.0, log_mean_exp(log_e))),
          "no parameters explain all transitions: they are likelier if each has its own"};
}

ResidualTest test_inside(const Matrix& g, const Matrix& h, const std::vector<bool>& outside,
                         const std::vector<std::string>& names) {
  ResidualTest smallest;
  std::size_t inside = 0;
  for (const bool out : outside) inside += out ? 0 : 1;
  if (inside < fewest_residuals) return smallest;
  for (std::size_t i = 0; i < g.cols(); ++i) {
    double sum = 0, squares = 0, curvature = 0;
    for (std::size_t t = 0; t < g.rows(); ++t) {
      if (outside[t]) continue;
      sum += g(t, i);
      squares += g(t, i) * g(t, i);
      curvature += h(t, i);
    }
    const double variance = std::max(squares, curvature);
    if (!(variance > 0)) continue;
    const double p = static_cast<double>(g.cols()) * std::erfc(std::abs(sum) / std::sqrt(2 * variance));
    if (p < smallest.p || smallest.what.empty()) smallest = {std::min(p, 1.0), names[i]};
  }
  return smallest;
}

}  // namespace catena::sample
