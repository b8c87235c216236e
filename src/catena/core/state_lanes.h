/// An owning block of doubles, [coordinates × simulations]: what simulators, priors and proposals work on.
#pragma once

#include <cstddef>

#include "catena/core/array.h"
#include "catena/core/random.h"

namespace catena {

using StateBlock = BasicBlock<double>;             // [coordinates × simulations], written
using ConstStateBlock = BasicBlock<const double>;  // the same, read

/// Zero at first. Lanes are padded as LaneBlock's are, so vectors may run past `lanes` up to the stride.
class StateLanes {
 public:
  StateLanes() = default;
  StateLanes(std::size_t coordinates, std::size_t lanes)
      : coordinates_(coordinates), lanes_(lanes), values_(coordinates * padded_lanes(lanes), 0.0) {}

  std::size_t coordinates() const { return coordinates_; }
  std::size_t lanes() const { return lanes_; }
  StateBlock view() { return {values_.data(), coordinates_, lanes_, padded_lanes(lanes_)}; }
  ConstStateBlock view() const { return {values_.data(), coordinates_, lanes_, padded_lanes(lanes_)}; }
  operator StateBlock() { return view(); }
  operator ConstStateBlock() const { return view(); }
  double& operator()(std::size_t i, std::size_t l) { return values_[i * padded_lanes(lanes_) + l]; }
  double operator()(std::size_t i, std::size_t l) const { return values_[i * padded_lanes(lanes_) + l]; }

 private:
  std::size_t coordinates_ = 0;
  std::size_t lanes_ = 0;
  AlignedVector<double> values_;
};

/// The first `lanes` simulations of a block.
template <class T>
BasicBlock<T> first_lanes(BasicBlock<T> block, std::size_t lanes) {
  return {block.data, block.features, lanes, block.stride};
}

/// Fills every row of the block with standard normals.
inline void fill_normal(Stream& stream, StateBlock block) {
  for (std::size_t i = 0; i < block.features; ++i) stream.fill_normal({block.feature(i), block.lanes});
}

}  // namespace catena
