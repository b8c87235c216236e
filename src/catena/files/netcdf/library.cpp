#include "catena/files/netcdf/library.h"
#include "catena/files/kind.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netcdf.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>

#include "catena/core/check.h"

namespace catena::files::detail {
namespace fs = std::filesystem;

namespace {

/// An absolute name: the library would take "http://…" or "s3://…" for an address and connect to it.
std::string local_name(const fs::path& path) { return fs::absolute(path).string(); }

void start_library() {
  static const int status = nc_initialize();
  CATENA_ASSERT(status == NC_NOERR);
}

bool is_ascii(const std::string& text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

void check_no_nul(const std::string& text) {
  check::that(text.find('\0') == std::string::npos, "write_netcdf", "a text", in_quotes(text),
              "free of NUL characters");
}

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> result;
  for (const std::string& text : texts) {
    check_no_nul(text);
    result.push_back(text.c_str());
  }
  return result;
}

/// The dimension of that name in the group or around it; -1 if there is none.
int find_dimension(int file, const std::string& name) {
  int id = -1;
  return nc_inq_dimid(file, name.c_str(), &id) == NC_NOERR ? id : -1;
}

constexpr nc_type library_types[] = {NC_DOUBLE, NC_FLOAT, NC_INT64, NC_STRING};  // in the order of Values

void put_values(int file, int variable, const Values& values, const fs::path& path) {
  const std::size_t count = std::visit([](const auto& v) { return v.size(); }, values);
  if (count == 0) return;
  // Along a dimension without length (see define_group) whole-variable calls would write nothing, but those are empty.
  if (const auto* doubles = std::get_if<0>(&values)) {
    check_written(nc_put_var_double(file, variable, doubles->data()), path);
  }
  if (const auto* floats = std::get_if<1>(&values)) {
    check_written(nc_put_var_float(file, variable, floats->data()), path);
  }
  if (const auto* integers = std::get_if<2>(&values)) {
    static_assert(sizeof(long long) == sizeof(std::int64_t));
    check_written(nc_put_var_longlong(file, variable, reinterpret_cast<const long long*>(integers->data())), path);
  }
  if (const auto* texts = std::get_if<3>(&values)) {
    std::vector<const char*> all = pointers(*texts);
    check_written(nc_put_var_string(file, variable, all.data()), path);
  }
}

int define_variable(int file, const Variable& variable, const fs::path& path) {
  std::vector<int> dimensions;
  std::size_t count = 1;
  for (const std::string& name : variable.dimensions) {
    dimensions.push_back(find_dimension(file, name));
    check::that(dimensions.back() >= 0, "write_netcdf", fmt::format("a dimension of {}", variable.name),
                in_quotes(name), "one of its group or of those around it");
    std::size_t size = 0;
    check_written(nc_inq_dimlen(file, dimensions.back(), &size), path);
    count *= size;
  }
  const std::size_t have = std::visit([](const auto& v) { return v.size(); }, variable.values);
  check::that(have == count, "write_netcdf", fmt::format("the number of values of {}", variable.name), have,
              fmt::format("{}, the product of its dimensions", count));
  int id = -1;
  check_written(nc_def_var(file, variable.name.c_str(), library_types[variable.values.index()],
                           static_cast<int>(dimensions.size()), dimensions.data(), &id),
                path);
  for (const auto& [name, value] : variable.attributes) {
    if (name == "_FillValue" && variable.values.index() < 3) {  // must have the variable's own type
      check::that(value.is_number(), "write_netcdf", "_FillValue", value.type_name(), "a number");
      const double fill = value.get<double>();
      check_written(nc_put_att_double(file, id, "_FillValue", library_types[variable.values.index()], 1, &fill), path);
    } else {
      define_attribute(file, id, name, value, path);
    }
  }
  return id;
}

void check_name(std::string_view what, const std::string& name) {
  check::that(!name.empty() && name.find_first_of(std::string_view("/\0", 2)) == std::string::npos &&
                  name.size() <= NC_MAX_NAME,
              "write_netcdf", what, in_quotes(name), "a name of 1 to 256 bytes without a slash");
}

}  // namespace

std::mutex& library_lock() {
  static std::mutex lock;
  return lock;
}

std::uint64_t plausible_bytes(std::uint64_t file_bytes, const ReadLimits& limits) {
  // Deflate packs equal bytes 1,032 to 1, but no file consists of them: 64 to 1 is beyond any data, and small files of
  // values that were never written have the rest.
  constexpr std::uint64_t deflate_ratio = 64, unwritten = std::uint64_t{64} << 20;
  const std::uint64_t bound = file_bytes > limits.max_bytes ? limits.max_bytes : file_bytes * deflate_ratio + unwritten;
  return std::min(bound, limits.max_bytes);
}

std::uint64_t check_signature(const fs::path& path) {
  const std::uint64_t size = regular_file_size(path);
  std::ifstream file(path, std::ios::binary);
  std::string head(8, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  if (!file && file.gcount() == 0 && size > 0) throw FileError(display(path) + ": cannot be read: no permission");
  const bool classic = head.starts_with("CDF") && (head[3] == 1 || head[3] == 2 || head[3] == 5);
  if (size < head.size() || (head != "\x89HDF\r\n\x1a\n" && !classic)) {
    const std::string found = looks_like(path);
    throw FileError(display(path) + (found.empty() ? std::string(": is no netCDF file")
                                                   : ": is " + found + ", but must be a netCDF file"));
  }
  return size;
}

LibraryFile LibraryFile::create(const fs::path& path) {
  start_library();
  int id = -1;
  errno = 0;
  check_written(nc_create(local_name(path).c_str(), NC_NETCDF4 | NC_CLOBBER, &id), path);
  LibraryFile file(id, path);
  int old = 0;
  check_written(nc_set_fill(id, NC_NOFILL, &old), path);  // everything is written, nothing needs filling before
  return file;
}

LibraryFile LibraryFile::open(const fs::path& path, bool for_writing) {
  start_library();
  int id = -1;
  check_read(nc_open(local_name(path).c_str(), for_writing ? NC_WRITE : NC_NOWRITE, &id), display(path));
  return {id, path};
}

LibraryFile::LibraryFile(int id, fs::path path) : id_(id), path_(std::move(path)) {
  struct stat status{};
  if (::stat(path_.c_str(), &status) != 0) return;
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

LibraryFile::LibraryFile(LibraryFile&& other) noexcept
    : id_(std::exchange(other.id_, -1)), path_(std::move(other.path_)), device_(other.device_), inode_(other.inode_) {}

LibraryFile::~LibraryFile() {
  if (id_ >= 0 && nc_close(id_) != NC_NOERR) abandon();
}

/// A file that cannot be written out (a full disk) stays open in HDF5, which tries again when the program ends, and
/// crashes. So what it still holds goes to memory, where there is room, and is forgotten. The file may have another
/// name by now; our own descriptors of it are diverted, too, and of no use any more.
void LibraryFile::abandon() {
  const int sink = ::memfd_create("catena-abandoned", MFD_CLOEXEC);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd", error)) {
    const std::string number = entry.path().filename();
    int descriptor = -1;
    std::from_chars(number.data(), number.data() + number.size(), descriptor);
    struct stat status{};
    const bool mine = ::fstat(descriptor, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
    if (mine && sink >= 0) ::dup3(sink, descriptor, O_CLOEXEC);
  }
  if (sink >= 0) ::close(sink);
  nc_close(std::exchange(id_, -1));
}

void LibraryFile::sync() {
  errno = 0;
  check_written(nc_sync(id_), path_);
}

void LibraryFile::close() {
  errno = 0;
  const int status = nc_close(id_);
  if (status == NC_NOERR) {
    id_ = -1;
    return;
  }
  const int reason = errno;
  abandon();
  errno = reason;
  check_written(status, path_);
}

void check_written(int status, const fs::path& path) {
  if (status == NC_NOERR) return;
  if (status > 0) fail_writing(path, status);  // the library passes errno on
  // HDF5 keeps its reasons to itself, but the failed system call has left its own.
  for (const int reason : {ENOSPC, EDQUOT, EFBIG, EIO}) {
    if (errno == reason) fail_writing(path, reason);
  }
  throw FileError(fmt::format("{}: cannot be written: {}", display(path), nc_strerror(status)));
}

void check_read(int status, const std::string& source) {
  if (status != NC_NOERR) throw FileError(fmt::format("{}: cannot be read: {}", source, nc_strerror(status)));
}

void define_attribute(int file, int variable, const std::string& name, const nlohmann::json& value,
                      const fs::path& path) {
  check_name("the name of an attribute", name);
  const nlohmann::json list = value.is_array() ? value : nlohmann::json::array({value});
  const auto all = [&](auto test) { return std::ranges::all_of(list, test); };
  if (value.is_string() && is_ascii(value.get<std::string>())) {
    const std::string text = value.get<std::string>();
    check_no_nul(text);
    check_written(nc_put_att_text(file, variable, name.c_str(), text.size(), text.data()), path);
  } else if (!list.empty() && all([](const auto& v) { return v.is_string(); })) {
    const auto texts = list.get<std::vector<std::string>>();
    std::vector<const char*> all_texts = pointers(texts);
    check_written(nc_put_att_string(file, variable, name.c_str(), all_texts.size(), all_texts.data()), path);
  } else if (!list.empty() && all([](const auto& v) { return v.is_number_integer(); })) {
    const auto numbers = list.get<std::vector<long long>>();
    check_written(nc_put_att_longlong(file, variable, name.c_str(), NC_INT64, numbers.size(), numbers.data()), path);
  } else {
    check::that(all([](const auto& v) { return v.is_number(); }), "write_netcdf", fmt::format("attribute {}", name),
                value.type_name(), "a number, a text or a list of either");
    const auto numbers = list.get<std::vector<double>>();
    check_written(nc_put_att_double(file, variable, name.c_str(), NC_DOUBLE, numbers.size(), numbers.data()), path);
  }
}

void define_group(int file, const Group& group, const fs::path& path) {
  errno = 0;
  for (const Dimension& dimension : group.dimensions) {
    check_name("the name of a dimension", dimension.name);
    int id = -1;
    // The library takes a fixed length of zero for "unlimited"; an unlimited dimension that never grows has length
    // zero.
    check_written(nc_def_dim(file, dimension.name.c_str(), dimension.size == 0 ? NC_UNLIMITED : dimension.size, &id),
                  path);
  }
  for (const auto& [name, value] : group.attributes) define_attribute(file, global, name, value, path);
  for (const Variable& variable : group.variables) {
    check_name("the name of a variable", variable.name);
    const int id = define_variable(file, variable, path);
    put_values(file, id, variable.values, path);
  }
  for (const Group& inner : group.groups) {
    check_name("the name of a group", inner.name);
    int id = -1;
    check_written(nc_def_grp(file, inner.name.c_str(), &id), path);
    define_group(id, inner, path);
  }
}

}  // namespace catena::files::detail
