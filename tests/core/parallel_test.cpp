#include "catena/core/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "catena/core/errors.h"
#include "catena/core/random.h"

namespace catena::parallel_test {

namespace {

/// Rounding makes this sum depend on its order: any change in cut or order shows in the last bits.
double sum_by_blocks(const Parallel& parallel, std::size_t count) {
  const std::size_t block_size = 64;
  std::vector<double> sums((count + block_size - 1) / block_size);
  parallel.for_blocks(count, block_size, [&](std::size_t begin, std::size_t end, std::size_t block) {
    std::vector<double> draws(end - begin);
    Streams(3).stream("parallel", block).fill_normal(draws);
    sums[block] = std::accumulate(draws.begin(), draws.end(), 0.0);
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace

TEST(Parallel, GivesTheSameBitsOnAnyNumberOfThreads) {
  for (const std::size_t count : {0, 1, 63, 64, 65, 10'000}) {
    const double one = sum_by_blocks(Parallel(1), count);
    EXPECT_EQ(sum_by_blocks(Parallel(2), count), one);
    EXPECT_EQ(sum_by_blocks(Parallel(5), count), one);
  }
}

TEST(Parallel, VisitsEveryIndexOnce) {
  for (const int threads : {1, 2, 5}) {
    std::vector<std::atomic<int>> visits(1000);
    Parallel(threads).for_each(visits.size(), [&](std::size_t i) { ++visits[i]; });
    for (const auto& count : visits) EXPECT_EQ(count, 1);
    Parallel(threads).for_each(0, [](std::size_t) { FAIL() << "nothing to visit"; });
  }
}

TEST(Parallel, CutsTheSameBlocksWhateverTheThreads) {
  for (const int threads : {1, 2, 5}) {
    std::vector<std::pair<std::size_t, std::size_t>> cuts(4);
    Parallel(threads).for_blocks(
        100, 30, [&](std::size_t begin, std::size_t end, std::size_t block) { cuts.at(block) = {begin, end}; });
    const std::vector<std::pair<std::size_t, std::size_t>> expected{{0, 30}, {30, 60}, {60, 90}, {90, 100}};
    EXPECT_EQ(cuts, expected);
  }
}

TEST(Parallel, UsesAsManyThreadsAsAskedFor) {
  // Each body waits until all three run at once, which takes three threads even on a machine with fewer cores.
  std::atomic<int> running = 0;
  std::atomic<bool> all_met = true;
  Parallel(3).for_each(3, [&](std::size_t) {
    ++running;
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (running < 3 && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
    if (running < 3) all_met = false;
  });
  EXPECT_TRUE(all_met);
}

TEST(Parallel, NumbersItsWorkersWithinRangeAndNoTwoAtOnceAlike) {
  for (const int threads : {1, 2, 5}) {
    const Parallel parallel(threads);
    EXPECT_EQ(parallel.threads(), threads);
    std::vector<std::atomic<int>> busy(static_cast<std::size_t>(threads));
    std::atomic<int> clashes = 0;
    parallel.for_each(2000, [&](std::size_t) {
      const auto worker = static_cast<std::size_t>(Parallel::worker());
      if (busy.at(worker)++ != 0) ++clashes;
      std::this_thread::yield();
      --busy.at(worker);
    });
    EXPECT_EQ(clashes, 0);
    EXPECT_EQ(Parallel::worker(), 0) << "outside a loop";
  }
}

TEST(Parallel, LoopsMayNestWithoutSharingAWorkersScratch) {
  // A body holds its worker's scratch while it runs a loop inside (of one index, and of several). Nobody else may get
  // that worker's number meanwhile: neither a second body on the same thread nor an inner loop on another one.
  for (const std::size_t inner_count : {1, 7}) {
    const Parallel parallel(4);
    std::vector<std::atomic<int>> holder(4);
    std::atomic<int> clashes = 0, inner_visits = 0;
    parallel.for_each(200, [&](std::size_t i) {
      const auto worker = static_cast<std::size_t>(Parallel::worker());
      const int me = static_cast<int>(i) + 1;
      if (holder.at(worker).exchange(me) != 0) ++clashes;
      parallel.for_each(inner_count, [&](std::size_t) {
        const int held_by = holder.at(static_cast<std::size_t>(Parallel::worker()));
        if (held_by != 0 && held_by != me) ++clashes;
        ++inner_visits;
        std::this_thread::yield();
      });
      if (static_cast<std::size_t>(Parallel::worker()) != worker) ++clashes;
      if (holder.at(worker).exchange(0) != me) ++clashes;
    });
    EXPECT_EQ(clashes, 0);
    EXPECT_EQ(inner_visits, 200 * static_cast<int>(inner_count));
  }
}

TEST(Parallel, LoopsOfDifferentSizeMayNest) {
  const Parallel outer(2), inner(5), serial(1);
  std::atomic<int> visits = 0, out_of_range = 0;
  outer.for_each(20, [&](std::size_t) {
    inner.for_each(10, [&](std::size_t) {
      if (Parallel::worker() < 0 || Parallel::worker() >= 5) ++out_of_range;
      serial.for_each(3, [&](std::size_t) {
        if (Parallel::worker() != 0) ++out_of_range;
        ++visits;
      });
    });
    if (Parallel::worker() < 0 || Parallel::worker() >= 2) ++out_of_range;
  });
  EXPECT_EQ(visits, 20 * 10 * 3);
  EXPECT_EQ(out_of_range, 0);
}

TEST(Parallel, ThrowsTheExceptionOfABodyAgain) {
  for (const int threads : {1, 2, 5}) {
    const Parallel parallel(threads);
    try {
      parallel.for_each(100, [](std::size_t i) {
        if (i == 42) throw InputError("index 42");
      });
      FAIL() << "nothing was thrown";
    } catch (const InputError& error) {
      EXPECT_STREQ(error.what(), "index 42");
    }
    EXPECT_EQ(Parallel::worker(), 0);
    std::atomic<int> visits = 0;
    parallel.for_each(10, [&](std::size_t) { ++visits; });
    EXPECT_EQ(visits, 10) << "the threads must be usable after an exception";
  }
}

TEST(Parallel, ThrowsTheExceptionOfTheLowestIndexThatRan) {
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::vector<std::atomic<bool>> thrown(200);
    std::size_t caught = 0;
    try {
      Parallel(4).for_each(thrown.size(), [&](std::size_t i) {
        thrown[i] = true;
        throw std::runtime_error(std::to_string(i));
      });
    } catch (const std::runtime_error& error) {
      caught = std::stoul(error.what());
    }
    EXPECT_TRUE(thrown[caught]);
    for (std::size_t i = 0; i < caught; ++i) EXPECT_FALSE(thrown[i]);
  }
}

TEST(Parallel, AnExceptionFromANestedLoopComesThrough) {
  const Parallel parallel(3);
  EXPECT_THROW(parallel.for_each(10,
                                 [&](std::size_t) {
                                   parallel.for_each(10, [](std::size_t i) {
                                     if (i == 3) throw Interrupted();
                                   });
                                 }),
               Interrupted);
}

TEST(Parallel, ChoosesTheMachinesThreadsForZeroAndRefusesNegativeNumbers) {
  EXPECT_GE(Parallel(0).threads(), 1);
  EXPECT_THROW(Parallel(-1), InputError);
  EXPECT_THROW(Parallel(1025), InputError);
}

}  // namespace catena::parallel_test
