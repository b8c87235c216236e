#include "catena/sample/mcmc/start/laplace.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/sample/mcmc/start/resampling.h"

namespace catena::sample {
namespace {

constexpr double laplace_freedom = 5;     // tails heavier than the posterior's
constexpr double least_effective = 0.1;   // share of the population, below which the Gaussians do not fit
constexpr double same_mode = 0.5;         // deviations: maxima as close as that are one
constexpr double least_log_weight = -20;  // of a mode, beside the heaviest

}  // namespace

std::vector<LaplaceMode> laplace_modes(const std::vector<Maximum>& maxima) {
  std::vector<LaplaceMode> result;
  for (const Maximum& maximum : maxima) {
    if (!maximum.converged || !std::isfinite(maximum.value)) continue;
    const Eigen::LLT<Eigen::MatrixXd> cholesky(maximum.curvature);
    if (cholesky.info() != Eigen::Success) continue;
    const auto d = static_cast<Eigen::Index>(maximum.z.size());
    const Eigen::VectorXd mean = Eigen::Map<const Eigen::VectorXd>(maximum.z.data(), d);
    const bool known = std::ranges::any_of(result, [&](const LaplaceMode& other) {
      return other.shape.lower.triangularView<Eigen::Lower>().solve(mean - other.shape.mean).norm() < same_mode;
    });
    if (known) continue;
    CloudShape shape(mean, cholesky.solve(Eigen::MatrixXd::Identity(d, d)));
    const double log_weight = maximum.value + shape.log_volume();
    result.push_back({log_weight, std::move(shape)});
  }
  double largest = -std::numeric_limits<double>::infinity();
  for (const LaplaceMode& gaussian : result) largest = std::max(largest, gaussian.log_weight);
  for (LaplaceMode& gaussian : result) gaussian.log_weight -= largest;
  std::erase_if(result, [](const LaplaceMode& gaussian) { return gaussian.log_weight < least_log_weight; });
  return result;
}

std::optional<LaplacePopulation> laplace_population(const Target& target, const std::vector<LaplaceMode>& modes,
                                                    std::size_t population, const Streams& streams) {
  std::vector<double> weights;
  double total = 0;
  for (const LaplaceMode& mode : modes) weights.push_back(std::exp(mode.log_weight)), total += weights.back();
  const std::size_t d = target.dimension();
  const auto dimension = static_cast<Eigen::Index>(d);
  Matrix points(population, d);
  std::vector<double> log_densities(population);
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
  target.log_density(points, log_densities);
  std::vector<double> log_ratio = log_densities;
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
  if (!(effective_size(ratios) >= least_effective * static_cast<double>(population))) return std::nullopt;
  Stream resampling = streams.stream("resample");
  const auto survivors = resample(ratios, resampling);
  LaplacePopulation result{Matrix(population, d), std::vector<double>(population)};
  for (std::size_t i = 0; i < population; ++i) {
    std::ranges::copy(points.row(survivors[i]), result.points.row(i).begin());
    result.log_densities[i] = log_densities[survivors[i]];
  }
  return result;
}

}  // namespace catena::sample
