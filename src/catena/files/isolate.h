/// Work on hostile bytes in a child process. HDF5 crashes, loops or asks for absurd memory on damaged files; in a
/// forked child with bounded memory, time and open files all of that is a FileError of the parent, which only ever
/// reads the answer from a socket and bounds what it takes. Used by the netCDF readers; no other format needs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "catena/files/atomic.h"

namespace catena::files::detail {

/// The other side is gone.
struct ChannelClosed {};

/// Bytes between parent and child, in frames: data, or the sentence of an error, which receive() throws.
class Channel {
 public:
  Channel(int descriptor, double max_seconds) : descriptor_(descriptor), max_seconds_(max_seconds) {}

  void send(const void* bytes, std::size_t count);
  void flush();
  /// Drops what is not flushed and sends a sentence instead.
  void send_error(std::string_view sentence);

  void receive(void* bytes, std::size_t count);
  /// From here on, at most this many bytes of vectors and texts are accepted.
  void allow(std::uint64_t bytes) { allowance_ = bytes; }

  template <class T>
    requires std::is_trivially_copyable_v<T>
  void put(const T& value) {
    send(&value, sizeof value);
  }
  template <class T>
    requires std::is_trivially_copyable_v<T>
  T get() {
    T value;
    receive(&value, sizeof value);
    return value;
  }
  void put_text(std::string_view text) {
    put<std::uint64_t>(text.size());
    send(text.data(), text.size());
  }
  std::string get_text() {
    std::string text(take(get<std::uint64_t>(), 1), '\0');
    receive(text.data(), text.size());
    return text;
  }
  template <class T>
  std::vector<T> get_vector() {
    std::vector<T> values(take(get<std::uint64_t>(), sizeof(T)));
    receive(values.data(), values.size() * sizeof(T));
    return values;
  }
  /// A count of things that take at least `bytes_each`, if the allowance covers it.
  std::size_t take(std::uint64_t count, std::size_t bytes_each);

 private:
  void write_all(const void* bytes, std::size_t count);
  void read_all(void* bytes, std::size_t count);
  void begin_frame(char kind, std::uint64_t count);

  int descriptor_;
  double max_seconds_;
  std::string outgoing_;
  std::uint64_t frame_left_ = 0;
  std::string buffer_;
  std::size_t buffer_used_ = 0;
  std::uint64_t allowance_ = 0;
};

/// A child process that runs `work` on its end of the channel. An exception of `work` arrives as a FileError.
/// `lock` guards the library that the child uses and is held while forking, so that the child finds it at rest.
class Child {
 public:
  Child(std::string source, const ReadLimits& limits, std::mutex& lock, const std::function<void(Channel&)>& work);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Runs `talk(channel)` in the parent; the child's death or silence becomes a FileError.
  template <class Talk>
  auto talk(const Talk& talk) {
    try {
      return talk(channel_);
    } catch (const ChannelClosed&) {
      fail_lost();
    } catch (const std::bad_alloc&) {
      throw FileError(source_ + ": holds values that do not fit into memory");
    }
  }

 private:
  [[noreturn]] void fail_lost();
  void end();

  std::string source_;
  int descriptor_ = -1;
  int process_ = -1;  // a pid_t, which is an int wherever there is fork()
  Channel channel_;
};

/// In the child: so many more seconds of processor time from now on.
void allow_processor_time(double seconds);

}  // namespace catena::files::detail
