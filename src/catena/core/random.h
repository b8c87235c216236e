/// Random numbers as a function of (seed, name, indices): Philox 4×32-10 of Random123 in counter mode
/// (Salmon et al. 2011, docs/refs.bib: salmon2011). A stream's draws do not depend on threads or on other streams.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace catena {

/// An endless sequence of random words with its place in it. Cheap to make and to copy; a copy repeats the same draws.
///
/// `fill` calls work whole Philox blocks at SIMD speed and leave the scalar calls' buffer alone; the draws of a program
/// are a function of the sequence of calls, not of vector width or threads.
class Stream {
 public:
  Stream(std::uint64_t key, std::uint64_t index) : key_(key), index_(index) {}

  // One draw at a time.
  std::uint64_t bits();                        ///< 64 random bits
  double uniform();                            ///< (0, 1), both ends excluded
  double normal();                             ///< N(0, 1)
  double gamma(double shape);                  ///< Gamma(shape, 1), shape > 0
  std::uint64_t integer(std::uint64_t bound);  ///< 0 … bound − 1, exactly uniform; bound ≥ 1

  // Many at once, vectorised.
  void fill_uniform(std::span<double> out);
  void fill_uniform(std::span<float> out);  ///< (0, 1), multiples of 2⁻²⁴ shifted by half of one
  void fill_normal(std::span<double> out);
  void fill_normal(std::span<float> out);

  /// 0 … n − 1 in random order.
  std::vector<std::size_t> permutation(std::size_t n);
  /// k different ones of 0 … n − 1, in random order; k ≤ n.
  std::vector<std::size_t> choice(std::size_t n, std::size_t k);

 private:
  std::uint64_t key_;
  std::uint64_t index_;         // high half of Philox's counter: one value per stream of the same name
  std::uint64_t position_ = 0;  // low half: blocks of four 32-bit words used so far
  std::array<std::uint64_t, 2> buffer_{};
  int buffered_ = 0;
  double spare_normal_ = 0;
  bool has_spare_normal_ = false;
};

/// The root of all randomness of a run: one seed, any number of named streams.
class Streams {
 public:
  explicit Streams(std::uint64_t seed) : seed_(seed) {}

  std::uint64_t seed() const { return seed_; }

  /// stream("sample"), stream("sample", particle), stream("train", epoch, block): different names or indices give
  /// independent streams. The last index enters Philox's counter, so streams that differ in it alone never overlap;
  /// the name and the other indices are hashed into its key.
  template <class... Index>
  Stream stream(std::string_view name, Index... index) const {
    const std::array<std::uint64_t, sizeof...(Index) + 1> indices{static_cast<std::uint64_t>(index)..., 0};
    return stream_at(name, std::span(indices).first(sizeof...(Index)));
  }
  /// A root of its own for a part of the run: Streams("observation", 3) below this one.
  template <class... Index>
  Streams child(std::string_view name, Index... index) const {
    return Streams(stream(name, index...).bits());
  }

 private:
  Stream stream_at(std::string_view name, std::span<const std::uint64_t> indices) const;

  std::uint64_t seed_;
};

}  // namespace catena
