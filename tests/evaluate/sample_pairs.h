/// The pairs of samples of tests/data/metrics/sample_pairs.py, made from the same formula.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>
#include <utility>
#include <vector>

#include "catena/core/array.h"

namespace catena::evaluate::testing {

inline constexpr std::array<std::string_view, 4> pair_kinds{"equal", "shifted", "rescaled", "missing_mode"};

inline std::vector<double> formula_normals(std::uint64_t seed, std::size_t count) {
  const auto uniform = [&](std::uint64_t k) {
    std::uint64_t z = seed + (k + 1) * 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    z = z ^ (z >> 31);
    return (static_cast<double>(z >> 11) + 0.5) * 0x1p-53;
  };
  std::vector<double> result(count);
  for (std::size_t k = 0; k < count; ++k) {
    result[k] = std::sqrt(-2 * std::log(uniform(2 * k))) * std::cos(2 * std::numbers::pi * uniform(2 * k + 1));
  }
  return result;
}

inline std::pair<Matrix, Matrix> sample_pair(std::string_view kind, std::size_t dimension, std::size_t draws = 1000) {
  std::size_t number = 0;
  while (pair_kinds.at(number) != kind) ++number;
  const std::uint64_t seed = 1000 * (1 + number) + 10 * dimension;
  std::pair<Matrix, Matrix> result{Matrix(draws, dimension), Matrix(draws, dimension)};
  const std::vector<double> a = formula_normals(seed, draws * dimension);
  const std::vector<double> b = formula_normals(seed + 1, draws * dimension);
  for (std::size_t r = 0; r < draws; ++r) {
    for (std::size_t c = 0; c < dimension; ++c) {
      double in_a = a[r * dimension + c];
      double in_b = b[r * dimension + c];
      if (kind == "shifted") in_b += 0.3;
      if (kind == "rescaled") in_b *= 1.5;
      if (kind == "missing_mode" && c == 0) {
        in_a += r % 2 == 0 ? -2 : 2;
        in_b += 2;
      }
      const double scale = 3.0 * static_cast<double>(1 + c);
      result.first(r, c) = 7 + scale * in_a;
      result.second(r, c) = 7 + scale * in_b;
    }
  }
  return result;
}

}  // namespace catena::evaluate::testing
