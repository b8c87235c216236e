/// A population with multiplicative noise, x' = r x e^(−x/K) e^(s ε): given x, log x' is normal, so that the density of
/// x' is known. And a walk with additive noise, far from 0, for which logarithms are of no use.
#pragma once

#include <cmath>
#include <numbers>

#include "train/train_cases.h"

namespace catena::train::testing {

/// log r, log K and log s are standard normal z, moved and scaled.
struct Ricker {
  double r, K, s;
  explicit Ricker(std::span<const double> z)
      : r(std::exp(1 + 0.5 * z[0])), K(std::exp(2.3 + 0.5 * z[1])), s(std::exp(-1.2 + 0.5 * z[2])) {}

  double mean_increment(double x) const { return std::log(r) - x / K; }  // of log x
  double step(double x, double epsilon) const { return x * std::exp(mean_increment(x) + s * epsilon); }
  double log_density(double x, double x_next) const {
    const double e = (std::log(x_next / x) - mean_increment(x)) / s;
    return -0.5 * e * e - std::log(s * x_next) - 0.5 * std::log(2 * std::numbers::pi);
  }
};

inline simulate::TransitionSet ricker_set(std::size_t rows, std::uint64_t seed = 3) {
  simulate::TransitionSet set;
  set.z = Matrix(rows, 3);
  set.x = set.x_next = Matrix(rows, 1);
  set.time = Matrix(rows, 0);
  set.prior = prior::Prior::standard({"r", "K", "s"});
  set.state_names = {"N"};
  Stream stream = Streams(seed).stream("ricker");
  for (std::size_t r = 0; r < rows; ++r) {
    for (double& z : set.z.row(r)) z = stream.normal();
    set.x(r, 0) = std::exp(2 + stream.normal());
    set.x_next(r, 0) = Ricker(set.z.row(r)).step(set.x(r, 0), stream.normal());
  }
  set.theta = set.z;
  return set;
}

/// State a multiplies, state b adds: a' = a e^(z/2 + ε/2), b' = b + z + ε with b around 12.
inline simulate::TransitionSet one_multiplies_one_adds(std::size_t rows) {
  simulate::TransitionSet set = two_state_set(rows);
  set.provenance = nlohmann::json::object();
  Stream stream = Streams(5).stream("walks");
  for (std::size_t r = 0; r < rows; ++r) {
    const double z = set.z(r, 0) = set.theta(r, 0) = stream.normal();
    set.x(r, 0) = std::exp(stream.normal());
    set.x(r, 1) = 12 + stream.uniform();
    set.x_next(r, 0) = set.x(r, 0) * std::exp(0.5 * z + 0.5 * stream.normal());
    set.x_next(r, 1) = set.x(r, 1) + z + stream.normal();
  }
  return set;
}

/// Small enough for a test.
inline nlohmann::json small_density(const std::string& density) {
  return {{"density", density}, {"decay", 0.1}, {"width", 24}, {"layers", 2}, {"terms", 8}};
}

}  // namespace catena::train::testing
