#include "catena/core/progress.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "catena/core/errors.h"

namespace catena::progress_test {

namespace {

/// What a piece of work prints on standard error. Under a test runner that is no terminal.
template <class Work>
std::string printed(ProgressStyle style, const Work& work) {
  testing::internal::CaptureStderr();
  {
    const auto progress = make_progress(style);
    work(*progress);
  }
  return testing::internal::GetCapturedStderr();
}

/// Withdraws a stop request at the end of a test, whatever its end.
struct StopRequest {
  ~StopRequest() { request_stop(false); }
};

}  // namespace

TEST(Progress, LeavesOneLinePerPhaseInALog) {
  const std::string text = printed(ProgressStyle::lines, [](Progress& progress) {
    progress.start("simulating", "transitions", 20'000);
    for (int i = 0; i < 10; ++i) progress.advance(2000);
    progress.note("3 lost");
    progress.start("training", "steps", 100);  // ends the phase before
    progress.advance(25);
    progress.finish();
  });
  EXPECT_EQ(std::ranges::count(text, '\n'), 2) << text;
  EXPECT_EQ(text.rfind("simulating 100 % 20k transitions", 0), 0U) << text;
  EXPECT_NE(text.find(", 3 lost\ntraining  25 % 25 steps"), std::string::npos) << text;
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Progress, SaysHowMuchWhenTheTotalIsUnknown) {
  const std::string text = printed(ProgressStyle::lines, [](Progress& progress) {
    progress.start("reading", "rows", 0);
    progress.advance(12);
  });
  EXPECT_EQ(text.rfind("reading 12 rows", 0), 0U) << text;
  EXPECT_EQ(text.find('%'), std::string::npos) << text;
}

TEST(Progress, DrawsABarInPlace) {
  const std::string text = printed(ProgressStyle::bar, [](Progress& progress) {
    progress.start("sampling", "steps", 4);
    progress.advance(2);
    progress.advance(2);
    progress.finish();
  });
  EXPECT_NE(text.find("\rsampling  50 % [████████████············] 2 steps"), std::string::npos) << text;
  EXPECT_NE(text.find("\rsampling 100 % [████████████████████████] 4 steps"), std::string::npos) << text;
  EXPECT_EQ(std::ranges::count(text, '\n'), 1) << "only the last state stays";
  EXPECT_EQ(text.back(), '\n');
}

TEST(Progress, NeverDrawsABarThatWraps) {
  const std::string text = printed(ProgressStyle::bar, [](Progress& progress) {
    progress.start(std::string(200, 'x'), "steps", 4);
    progress.advance(4);
    progress.finish();
  });
  // The output is captured in a file, which has no width; 80 columns are assumed then, and the last is left free.
  EXPECT_NE(text.find("\r" + std::string(79, 'x') + "\x1b[K"), std::string::npos) << text;
}

TEST(Progress, ShortensNumbersWithoutAnExponent) {
  const auto shown = [](std::uint64_t count) {
    const std::string text = printed(ProgressStyle::lines, [&](Progress& progress) {
      progress.start("n", "u", 0);
      progress.advance(count);
    });
    return text.substr(2, text.find(" u") - 2);
  };
  EXPECT_EQ(shown(9999), "9999");
  EXPECT_EQ(shown(10'000), "10k");
  EXPECT_EQ(shown(123'456), "123k");
  EXPECT_EQ(shown(999'499), "999k");
  EXPECT_EQ(shown(999'999), "1M");
  EXPECT_EQ(shown(1'234'567), "1.23M");
  EXPECT_EQ(shown(999'999'999), "1G");
}

TEST(Progress, IsSilentOnRequest) {
  const auto work = [](Progress& progress) {
    progress.start("simulating", "transitions", 10);
    progress.advance(10);
    progress.note("note");
    progress.finish();
  };
  EXPECT_EQ(printed(ProgressStyle::silent, work), "");
  testing::internal::CaptureStderr();
  work(silent_progress());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Progress, AutomaticWritesLinesWhereThereIsNoTerminal) {
  const std::string text = printed(ProgressStyle::automatic, [](Progress& progress) {
    progress.start("simulating", "transitions", 10);
    progress.advance(10);
  });
  EXPECT_EQ(text.rfind("simulating 100 %", 0), 0U) << text;
}

TEST(Progress, CountsFromSeveralThreads) {
  const std::string text = printed(ProgressStyle::lines, [](Progress& progress) {
    progress.start("simulating", "transitions", 4000);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) progress.advance(1);
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_EQ(text.rfind("simulating 100 % 4000 transitions", 0), 0U) << text;
}

TEST(Progress, AStopRequestEndsTheWorkOfEveryReporter) {
  const StopRequest cleanup;
  for (const ProgressStyle style : {ProgressStyle::bar, ProgressStyle::lines, ProgressStyle::silent}) {
    request_stop(false);
    int done = 0;
    const auto work = [&](Progress& progress) {
      progress.start("training", "steps", 10);
      for (done = 0; done < 10; ++done) {
        if (done == 3) request_stop();
        EXPECT_EQ(progress.stop_requested(), done >= 3);
        progress.advance(1);
      }
    };
    testing::internal::CaptureStderr();
    EXPECT_THROW(work(*make_progress(style)), Interrupted);
    testing::internal::GetCapturedStderr();
    EXPECT_EQ(done, 3);
  }
  EXPECT_THROW(silent_progress().advance(1), Interrupted);
}

TEST(Progress, CtrlCAsksForAStop) {
  const StopRequest cleanup;
  stop_on_interrupt();
  EXPECT_FALSE(stop_requested());
  std::raise(SIGINT);
  EXPECT_TRUE(stop_requested());
  stop_on_interrupt();  // arms it again: a second signal would have ended the program
  request_stop(false);
  std::raise(SIGTERM);
  EXPECT_TRUE(stop_requested());
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

TEST(ProgressDeathTest, ASecondCtrlCEndsTheProgram) {
  EXPECT_EXIT(
      {
        stop_on_interrupt();
        std::raise(SIGINT);
        std::raise(SIGINT);
      },
      ::testing::KilledBySignal(SIGINT), "");
}

TEST(ProgressDeathTest, WorkGoesOnWhenNobodyReadsStandardError) {
  // Standard error is closed in the child; drawing must then fail quietly.
  EXPECT_EXIT(
      {
        close(STDERR_FILENO);
        const auto progress = make_progress(ProgressStyle::bar);
        progress->start("sampling", "steps", 2);
        progress->advance(2);
        progress->finish();
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace catena::progress_test
