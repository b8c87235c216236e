#include "catena/files/isolate.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <exception>
#include <fstream>

// Sanitizers reserve terabytes of addresses and open pipes of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CATENA_LIMIT_MEMORY 0
#define CATENA_LIMIT_FILES 0
#elif defined(__has_feature)
#define CATENA_LIMIT_MEMORY !(__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#define CATENA_LIMIT_FILES (CATENA_LIMIT_MEMORY && !__has_feature(undefined_behavior_sanitizer))
#else
#define CATENA_LIMIT_MEMORY 1
#define CATENA_LIMIT_FILES 1
#endif

namespace catena::files::detail {
namespace {

constexpr std::size_t frame_bytes = 1 << 16;  // small items are gathered up to this
constexpr std::size_t longest_sentence = 4096;
constexpr std::uint64_t own_memory = 256U << 20;  // of the child beside the values: the library's caches, our buffers
constexpr int channel_descriptor = 3;
// 0, 1, 2, the channel and the one file: no external links to other files.
constexpr rlim_t open_files = CATENA_LIMIT_FILES ? 5 : 64;

/// The child's address space may grow by `bytes`.
void limit_memory([[maybe_unused]] std::uint64_t bytes) {
#if CATENA_LIMIT_MEMORY
  unsigned long pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  if (pages == 0) return;
  const std::uint64_t now = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const rlimit limit{now + bytes, now + bytes};
  ::setrlimit(RLIMIT_AS, &limit);
#endif
}

/// Cuts the child off from what the parent has open, from its signal handlers and from more than it needs.
void confine(int descriptor, std::uint64_t memory, double seconds) {
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTRAP, SIGPIPE, SIGXCPU, SIGTERM, SIGALRM}) {
    ::signal(number, SIG_DFL);
  }
  ::signal(SIGINT, SIG_IGN);  // Ctrl-C is for the parent, which then ends us
  const int nowhere = ::open("/dev/null", O_RDWR);
  for (const int number : {0, 1, 2}) ::dup2(nowhere, number);
  if (descriptor != channel_descriptor) ::dup2(descriptor, channel_descriptor);
  ::close_range(channel_descriptor + 1, ~0U, 0);
  limit_memory(memory);
  const rlimit no_core{0, 0}, few_files{open_files, open_files};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::setrlimit(RLIMIT_NOFILE, &few_files);
  allow_processor_time(seconds);
}

[[noreturn]] void run_child(int descriptor, const std::string& source, const ReadLimits& limits,
                            const std::function<void(Channel&)>& work) {
  confine(descriptor, limits.max_bytes + own_memory, limits.max_seconds);
  Channel channel(channel_descriptor, 0);
  try {
    try {
      work(channel);
      channel.flush();
    } catch (const ChannelClosed&) {
    } catch (const std::bad_alloc&) {
      channel.send_error(source + ": claims values that do not fit into the memory allowed for it");
    } catch (const std::exception& error) {
      channel.send_error(error.what());
    }
  } catch (...) {
  }
  ::_exit(0);  // no destructors and no flushing of what the parent also has
}

}  // namespace

void allow_processor_time(double seconds) {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const double limit = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + std::max(1.0, seconds) + 1;
  const rlimit processor{limit < 1e9 ? static_cast<rlim_t>(limit) : RLIM_INFINITY, RLIM_INFINITY};
  ::setrlimit(RLIMIT_CPU, &processor);
}

void Channel::write_all(const void* bytes, std::size_t count) {
  const char* at = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t written = ::send(descriptor_, at, count, MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw ChannelClosed();
    at += written;
    count -= static_cast<std::size_t>(written);
  }
}

