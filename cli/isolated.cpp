#include "isolated.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "catena/core/errors.h"
#include "verb.h"

namespace catena::cli {

/// Shared with the parent: when each thread's batch began, 0 between two.
struct BatchClock::Slots {
  std::array<std::atomic<std::int64_t>, 1024> began;  // threads share slots beyond that
};

namespace {

constexpr useconds_t look_every = 20000;  // microseconds
volatile sig_atomic_t isolated_child = 0;

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void pass_on(int number) {
  if (isolated_child > 0) ::kill(static_cast<pid_t>(isolated_child), number);
}

[[noreturn]] void end(std::string_view function, const std::string& plugin, const std::string& what) {
  fmt::print(stderr, "{}: the plug-in {} {}\n", function, plugin, what);
  std::fflush(nullptr);
  ::_exit(misuse);
}

[[noreturn]] void supervise(pid_t child, const std::array<std::atomic<std::int64_t>, 1024>& began,
                            std::string_view function, const std::string& plugin, double seconds) {
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) {
      if (WIFEXITED(status)) ::_exit(WEXITSTATUS(status));
      const int number = WTERMSIG(status);
      if (number == SIGTERM || number == SIGINT || number == SIGUSR1) ::_exit(interrupted);
      end(function, plugin,
          fmt::format("crashed ({}): what was written of the output is whole or has the ending .partial",
                      ::strsignal(number)));  // NOLINT(concurrency-mt-unsafe): this process has one thread
    }
    if (ended < 0 && errno != EINTR) end(function, plugin, "could not be waited for");
    for (const auto& slot : began) {
      const std::int64_t at = slot.load(std::memory_order_relaxed);
      if (at == 0 || static_cast<double>(now() - at) < seconds * 1e9) continue;
      ::kill(child, SIGKILL);
      while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
      }
      end(function, plugin,
          fmt::format("did not come back from a batch within {} s, the limit of --batch-seconds", seconds));
    }
    ::usleep(look_every);
  }
}

}  // namespace

void BatchClock::time(const std::function<void()>& call) const {
  static std::atomic<std::size_t> threads{0};
  thread_local const std::size_t mine = threads.fetch_add(1) % slots_->began.size();
  slots_->began[mine].store(now(), std::memory_order_relaxed);
  try {
    call();
  } catch (...) {
    slots_->began[mine].store(0, std::memory_order_relaxed);
    throw;
  }
  slots_->began[mine].store(0, std::memory_order_relaxed);
}

const BatchClock& isolate_plugin(std::string_view function, const std::string& plugin, double seconds) {
  static BatchClock clock;
  void* shared = ::mmap(nullptr, sizeof(BatchClock::Slots), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw InputError(fmt::format("{}: --isolate got no memory to share", function));
  clock.slots_ = new (shared) BatchClock::Slots{};
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) {
    throw InputError(fmt::format("{}: --isolate got no process: {}", function, std::generic_category().message(errno)));
  }
  if (child == 0) return clock;
  isolated_child = static_cast<sig_atomic_t>(child);
  struct sigaction action{};
  action.sa_handler = pass_on;
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGUSR1, &action, nullptr);
  ::signal(SIGINT, SIG_IGN);  // a terminal sends it to the child as well
  supervise(child, clock.slots_->began, function, plugin, seconds);
}

}  // namespace catena::cli
