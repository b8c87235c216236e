// Philox over lanes: each 64-bit lane carries one 32-bit word of one counter's block, because the 32 × 32 → 64 bit
// product is what a round is made of. Two words of a block are then joined to one 64-bit number.

#include "catena/core/random_kernels.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "catena/core/random_kernels.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "catena/core/simd_turn-inl.h"

HWY_BEFORE_NAMESPACE();
namespace catena::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
namespace simd = catena::simd::HWY_NAMESPACE;

constexpr std::size_t chunk_blocks = 128;  // 4 KiB of words and of results at a time: both stay in the first cache

/// words[2b], words[2b + 1]: the 128 bits of block `position + b`, for whole vectors of blocks up to `blocks`.
void philox(std::uint64_t key, std::uint64_t index, std::uint64_t position, std::size_t blocks, std::uint64_t* words) {
  const hn::ScalableTag<std::uint64_t> d64;
  const hn::RepartitionToNarrow<decltype(d64)> d32;
  using V = hn::Vec<decltype(d64)>;
  const auto product = [&](V a, V b) { return hn::MulEven(hn::BitCast(d32, a), hn::BitCast(d32, b)); };
  // Multipliers and key increments of Philox 4×32 (Salmon et al. 2011, table 2).
  const V m0 = hn::Set(d64, 0xD2511F53U);
  const V m1 = hn::Set(d64, 0xCD9E8D57U);
  const V low_half = hn::Set(d64, 0xFFFFFFFFU);
  const std::size_t n = hn::Lanes(d64);
  for (std::size_t b = 0; b < blocks; b += n) {
    const V counter = hn::Add(hn::Set(d64, position + b), hn::Iota(d64, 0));
    V c0 = counter;  // only the low halves matter: a product reads nothing else
    V c1 = hn::ShiftRight<32>(counter);
    V c2 = hn::Set(d64, index);
    V c3 = hn::Set(d64, index >> 32);
    auto k0 = static_cast<std::uint32_t>(key);
    auto k1 = static_cast<std::uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
      const V p0 = product(m0, c0);
      const V p1 = product(m1, c2);
      c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p1), c1), hn::Set(d64, k0));
      c1 = p1;
      c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p0), c3), hn::Set(d64, k1));
      c3 = p0;
      k0 += 0x9E3779B9U;
      k1 += 0xBB67AE85U;
    }
    const V w01 = hn::Or(hn::And(c0, low_half), hn::ShiftLeft<32>(c1));
    const V w23 = hn::Or(hn::And(c2, low_half), hn::ShiftLeft<32>(c3));
    hn::StoreInterleaved2(w01, w23, d64, words + 2 * b);
  }
}

/// The centre of one of 2⁵² (2²³ for floats) equal cells of (0, 1): bits become the mantissa of a number in [1, 2).
template <class D, class V>
HWY_INLINE hn::Vec<D> centred_uniform(D d, V bits) {
  const hn::RebindToUnsigned<D> du;
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    const auto one_to_two = hn::BitCast(d, hn::Or(hn::ShiftRight<12>(bits), hn::Set(du, 0x3FF0000000000000U)));
    return hn::Sub(one_to_two, hn::Set(d, 1 - 0x1p-53));
  } else {
    const auto one_to_two = hn::BitCast(d, hn::Or(hn::ShiftRight<9>(bits), hn::Set(du, 0x3F800000U)));
    return hn::Sub(one_to_two, hn::Set(d, 1 - 0x1p-24F));
  }
}

/// Box and Muller (1958): √(−2 log u₁) (cos 2πu₂, sin 2πu₂).
template <class T, class U>
void normal_pairs(const U* words, std::size_t pairs, T* out) {
  const hn::ScalableTag<T> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  using V = hn::Vec<decltype(d)>;
  for (std::size_t i = 0; i < pairs; i += hn::Lanes(d)) {
    hn::Vec<decltype(du)> first, second;
    hn::LoadInterleaved2(du, words + 2 * i, first, second);
    const V radius = hn::Sqrt(hn::Mul(hn::Set(d, T{-2}), hn::Log(d, centred_uniform(d, first))));
    V cosine, sine;
    simd::cos_sin_turn(d, centred_uniform(d, second), cosine, sine);
    hn::StoreInterleaved2(hn::Mul(radius, cosine), hn::Mul(radius, sine), d, out + 2 * i);
  }
}

