#include "catena/sample/mcmc/start/resampling.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace catena::sample {

std::vector<double> tempering_weights(std::span<const double> log_likelihoods, double step) {
  double largest = -std::numeric_limits<double>::infinity();
  for (const double value : log_likelihoods) largest = std::max(largest, value);
  std::vector<double> result;
  result.reserve(log_likelihoods.size());
  for (const double value : log_likelihoods) {
    result.push_back(std::isfinite(value) ? std::exp(step * (value - largest)) : 0);
  }
  return result;
}

double effective_size(std::span<const double> weights) {
  double sum = 0, squares = 0;
  for (const double value : weights) sum += value, squares += value * value;
  return sum * sum / squares;
}

double next_tempering_step(std::span<const double> log_likelihoods, double rest) {
  const auto size_after = [&](double step) { return effective_size(tempering_weights(log_likelihoods, step)); };
  // Where the likelihood is 0 nothing can be kept: half of those that are possible, then.
  const double wanted = 0.5 * size_after(0);
  if (size_after(rest) >= wanted) return rest;
  double low = 0, high = rest;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (size_after(middle) >= wanted ? low : high) = middle;
  }
  return high;
}

std::vector<std::size_t> resample(std::span<const double> weights, Stream& stream) {
  const std::size_t n = weights.size();
  double total = 0;
  for (const double value : weights) total += value;
  std::vector<std::size_t> result;
  result.reserve(n);
  const double spacing = total / static_cast<double>(n);
  const double offset = stream.uniform();
  double passed = weights[0];
  std::size_t i = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const double point = spacing * (static_cast<double>(k) + offset);
    while (passed < point && i + 1 < n) passed += weights[++i];
    result.push_back(i);
  }
  return result;
}

}  // namespace catena::sample
