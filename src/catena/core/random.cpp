#include "catena/core/random.h"

#include <Random123/philox.h>

#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "catena/core/check.h"
#include "catena/core/random_kernels.h"

namespace catena {

namespace {

/// SplitMix64's finaliser (Steele et al. 2014): a bijection of 64 bits in which every input bit moves every output bit.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

std::uint64_t hash(std::uint64_t seed, std::string_view name, std::span<const std::uint64_t> indices) {
  std::uint64_t state = mix(seed);
  for (const char c : name) state = mix(state ^ static_cast<unsigned char>(c));
  state = mix(state ^ (0x100U + indices.size()));  // beyond a byte: "a" with index b differs from "ab"
  for (const std::uint64_t index : indices) state = mix(state ^ mix(index));
  return state;
}

}  // namespace

Stream Streams::stream_at(std::string_view name, std::span<const std::uint64_t> indices) const {
  if (indices.empty()) return Stream(hash(seed_, name, {}), 0);
  return Stream(hash(seed_, name, indices.first(indices.size() - 1)), indices.back());
}

std::uint64_t Stream::bits() {
  if (buffered_ == 0) {
    const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
    const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
    const r123::Philox4x32::ctr_type counter{{low(position_), high(position_), low(index_), high(index_)}};
    const r123::Philox4x32::key_type key{{low(key_), high(key_)}};
    const auto words = r123::Philox4x32()(counter, key);
    ++position_;
    buffer_[1] = words[0] | (static_cast<std::uint64_t>(words[1]) << 32);
    buffer_[0] = words[2] | (static_cast<std::uint64_t>(words[3]) << 32);
    buffered_ = 2;
  }
  return buffer_[static_cast<std::size_t>(--buffered_)];
}

double Stream::uniform() {
  // 52 bits and a half: the centres of 2⁵² equal cells, so that neither 0 nor 1 occurs.
  return (static_cast<double>(bits() >> 12) + 0.5) * 0x1p-52;
}

double Stream::normal() {
  // Box and Muller (1958): two independent normals from two uniforms.
  if (has_spare_normal_) {
    has_spare_normal_ = false;
    return spare_normal_;
  }
  const double radius = std::sqrt(-2 * std::log(uniform()));
  const double angle = 2 * std::numbers::pi * uniform();
  spare_normal_ = radius * std::sin(angle);
  has_spare_normal_ = true;
  return radius * std::cos(angle);
}

double Stream::gamma(double shape) {
  check::positive("gamma", "shape", shape);
  // Marsaglia and Tsang (2000); a shape below 1 is lifted by U^(1/shape), in logarithms so that it cannot underflow
  // early.
  if (shape < 1) {
    const double lifted = gamma(shape + 1);
    return std::exp(std::log(lifted) + std::log(uniform()) / shape);
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal();
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

std::uint64_t Stream::integer(std::uint64_t bound) {
  check::that(bound > 0, "integer", "bound", bound, "at least 1");
  // Lemire (2019): the high half of a product, with the few values rejected that would make it uneven.
  for (;;) {
    const __uint128_t product = static_cast<__uint128_t>(bits()) * bound;
    const auto low = static_cast<std::uint64_t>(product);
    if (low >= bound || low >= (-bound) % bound) return static_cast<std::uint64_t>(product >> 64);
  }
}

void Stream::fill_uniform(std::span<double> out) { position_ += kernels::uniform(key_, index_, position_, out); }
void Stream::fill_uniform(std::span<float> out) { position_ += kernels::uniform(key_, index_, position_, out); }
void Stream::fill_normal(std::span<double> out) { position_ += kernels::normal(key_, index_, position_, out); }
void Stream::fill_normal(std::span<float> out) { position_ += kernels::normal(key_, index_, position_, out); }

std::vector<std::size_t> Stream::permutation(std::size_t n) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[integer(i)]);
  return order;
}

std::vector<std::size_t> Stream::choice(std::size_t n, std::size_t k) {
  check::that(k <= n, "choice", "k", k, fmt::format("at most {}, the number to choose from", n));
  // The first k steps of a shuffle.
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = 0; i < k; ++i) std::swap(order[i], order[i + integer(n - i)]);
  order.resize(k);
  return order;
}

}  // namespace catena