void Channel::read_all(void* bytes, std::size_t count) {
  char* at = static_cast<char*>(bytes);
  while (count > 0) {
    if (max_seconds_ > 0) {
      pollfd wait{descriptor_, POLLIN, 0};
      const int ready = ::poll(&wait, 1, static_cast<int>(std::min(max_seconds_ * 1000, 2e9)));
      if (ready < 0 && errno == EINTR) continue;
      if (ready <= 0) throw ChannelClosed();
    }
    const ssize_t got = ::recv(descriptor_, at, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw ChannelClosed();
    at += got;
    count -= static_cast<std::size_t>(got);
  }
}

void Channel::begin_frame(char kind, std::uint64_t count) {
  char head[9] = {kind};
  std::memcpy(head + 1, &count, sizeof count);
  write_all(head, sizeof head);
}

void Channel::flush() {
  if (outgoing_.empty()) return;
  begin_frame('d', outgoing_.size());
  write_all(outgoing_.data(), outgoing_.size());
  outgoing_.clear();
}

void Channel::send(const void* bytes, std::size_t count) {
  if (count == 0) return;
  if (count < frame_bytes) {
    outgoing_.append(static_cast<const char*>(bytes), count);
    if (outgoing_.size() >= frame_bytes) flush();
    return;
  }
  flush();
  begin_frame('d', count);
  write_all(bytes, count);
}

void Channel::send_error(std::string_view sentence) {
  outgoing_.clear();
  sentence = sentence.substr(0, longest_sentence);
  begin_frame('e', sentence.size());
  write_all(sentence.data(), sentence.size());
}

void Channel::receive(void* bytes, std::size_t count) {
  char* at = static_cast<char*>(bytes);
  while (count > 0) {
    if (buffer_used_ < buffer_.size()) {
      const std::size_t part = std::min(count, buffer_.size() - buffer_used_);
      std::memcpy(at, buffer_.data() + buffer_used_, part);
      buffer_used_ += part;
      at += part;
      count -= part;
    } else if (frame_left_ > 0) {  // a large frame goes straight to its place
      const std::size_t part = static_cast<std::size_t>(std::min<std::uint64_t>(count, frame_left_));
      read_all(at, part);
      frame_left_ -= part;
      at += part;
      count -= part;
    } else {
      char head[9];
      read_all(head, sizeof head);
      std::memcpy(&frame_left_, head + 1, sizeof frame_left_);
      if (head[0] == 'e') {
        std::string sentence(std::min<std::uint64_t>(frame_left_, longest_sentence), '\0');
        frame_left_ = 0;
        read_all(sentence.data(), sentence.size());
        throw FileError(sentence);
      }
      if (frame_left_ <= 2 * frame_bytes) {
        buffer_.resize(frame_left_);
        buffer_used_ = 0;
        read_all(buffer_.data(), buffer_.size());
        frame_left_ = 0;
      }
    }
  }
}

std::size_t Channel::take(std::uint64_t count, std::size_t bytes_each) {
  if (count > allowance_ / bytes_each) throw ChannelClosed();  // only a child whose memory is damaged says such things
  allowance_ -= count * bytes_each;
  return static_cast<std::size_t>(count);
}

Child::Child(std::string source, const ReadLimits& limits, std::mutex& lock, const std::function<void(Channel&)>& work)
    : source_(std::move(source)), channel_(-1, 0) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw FileError(fmt::format("{}: cannot be read: {}", source_, std::generic_category().message(errno)));
  }
  {
    const std::scoped_lock guard(lock);
    process_ = ::fork();
  }
  if (process_ == 0) run_child(ends[1], source_, limits, work);
  const int error = errno;
  ::close(ends[1]);
  descriptor_ = ends[0];
  channel_ = Channel(descriptor_, limits.max_seconds);
  if (process_ < 0) {
    ::close(descriptor_);
    throw FileError(
        fmt::format("{}: cannot be read: no process for it ({})", source_, std::generic_category().message(error)));
  }
}

void Child::end() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
}

Child::~Child() { end(); }

void Child::fail_lost() {
  int status = 0;
  // A child that hangs up is about to be a zombie; one that is silent is still alive after a second.
  pid_t ended = 0;
  for (int i = 0; i < 100 && ended == 0 && process_ > 0; ++i) {
    ended = ::waitpid(process_, &status, WNOHANG);
    if (ended == 0) ::usleep(10000);
  }
  if (ended == process_) process_ = -1;
  const bool silent = ended == 0 || (ended > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU);
  end();
  throw FileError(
      fmt::format("{}: is damaged: {}", source_,
                  silent ? "the netCDF library did not come to an end with it" : "the netCDF library failed on it"));
}

}  // namespace catena::files::detail