template <class T, class U>
void uniforms(const U* words, std::size_t count, T* out) {
  const hn::ScalableTag<T> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    hn::StoreU(centred_uniform(d, hn::LoadU(du, words + i)), d, out + i);
  }
}

/// Runs `transform(words, number of T's, destination)` chunk by chunk; a last, partial chunk goes through a buffer, so
/// that every value is computed by the same vector code wherever it stands.
template <class T, class Transform>
std::uint64_t in_chunks(std::uint64_t key, std::uint64_t index, std::uint64_t position, std::span<T> out,
                        Transform transform) {
  constexpr std::size_t per_block = 16 / sizeof(T);
  constexpr std::size_t chunk = chunk_blocks * per_block;
  alignas(64) std::uint64_t words[2 * chunk_blocks];
  alignas(64) T partial[chunk];
  std::uint64_t used = 0;
  for (std::size_t begin = 0; begin < out.size(); begin += chunk) {
    const std::size_t count = std::min(chunk, out.size() - begin);
    const std::size_t blocks = (count + per_block - 1) / per_block;
    philox(key, index, position + used, blocks, words);
    used += blocks;
    if (count == chunk) {
      transform(words, count, out.data() + begin);
    } else {
      // Whole vectors: what lies beyond `blocks` in `words` is never copied out, but must not be undefined.
      std::fill(words + 2 * blocks, words + 2 * chunk_blocks, std::uint64_t{0});
      transform(words, blocks * per_block, partial);
      std::memcpy(out.data() + begin, partial, count * sizeof(T));
    }
  }
  return used;
}

template <class T>
using Word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T>
std::uint64_t fill_uniform(std::uint64_t key, std::uint64_t index, std::uint64_t position, std::span<T> out) {
  return in_chunks(key, index, position, out, [](const std::uint64_t* words, std::size_t count, T* to) {
    uniforms(reinterpret_cast<const Word<T>*>(words), count, to);
  });
}

template <class T>
std::uint64_t fill_normal(std::uint64_t key, std::uint64_t index, std::uint64_t position, std::span<T> out) {
  return in_chunks(key, index, position, out, [](const std::uint64_t* words, std::size_t count, T* to) {
    normal_pairs(reinterpret_cast<const Word<T>*>(words), count / 2, to);
  });
}

std::uint64_t UniformDouble(std::uint64_t k, std::uint64_t i, std::uint64_t p, std::span<double> out) {
  return fill_uniform(k, i, p, out);
}
std::uint64_t UniformFloat(std::uint64_t k, std::uint64_t i, std::uint64_t p, std::span<float> out) {
  return fill_uniform(k, i, p, out);
}
std::uint64_t NormalDouble(std::uint64_t k, std::uint64_t i, std::uint64_t p, std::span<double> out) {
  return fill_normal(k, i, p, out);
}
std::uint64_t NormalFloat(std::uint64_t k, std::uint64_t i, std::uint64_t p, std::span<float> out) {
  return fill_normal(k, i, p, out);
}

}  // namespace catena::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace catena::kernels {

HWY_EXPORT(UniformDouble);
HWY_EXPORT(UniformFloat);
HWY_EXPORT(NormalDouble);
HWY_EXPORT(NormalFloat);

std::uint64_t uniform(std::uint64_t key, std::uint64_t index, std::uint64_t position, std::span<double> out) {
  return HWY_DYNAMIC_DISPATCH(UniformDouble)(key, index, position, out);
}
std::uint64_t uniform(std::uint64_t key, std::uint64_t index, std::uint64_t position, std::span<float> out) {
  return HWY_DYNAMIC_DISPATCH(UniformFloat)(key, index, position, out);
}
std::uint64_t normal(std::uint64_t key, std::uint64_t index, std::uint64_t position, std::span<double> out) {
  return HWY_DYNAMIC_DISPATCH(NormalDouble)(key, index, position, out);
}
std::uint64_t normal(std::uint64_t key, std::uint64_t index, std::uint64_t position, std::span<float> out) {
  return HWY_DYNAMIC_DISPATCH(NormalFloat)(key, index, position, out);
}

}  // namespace catena::kernels
#endif
