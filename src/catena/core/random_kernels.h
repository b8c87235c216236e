/// Philox 4×32-10 over SIMD lanes and the transforms of its words, dispatched at run time. Called by Stream only.
#pragma once

#include <cstdint>
#include <span>

namespace catena::kernels {

/// Each fills `out` from the blocks (key; position, position + 1, …; index) and returns how many blocks it used.
/// The values depend on those numbers alone, not on the vector width.
std::uint64_t uniform(std::uint64_t key, std::uint64_t index, std::uint64_t position, std::span<double> out);
std::uint64_t uniform(std::uint64_t key, std::uint64_t index, std::uint64_t position, std::span<float> out);
std::uint64_t normal(std::uint64_t key, std::uint64_t index, std::uint64_t position, std::span<double> out);
std::uint64_t normal(std::uint64_t key, std::uint64_t index, std::uint64_t position, std::span<float> out);

}  // namespace catena::kernels
