#include "catena/core/ranks/ranks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "catena/core/errors.h"
#include "catena/core/parallel.h"
#include "catena/core/progress.h"
#include "catena/core/ranks/bytes.h"
#include "catena/core/ranks/shard.h"
#include "core/memory_transport.h"

namespace catena::core::ranks_test {

/// Runs `work` on every rank, each a thread, and lets all of them leave with what it returned.
std::vector<int> on_ranks(int size, const RankLimits& limits, const std::function<int(Ranks&)>& work) {
  auto transports = MemoryTransport::make(size);
  std::vector<int> codes(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  for (int r = 0; r < size; ++r) {
    threads.emplace_back([&, r] {
      const auto ranks = Ranks::start(std::move(transports[static_cast<std::size_t>(r)]), limits, "the same");
      int code = 0;
      std::string sentence;
      try {
        code = work(*ranks);
      } catch (const RankError& error) {
        code = error.code();
      } catch (const Interrupted&) {
        code = 130;
      } catch (const InputError& error) {
        code = 2;
        sentence = error.what();
      }
      codes[static_cast<std::size_t>(r)] = ranks->leave(code, sentence);
    });
  }
  for (std::thread& thread : threads) thread.join();
  request_stop(false);
  return codes;
}

TEST(Ranks, OneProcessIsTheFirstAndHasEverything) {
  const auto one = Ranks::one();
  EXPECT_TRUE(one->first());
  EXPECT_FALSE(one->shared());
  EXPECT_TRUE(one->has(7));
  std::vector<std::size_t> made;
  one->deal(
      3, 1, [](std::size_t i) { return std::to_string(i); },
      [&](std::size_t i, std::string&& text) {
        EXPECT_EQ(text, std::to_string(i));
        made.push_back(i);
      });
  EXPECT_EQ(made, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(Parallel(1).ranks().size(), 1);
}

class SomeRanks : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(EachNumber, SomeRanks, testing::Values(1, 2, 3, 5));

TEST_P(SomeRanks, GatherInTheOrderOfTheRanks) {
  const std::vector<int> codes = on_ranks(GetParam(), {}, [](Ranks& ranks) {
    const auto all = ranks.all_gather(std::string(static_cast<std::size_t>(ranks.rank() + 1), 'x'));
    for (int r = 0; r < ranks.size(); ++r) EXPECT_EQ(all[static_cast<std::size_t>(r)].size(), r + 1);
    std::string text = ranks.first() ? "of the first" : "";
    ranks.broadcast(text);
    EXPECT_EQ(text, "of the first");
    EXPECT_TRUE(ranks.first_says(ranks.first()));
    return 0;
  });
  EXPECT_EQ(codes, std::vector<int>(static_cast<std::size_t>(GetParam()), 0));
}

TEST_P(SomeRanks, ShareItemsSoThatAllHaveAll) {
  on_ranks(GetParam(), {}, [](Ranks& ranks) {
    std::vector<double> values(17, -1);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (ranks.has(i)) values[i] = static_cast<double>(i * i);
    }
    share_items(
        ranks, values.size(), [&](std::size_t i) { return BytesWriter().put(values[i]).take(); },
        [&](std::size_t i, std::string_view bytes) { values[i] = BytesReader(bytes).get<double>(); });
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], static_cast<double>(i * i));
    return 0;
  });
}

TEST_P(SomeRanks, DealEveryNumberOnceAndNoneTooFarAhead) {
  std::vector<std::atomic<int>> made(100);
  std::atomic<std::size_t> lowest = 0;
  on_ranks(GetParam(), {}, [&](Ranks& ranks) {
    std::vector<int> taken(made.size());
    for (int again = 0; again < 2; ++again) {
      for (auto& each : made) each = 0;
      lowest = 0;
      ranks.barrier();
      ranks.deal(
          made.size(), 10,
          [&](std::size_t i) {
            ++made[i];
            EXPECT_LT(i, ranks.shared() ? lowest + 10 + 1 : made.size());
            return std::string(i % 7, 'y');
          },
          [&](std::size_t i, std::string&& bytes) {
            EXPECT_TRUE(ranks.first());
            EXPECT_EQ(bytes.size(), i % 7);
            ++taken[i];
            while (lowest < taken.size() && taken[lowest] > again) ++lowest;
          });
      ranks.barrier();
      for (auto& each : made) EXPECT_EQ(each, 1);
      ranks.barrier();
    }
    EXPECT_EQ(taken, std::vector<int>(made.size(), ranks.first() ? 2 : 0));
    return 0;
  });
}

TEST(Ranks, GroupsOfNeighboursWorkSideBySide) {
  on_ranks(5, {}, [](Ranks& ranks) {
    int which = 0;
    const auto group = ranks.group(2, which);
    EXPECT_EQ(group->size(), which == 0 ? 2 : 3);
    const auto all = group->all_gather(std::to_string(which));
    EXPECT_EQ(all, std::vector<std::string>(static_cast<std::size_t>(group->size()), std::to_string(which)));
    return 0;
  });
}

