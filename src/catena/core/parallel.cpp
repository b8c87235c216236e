#include "catena/core/parallel.h"

#include <sched.h>
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>

#include "catena/core/check.h"
#include "catena/core/environment.h"
#include "catena/core/ranks/ranks.h"

namespace catena {

namespace {

/// Which worker the current thread is, and of which set of threads.
struct Worker {
  const void* arena = nullptr;
  int number = 0;
};

thread_local Worker current_worker;

/// Sets the worker for one stretch of work and puts the old one back, so that loops may nest.
class WorkerScope {
 public:
  explicit WorkerScope(Worker worker) : outer_(current_worker) { current_worker = worker; }
  ~WorkerScope() { current_worker = outer_; }
  WorkerScope(const WorkerScope&) = delete;
  WorkerScope& operator=(const WorkerScope&) = delete;

 private:
  Worker outer_;
};

/// Says in our own code what TBB guarantees: what was written before the loop is seen by every body, and what bodies
/// wrote is seen after the loop. The thread sanitizer cannot see it in a TBB that was built without it.
class HandOver {
 public:
  void give() { given_.store(true, std::memory_order_release); }
  void take() const { (void)given_.load(std::memory_order_acquire); }
  void give_back() { returned_.fetch_add(1, std::memory_order_release); }
  void take_back() const { (void)returned_.load(std::memory_order_acquire); }

 private:
  std::atomic<bool> given_ = false;
  std::atomic<std::size_t> returned_ = 0;
};

constexpr int most_threads = 1024;

/// TBB starts no more threads than the machine has cores unless it is told that it may.
void allow_more_threads_than_cores() {
  static const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, most_threads);
}

}  // namespace

struct Parallel::Arena {
  explicit Arena(int threads) : arena(threads) { allow_more_threads_than_cores(); }
  tbb::task_arena arena;
};

Parallel::Parallel(int threads, std::shared_ptr<Ranks> ranks)
    : threads_(threads), ranks_(ranks ? std::move(ranks) : Ranks::one()) {
  check::between("parallel", "threads", threads, 0, most_threads);
  if (threads_ == 0) threads_ = usual_threads();
  if (threads_ > 1) arena_ = std::make_shared<Arena>(threads_);
}

Parallel Parallel::alone() const { return with(Ranks::one()); }

Parallel Parallel::with(std::shared_ptr<Ranks> ranks) const {
  Parallel same = *this;
  same.ranks_ = std::move(ranks);
  return same;
}

void Parallel::for_each(std::size_t count, const std::function<void(std::size_t)>& body) const {
  if (threads_ == 1 || count <= 1) {
    // Inside a loop of the same threads this one is still the worker that it was: another may be number 0.
    const bool nested = arena_ != nullptr && current_worker.arena == arena_.get();
    const WorkerScope scope(nested ? current_worker : Worker{arena_.get(), 0});
    for (std::size_t i = 0; i < count; ++i) body(i);
    return;
  }
  // TBB would rethrow whichever exception came first in time; we keep the one of the lowest index.
  std::mutex mutex;
  std::exception_ptr error;
  std::size_t error_index = std::numeric_limits<std::size_t>::max();
  std::atomic<bool> failed = false;
  HandOver hand_over;
  const auto run = [&](const tbb::blocked_range<std::size_t>& range) {
    hand_over.take();
    const WorkerScope scope({arena_.get(), tbb::this_task_arena::current_thread_index()});
    for (std::size_t i = range.begin(); i != range.end() && !failed; ++i) {
      try {
        body(i);
      } catch (...) {
        failed = true;
        const std::lock_guard lock(mutex);
        if (i < error_index) {
          error_index = i;
          error = std::current_exception();
        }
      }
    }
    hand_over.give_back();
  };
  hand_over.give();
  arena_->arena.execute([&] {
    // A thread that waits for this loop must not pass the time with a body of a loop around it: that body would find
    // the scratch memory of this worker in use.
    tbb::this_task_arena::isolate(
        [&] { tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, 1), run, tbb::simple_partitioner()); });
  });
  hand_over.take_back();
  if (error) std::rethrow_exception(error);
}

void Parallel::for_blocks(std::size_t count, std::size_t block_size,
                          const std::function<void(std::size_t, std::size_t, std::size_t)>& body) const {
  CATENA_ASSERT(block_size > 0);
  for_each((count + block_size - 1) / block_size, [&](std::size_t block) {
    const std::size_t begin = block * block_size;
    body(begin, std::min(count, begin + block_size), block);
  });
}

int Parallel::worker() { return current_worker.number; }

int usual_threads() {
  const auto within = [](int threads) { return std::clamp(threads, 1, most_threads); };
  if (const int given = environment_number("SLURM_CPUS_PER_TASK", 0); given > 0) return within(given);
  const auto machine = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  cpu_set_t mask;
  const int allowed = ::sched_getaffinity(0, sizeof(mask), &mask) == 0 ? CPU_COUNT(&mask) : machine;
  // Ranks that mpirun has not bound to processors of their own share them.
  const int here = std::max(1, environment_number("OMPI_COMM_WORLD_LOCAL_SIZE", 1));
  const auto configured = static_cast<int>(::sysconf(_SC_NPROCESSORS_CONF));
  return within(std::min(allowed, std::max(1, std::min(std::max(machine, allowed), configured) / here)));
}

}  // namespace catena
