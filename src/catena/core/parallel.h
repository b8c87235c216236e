/// Parallel loops on oneTBB whose result does not depend on the number of threads: work is cut into the same blocks
/// always, each block writes to its own place, and sums over blocks are added in the order of the blocks.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace catena {

class Ranks;

/// A number of threads to work with, and the processes that share the work (ranks.h). Cheap to copy; copies share the
/// threads.
class Parallel {
 public:
  /// threads = 0: as many as this process may use (usual_threads()). No ranks: this process works alone.
  explicit Parallel(int threads = 0, std::shared_ptr<Ranks> ranks = nullptr);

  int threads() const { return threads_; }
  /// Whoever shares its work asks here for its part of it; whoever does not does all of it, on every rank.
  Ranks& ranks() const { return *ranks_; }
  /// The same threads without the other ranks, for work that was already shared out.
  Parallel alone() const;
  /// The same threads with some of the ranks.
  Parallel with(std::shared_ptr<Ranks> ranks) const;

  /// Calls body(index) for 0 ≤ index < count, each once, in any order and on any thread. The first exception (lowest
  /// index among those that ran) is thrown again here.
  void for_each(std::size_t count, const std::function<void(std::size_t)>& body) const;

  /// Cuts [0, count) into blocks of block_size (the last may be shorter) and calls body(begin, end, block).
  void for_blocks(std::size_t count, std::size_t block_size,
                  const std::function<void(std::size_t begin, std::size_t end, std::size_t block)>& body) const;

  /// Which of the threads() workers runs the current call of a body: 0 … threads() − 1. For scratch memory per thread.
  static int worker();

 private:
  struct Arena;
  int threads_;
  std::shared_ptr<Arena> arena_;
  std::shared_ptr<Ranks> ranks_;
};

/// SLURM_CPUS_PER_TASK, or the processors of the affinity mask, but no more than this host's divided by its ranks.
int usual_threads();

}  // namespace catena
