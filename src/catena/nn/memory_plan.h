/// Where everything that a replay needs stands in one piece of memory. Values that are not alive together share their
/// place, which then stays in the cache; so do gradients. Called by execute.cpp, once for each workspace.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <queue>
#include <unordered_map>
#include <vector>

#include "catena/nn/graph.h"

namespace catena::nn {

/// Hands out places in one piece of memory. What is taken until some time goes back then, and the oldest place of the
/// same size that is free is handed out again. The work is a logarithm of the places for each of them.
class Arena {
 public:
  std::size_t take(std::size_t floats);
  /// Alive at `from` ≤ time ≤ `until`. Calls come in the order of `from`.
  std::size_t take_until(std::size_t floats, std::size_t from, std::size_t until);
  /// What take_until() gave lives longer.
  void keep_until(std::size_t offset, std::size_t until);

  /// Nothing that was taken so far is handed out again.
  void forget();
  std::size_t size() const { return size_; }
  /// How many places were looked at so far: the work, for tests.
  std::size_t visits() const { return visits_; }

 private:
  struct Piece {
    std::size_t offset, floats, until;
  };
  struct Expiry {
    std::size_t until, piece;
    bool operator>(const Expiry& other) const { return until > other.until; }
  };
  template <class T>
  using SmallestFirst = std::priority_queue<T, std::vector<T>, std::greater<>>;

  std::vector<Piece> pieces_;
  std::unordered_map<std::size_t, std::size_t> piece_at_;   // by offset
  SmallestFirst<Expiry> expiries_;                          // of pieces in use; out of date where a piece lives longer
  std::map<std::size_t, SmallestFirst<std::size_t>> free_;  // pieces by size
  std::size_t size_ = 0, visits_ = 0;
};

/// Distance between features in memory: an odd number of cache lines, because a power of two would put all features of
/// a lane into the same few sets of the cache (at 256 lanes that costs a tenth of the speed).
std::size_t lane_stride(std::size_t lanes);

struct MemoryNeeds {
  std::vector<bool> gradients, tangents;  // for each node
  bool derivatives = false;               // a reverse or tangent pass will follow
  bool all_values = false;                // every value stays, not only inputs and results
};

/// Offsets in floats, for each node.
struct MemoryPlan {
  std::vector<std::size_t> values, gradients, tangents, saved;
  std::size_t scratch = 0, scratch_rows = 0;
  std::size_t size = 0;
  std::size_t visits = 0;  // see Arena
};

MemoryPlan plan_memory(const Graph& graph, std::size_t lanes, const MemoryNeeds& needs);

}  // namespace catena::nn
