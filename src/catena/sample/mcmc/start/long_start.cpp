#include "catena/sample/mcmc/start/long_start.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/sample/mcmc/kernels/cloud_proposals.h"
#include "catena/sample/mcmc/start/maximise.h"
#include "catena/sample/mcmc/start/resampling.h"

namespace catena::sample {
namespace {

constexpr double laplace_freedom = 5;     // tails heavier than the posterior's
constexpr double least_effective = 0.1;   // share of the population, below which the Gaussians do not fit
constexpr double same_mode = 0.5;         // deviations: maxima as close as that are one
constexpr double least_log_weight = -20;  // of a mode, beside the heaviest

struct Gaussian {
  double log_weight;  // of its mode: log p(μ) + log det L
  CloudShape shape;
};

/// The best point of each mode of the population, and the width of a mode in each coordinate.
std::pair<Matrix, std::vector<double>> one_of_each_mode(const Target& thinned, const Matrix& points) {
  const Modes modes = find_modes(points, usual_modes);
  std::vector<double> values(points.rows());
  thinned.log_density(points, values);
  Matrix starts(modes.all.size(), points.cols());
  std::vector<double> widths(points.cols(), std::numeric_limits<double>::infinity());
  for (std::size_t j = 0; j < modes.all.size(); ++j) {
    double best = -std::numeric_limits<double>::infinity();
    std::ranges::copy(modes.all[j].shape.mean, starts.row(j).begin());
    for (std::size_t r = 0; r < points.rows(); ++r) {
      if (modes.of[r] != j || !(values[r] > best)) continue;
      best = values[r];
      std::ranges::copy(points.row(r), starts.row(j).begin());
    }
    for (std::size_t i = 0; i < points.cols(); ++i) {
      const double width = modes.all[j].shape.lower.row(static_cast<Eigen::Index>(i)).norm();
      widths[i] = std::max(std::min(widths[i], width), 1e-6);
    }
  }
  return {std::move(starts), std::move(widths)};
}

/// Laplace's approximation of each different mode; none where a curvature is not positive definite.
std::vector<Gaussian> laplace(const std::vector<Maximum>& maxima) {
  std::vector<Gaussian> result;
  for (const Maximum& maximum : maxima) {
    if (!maximum.converged || !std::isfinite(maximum.value)) continue;
    const Eigen::LLT<Eigen::MatrixXd> cholesky(maximum.curvature);
    if (cholesky.info() != Eigen::Success) continue;
    const auto d = static_cast<Eigen::Index>(maximum.z.size());
    const Eigen::VectorXd mean = Eigen::Map<const Eigen::VectorXd>(maximum.z.data(), d);
    const bool known = std::ranges::any_of(result, [&](const Gaussian& other) {
      return other.shape.lower.triangularView<Eigen::Lower>().solve(mean - other.shape.mean).norm() < same_mode;
    });
    if (known) continue;
    CloudShape shape(mean, cholesky.solve(Eigen::MatrixXd::Identity(d, d)));
    const double log_weight = maximum.value + shape.log_volume();
    result.push_back({log_weight, std::move(shape)});
  }
  double largest = -std::numeric_limits<double>::infinity();
  for (const Gaussian& gaussian : result) largest = std::max(largest, gaussian.log_weight);
  for (Gaussian& gaussian : result) gaussian.log_weight -= largest;
  std::erase_if(result, [](const Gaussian& gaussian) { return gaussian.log_weight < least_log_weight; });
  return result;
}

}  // namespace

Start long_start(const Target& target, const Target& thinned, std::size_t population, int moves, const Streams& streams,
                 Progress& progress) {
  Start failed;
  failed.outcome = Outcome::not_mixed;
  const Start of_some = temper_start(thinned, population, moves, streams.child("thinned"), progress);
  if (of_some.outcome != Outcome::ok) return failed;
  auto [starts, widths] = one_of_each_mode(thinned, of_some.points.back());
  const GradientField field = [&](ConstMatrixView z, std::span<double> value, MatrixView gradient) {
    target.log_density_and_gradient(z, value, gradient);
  };
  const std::vector<Gaussian> modes = laplace(maximise(field, starts, {.scale = std::move(widths)}));
  if (modes.empty()) return failed;

  std::vector<double> weights;
  double total = 0;
  for (const Gaussian& mode : modes) weights.push_back(std::exp(mode.log_weight)), total += weights.back();
  const std::size_t d = target.dimension();
  const auto dimension = static_cast<Eigen::Index>(d);
  Matrix points(population, d);
  std::vector<double> log_ratio(population);
  for (std::size_t i = 0; i < population; ++i) {
    Stream stream = streams.stream("laplace", i);
    std::size_t j = 0;
    for (double left = total * stream.uniform(); j + 1 < modes.size(); ++j) {
      left -= weights[j];
      if (left < 0) break;
    }
    const double stretch = 1 / std::sqrt(stream.gamma(laplace_freedom / 2) * 2 / laplace_freedom);
    Eigen::VectorXd noise(dimension);
    for (double& value : noise) value = stretch * stream.normal();
    Eigen::Map<Eigen::VectorXd>(points.row(i).data(), dimension) =
        modes[j].shape.mean + modes[j].shape.lower.triangularView<Eigen::Lower>() * noise;
  }
  target.log_density(points, log_ratio);
  for (std::size_t i = 0; i < population; ++i) {
    const Eigen::Map<const Eigen::VectorXd> z(points.row(i).data(), dimension);
    double density = 0;  // of the mixture of t, up to a constant
    for (std::size_t j = 0; j < modes.size(); ++j) {
      const double squared =
          modes[j].shape.lower.triangularView<Eigen::Lower>().solve(z - modes[j].shape.mean).squaredNorm();
      density += weights[j] / total *
                 std::exp(-0.5 * (laplace_freedom + static_cast<double>(d)) * std::log1p(squared / laplace_freedom) -
                          modes[j].shape.log_volume());
    }
    log_ratio[i] -= std::log(density);
  }
  const std::vector<double> ratios = tempering_weights(log_ratio, 1);
  if (!(effective_size(ratios) >= least_effective * static_cast<double>(population))) return failed;
  Stream resampling = streams.stream("resample");
  const auto survivors = resample(ratios, resampling);
  Start start{Outcome::ok, {0, 1}, {of_some.points.front(), Matrix(population, d)}};
  for (std::size_t i = 0; i < population; ++i) {
    std::ranges::copy(points.row(survivors[i]), start.points.back().row(i).begin());
  }
  return start;
}

}  // namespace catena::sample
