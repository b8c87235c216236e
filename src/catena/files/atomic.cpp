#include "catena/files/atomic.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <functional>
#include <new>
#include <system_error>

namespace catena::files {
namespace fs = std::filesystem;

namespace {

/// An open file that closes itself.
struct Descriptor {
  int value;
  explicit Descriptor(int descriptor) : value(descriptor) {}
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
};

fs::path directory_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

/// The host in eight digits: a process of another one that shares the directory cannot be asked whether it lives.
std::string host() {
  std::array<char, 256> name{};
  static_cast<void>(::gethostname(name.data(), name.size() - 1));
  return fmt::format("{:08x}", static_cast<std::uint32_t>(std::hash<std::string_view>()(name.data())));
}

/// Of ".NAME.HOST.PID.COUNTER.tmp", what stands before the process.
std::string temporary_prefix(const fs::path& target) {
  static const std::string here = host();
  return fmt::format(".{}.{}.", target.filename().string(), here);
}

/// Removes what killed processes of this host left when they were writing `target`. No locks: HDF5 takes its own.
void remove_left_over(const fs::path& target) {
  const std::string prefix = temporary_prefix(target);
  std::error_code error;
  for (fs::directory_iterator entry(directory_of(target), error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(prefix) || !name.ends_with(".tmp")) continue;
    pid_t writer = 0;
    const char* const last = name.data() + name.size();
    const auto [after, trouble] = std::from_chars(name.data() + prefix.size(), last, writer);
    const bool whole = trouble == std::errc() && after != last && *after == '.' && writer > 0;
    if (whole && ::kill(writer, 0) != 0 && errno == ESRCH) ::unlink(entry->path().c_str());
  }
}

[[noreturn]] void fail_reading(const fs::path& path, int error) {
  throw FileError(fmt::format("{}: cannot be read: {}", detail::display(path),
                              error == ENOENT ? "there is no such file" : std::generic_category().message(error)));
}

}  // namespace

namespace detail {

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 80;  // enough to recognise a name, short enough for one sentence
  std::string result = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i == longest) {
      result += "…";
      break;
    }
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7F) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += text[i];
    }
  }
  return result + "\"";
}

std::string display(const fs::path& path) {
  std::string name;
  for (const char c : path.string()) name += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  return name;
}

void fail_writing(const fs::path& path, int error) {
  std::string reason;
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      reason = fmt::format("the directory {} does not exist", display(directory_of(path)));
      break;
    case EACCES:
    case EPERM:
      reason = fmt::format("no permission to write in {}", display(directory_of(path)));
      break;
    case EROFS:
      reason = "the file system is read-only";
      break;
    case ENOSPC:
      reason = "the disk is full";
      break;
    case EDQUOT:
      reason = "the disk quota is used up";
      break;
    case EFBIG:
      reason = "the file would be larger than this system allows";
      break;
    default:
      reason = std::generic_category().message(error);
  }
  throw FileError(fmt::format("{}: cannot be written: {}", display(path), reason));
}

void sync_and_rename(int descriptor, const fs::path& from, const fs::path& to) {
  if (::fsync(descriptor) != 0) fail_writing(to, errno);
  if (::rename(from.c_str(), to.c_str()) != 0) fail_writing(to, errno);
  const Descriptor directory(::open(directory_of(to).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems cannot sync a directory (EINVAL); the rename itself is done by then.
  if (directory.value < 0 || (::fsync(directory.value) != 0 && errno != EINVAL)) fail_writing(to, errno);
}

std::uint64_t regular_file_size(const fs::path& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) fail_reading(path, errno);
  if (!S_ISREG(status.st_mode)) {
    throw FileError(fmt::format("{}: cannot be read: it is not a regular file", display(path)));
  }
  return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace detail

AtomicFile::AtomicFile(const fs::path& target) : target_(target) {
  std::error_code error;
  if (fs::is_symlink(target_, error)) target_ = fs::weakly_canonical(target_, error);  // replace the file, not the link
  if (error && target_.empty()) detail::fail_writing(target, error.value());
  struct stat old{};
  const bool exists = ::stat(target_.c_str(), &old) == 0;
  if (!target_.has_filename() || (exists && !S_ISREG(old.st_mode))) {
    throw FileError(fmt::format("{}: cannot be written: it is not a regular file", detail::display(target)));
  }
  remove_left_over(target_);
  static std::atomic<std::uint64_t> counter = 0;
  do {
    temporary_ =
        directory_of(target_) / fmt::format("{}{}.{}.tmp", temporary_prefix(target_), ::getpid(), counter.fetch_add(1));
    descriptor_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);  // left over by a process that had our id
  if (descriptor_ < 0) detail::fail_writing(target_, errno);
  // Some file systems know no permissions and refuse; the new file then has the usual ones.
  if (exists) static_cast<void>(::fchmod(descriptor_, old.st_mode & 07777));
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) detail::fail_writing(target_, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void AtomicFile::commit() {
  detail::sync_and_rename(descriptor_, temporary_, target_);
  ::close(descriptor_);
  descriptor_ = -1;
}

std::string read_file(const fs::path& path, std::uint64_t max_bytes) {
  // The check comes before open(), which would wait for ever on a pipe that nobody writes.
  const std::uint64_t size = detail::regular_file_size(path);
  if (size > max_bytes) {
    throw FileError(
        fmt::format("{}: has {} bytes, but this reader takes at most {}", detail::display(path), size, max_bytes));
  }
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.value < 0) fail_reading(path, errno);
  std::string bytes;
  try {
    bytes.resize(static_cast<std::size_t>(size));
  } catch (const std::bad_alloc&) {
    throw FileError(fmt::format("{}: has {} bytes, which do not fit into memory", detail::display(path), size));
  }
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::read(file.value, bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_reading(path, errno);
    if (got == 0) throw FileError(fmt::format("{}: became shorter while it was read", detail::display(path)));
    filled += static_cast<std::size_t>(got);
  }
  return bytes;
}

void make_directories(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) detail::fail_writing(path, error.value());
}

void write_file(const fs::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace catena::files