TEST(Ranks, AnErrorOfOneRankEndsAllWithItsCode) {
  std::string heard;
  const std::vector<int> codes = on_ranks(3, {.farewell = 5}, [&](Ranks& ranks) -> int {
    if (ranks.rank() == 2) throw InputError("simulate: budget is 0");
    try {
      for (;;) ranks.barrier();
    } catch (const RankError& error) {
      if (ranks.first()) heard = error.what();
      throw;
    }
  });
  EXPECT_EQ(codes, (std::vector<int>{2, 2, 2}));
  EXPECT_EQ(heard, "rank 2 on host-2: simulate: budget is 0");
}

TEST(Ranks, OtherBitsOnOneRankAreNamed) {
  std::string heard;
  on_ranks(3, {.farewell = 2}, [&](Ranks& ranks) -> int {
    const double value = ranks.rank() == 1 ? 1.0 + 1e-16 * 3 : 1.0;
    try {
      ranks.check_same("the weights", std::as_bytes(std::span(&value, 1)));
      ADD_FAILURE() << "not noticed";
    } catch (const RankError& error) {
      if (ranks.first()) heard = error.what();
    }
    return 1;
  });
  EXPECT_EQ(heard,
            "rank 1 on host-1 has other bits in the weights than rank 0 on host-0: machines whose processors differ "
            "cannot share work");
}

TEST(Ranks, OneThatIsNotHeardOfIsNamed) {
  std::shared_ptr<MemoryTransport::Network> network;
  auto transports = MemoryTransport::make(2, &network);
  std::string heard;
  std::thread first([&] {
    const auto ranks = Ranks::start(std::move(transports[0]), {.silence = 1.5, .farewell = 1}, "same");
    try {
      for (;;) ranks->barrier();
    } catch (const RankError& error) {
      heard = error.what();
      EXPECT_EQ(ranks->leave(error.code(), error.what()), 1);
    }
  });
  std::thread second([&] {
    const auto ranks = Ranks::start(std::move(transports[1]), {.silence = 1.5, .farewell = 1}, "same");
    ranks->barrier();
    network->mutex.lock();
    network->cut = {true, true};
    network->mutex.unlock();
    try {
      for (;;) ranks->barrier();
    } catch (const RankError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("rank 0 on host-0 has not been heard of for 1.5 s"));
      ranks->leave(error.code(), error.what());
    }
  });
  first.join();
  second.join();
  EXPECT_TRUE(heard.starts_with("rank 1 on host-1 has not been heard of for 1.5 s (--rank-seconds)")) << heard;
}

TEST(Ranks, OneThatIsTooLongAtOnePieceIsNamed) {
  std::string heard;
  std::atomic<bool> over = false;
  on_ranks(2, {.piece = 1.5, .farewell = 1}, [&](Ranks& ranks) -> int {
    if (ranks.first()) {
      try {
        ranks.barrier();
      } catch (const RankError& error) {
        heard = error.what();
      }
      over = true;
      return 1;
    }
    while (!over) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return 1;
  });
  EXPECT_EQ(heard, "rank 1 on host-1 has been at one piece of work for 1.5 s (--piece-seconds): it hangs");
}

TEST(Ranks, OtherArgumentsOnOneRankAreRefused) {
  auto transports = MemoryTransport::make(2);
  std::vector<std::string> said(2);
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < 2; ++r) {
    threads.emplace_back([&, r] {
      try {
        Ranks::start(std::move(transports[r]), {}, r == 0 ? "simulate" : "train");
      } catch (const RankError& error) {
        said[r] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& each : said) {
    EXPECT_EQ(
        each,
        "rank 1 on host-1 was started with another version or other arguments than rank 0 on host-0, but must not "
        "be");
  }
}

TEST(Shard, IsOneOfSeveralParts) {
  EXPECT_EQ(Shard::parse("f", "--shard", "3/16"), (Shard{3, 16}));
  for (const char* wrong : {"", "3", "3/", "/16", "0/16", "17/16", "3/0", "-1/2", "3/16x", "a/b", "1/10000000"}) {
    EXPECT_THROW(Shard::parse("f", "--shard", wrong), InputError) << wrong;
  }
  std::size_t next = 0;
  for (std::size_t number = 1; number <= 7; ++number) {
    const auto [begin, end] = Shard{number, 7}.range(100);
    EXPECT_EQ(begin, next);
    next = end;
  }
  EXPECT_EQ(next, 100);
  EXPECT_EQ(Shard({3, 16}).name("some/transitions.nc"), "some/transitions.3-of-16.nc");
  EXPECT_EQ(Shard().name("transitions.nc"), "transitions.nc");
}

TEST(Parallel, AsksSlurmForItsNumberOfThreads) {
  // NOLINTBEGIN(concurrency-mt-unsafe): no other thread asks
  ::setenv("SLURM_CPUS_PER_TASK", "3", 1);
  EXPECT_EQ(usual_threads(), 3);
  EXPECT_EQ(Parallel().threads(), 3);
  ::unsetenv("SLURM_CPUS_PER_TASK");
  const int alone = usual_threads();
  ::setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "1000", 1);
  EXPECT_EQ(usual_threads(), 1);
  ::unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  // NOLINTEND(concurrency-mt-unsafe)
  EXPECT_GE(alone, 1);
  cpu_set_t before, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(before), &before), 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(usual_threads(), 1);
  ::sched_setaffinity(0, sizeof(before), &before);
}

}  // namespace catena::core::ranks_test
