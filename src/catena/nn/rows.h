/// A network over rows of anything, a block at a time: the one loop for all that is not training.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "catena/core/array.h"
#include "catena/nn/execute.h"

namespace catena::nn {

/// A block's activations stay in the second cache for networks of some hundred units.
inline constexpr std::size_t row_block_lanes = 128;

/// `fill(workspace, begin, lanes)` writes the inputs of the rows from `begin` on into the first lanes, and
/// `take(workspace, begin, lanes)` reads what came out.
template <class Fill, class Take>
void run_rows(const Graph& graph, std::span<const float> weights, std::size_t rows, const Fill& fill, const Take& take,
              const Purpose& purpose = Purpose::inference(), std::size_t block = row_block_lanes) {
  Workspace workspace(graph, block, purpose);
  for (std::size_t begin = 0; begin < rows; begin += block) {
    const std::size_t lanes = std::min(block, rows - begin);
    fill(workspace, begin, lanes);
    workspace.forward(weights, lanes);
    take(workspace, begin, lanes);
  }
}

/// Rows begin … begin + lanes − 1 of a matrix into the lanes of a block.
inline void rows_to_lanes(ConstMatrixView rows, std::size_t begin, Block block) {
  for (std::size_t f = 0; f < block.features; ++f) {
    for (std::size_t l = 0; l < block.lanes; ++l) block(f, l) = static_cast<float>(rows(begin + l, f));
  }
}

/// The lanes of a block into rows, begin … begin + lanes − 1.
template <class T>
void lanes_to_rows(ConstBlock block, std::size_t begin, BasicMatrixView<T> rows) {
  for (std::size_t l = 0; l < block.lanes; ++l) {
    for (std::size_t f = 0; f < block.features; ++f) rows(begin + l, f) = static_cast<T>(block(f, l));
  }
}

}  // namespace catena::nn
