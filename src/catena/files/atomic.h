/// Files that are whole or not there: what is written goes to a temporary name in the same directory, is synced, and
/// takes the real name by one rename. Until then the old file stays; after an exception the temporary is gone, after a
/// kill the next writer of the same file removes it.
/// Also reading a whole file into memory, with its size bounded first.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "catena/core/errors.h"

namespace catena::files {

/// How much a reader may take in. The file itself bounds what formats without compression can ask for.
struct ReadLimits {
  std::uint64_t max_bytes = std::uint64_t{8} << 30;  // of values in memory; beyond it the file is refused
  double max_seconds = 120;                          // netCDF only: the library's longest silence before we give up
};

class AtomicFile {
 public:
  /// Makes an empty temporary file beside `target`: ".NAME.HOST.PID.COUNTER.tmp", with the permissions of an old
  /// `target`.
  explicit AtomicFile(const std::filesystem::path& target);
  /// Without commit() the temporary is removed.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// For libraries that want a name; they must keep the file itself (truncate, not unlink).
  const std::filesystem::path& temporary() const { return temporary_; }

  void write(std::string_view bytes);
  /// Syncs the file, renames it, syncs the directory.
  void commit();

 private:
  std::filesystem::path target_, temporary_;
  int descriptor_ = -1;
};

/// The whole file, if it is a regular one with at most `max_bytes`.
std::string read_file(const std::filesystem::path& path, std::uint64_t max_bytes);

/// The directory and those around it, unless they are there.
void make_directories(const std::filesystem::path& path);

/// Replaces the file by `bytes`, atomically.
void write_file(const std::filesystem::path& path, std::string_view bytes);

namespace detail {
/// "PATH: cannot be written: the disk is full" for an errno value, by the kind of trouble a user can do something
/// about.
[[noreturn]] void fail_writing(const std::filesystem::path& path, int error);
/// Syncs the file, gives it its final name and syncs the directory.
void sync_and_rename(int descriptor, const std::filesystem::path& from, const std::filesystem::path& to);
/// Refuses what is no regular file; returns its size.
std::uint64_t regular_file_size(const std::filesystem::path& path);
/// The name for sentences: as the caller wrote it, printable.
std::string display(const std::filesystem::path& path);
/// The same for any text that came out of a file: control characters escaped, long texts cut.
std::string in_quotes(std::string_view text);
}  // namespace detail

}  // namespace catena::files
