/// What the training loop minimises: a recorded loss and a way to feed it with examples. Each estimator has one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>

#include "catena/core/random.h"
#include "catena/nn/batch_gradient.h"
#include "catena/nn/execute.h"
#include "catena/nn/graph.h"
#include "catena/train/data.h"

namespace catena::train {

/// A part of a batch: the examples at positions begin ≤ i < end of a batch of `size`.
struct BatchPart {
  const Examples& examples;
  std::span<const std::size_t> order;  // position in the batch → row of the examples
  std::size_t begin, end;

  std::size_t size() const { return order.size(); }
  const float* z(std::size_t i) const { return examples.z_of(order[begin + i]); }
  const float* c(std::size_t i) const { return examples.c_of(order[begin + i]); }
  std::size_t transitions(std::size_t i) const { return examples.transitions_of(order[begin + i]); }
  std::size_t count() const { return end - begin; }
};

class Objective {
 public:
  virtual ~Objective() = default;
  virtual const nn::Graph& graph() const = 0;
  /// One feature, one value per lane; the batch's loss is the mean over lanes.
  virtual nn::Value loss() const = 0;
  /// Lanes that an example takes, next to each other.
  virtual std::size_t lanes_per_example() const { return 1; }
  /// Lanes of a block; a loss that compares lanes sees those of its block.
  virtual std::size_t block_lanes() const { return nn::training_block_lanes; }
  /// Whether the examples of a batch may stand in the order of their lengths, so that blocks of short series cost less.
  /// Not if noise goes by an example's place.
  virtual bool by_length() const { return false; }
  /// How often the held-out examples are looked at, with other noise each time. One look at a loss that is mostly noise
  /// says little of which weights, or which networks, are better.
  virtual std::size_t held_out_draws() const { return 1; }
  /// Writes the inputs of the part's examples into the first lanes; all noise comes from `stream`.
  virtual void fill(nn::Workspace& workspace, const BatchPart& part, Stream stream) const = 0;
};

/// The longest first.
inline void sort_by_length(const Examples& examples, std::span<std::size_t> order) {
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t row) { return examples.transitions_of(row); });
}

/// Copies one row of floats per example into the lanes of a block, `copies` lanes each.
template <class Row>
void gather(Block block, std::size_t count, std::size_t copies, const Row& row) {
  for (std::size_t i = 0; i < count; ++i) {
    const float* values = row(i);
    for (std::size_t f = 0; f < block.features; ++f) {
      for (std::size_t k = 0; k < copies; ++k) block(f, i * copies + k) = values[f];
    }
  }
}

}  // namespace catena::train
