/// What netcdf.cpp and netcdf_rows.cpp share: calls of the netCDF C library with its errors turned into sentences.
/// Nothing here locks: the callers hold library_lock(), or are alone in a child process. `file` is the library's number
/// of an open file or group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "catena/files/isolate.h"
#include "catena/files/netcdf/netcdf.h"

namespace catena::files::detail {

/// netCDF and HDF5 are not made for several threads: one call at a time.
std::mutex& library_lock();

/// Largest ratio of values to file that deflate can reach, and room for variables that were never written.
std::uint64_t plausible_bytes(std::uint64_t file_bytes, const ReadLimits& limits);

/// Refuses what does not begin like a netCDF file; returns the file's size.
std::uint64_t check_signature(const std::filesystem::path& path);

/// An open file or a new one; closed without a word if close() was not called.
class LibraryFile {
 public:
  static LibraryFile create(const std::filesystem::path& path);
  static LibraryFile open(const std::filesystem::path& path, bool for_writing);
  LibraryFile(LibraryFile&& other) noexcept;
  LibraryFile& operator=(LibraryFile&&) = delete;
  ~LibraryFile();

  int id() const { return id_; }
  /// Flushes everything to the operating system.
  void sync();
  void close();

 private:
  LibraryFile(int id, std::filesystem::path path);
  void abandon();

  int id_ = -1;
  std::filesystem::path path_;
  std::uint64_t device_ = 0, inode_ = 0;  // which file it is, whatever its name
};

/// Writing. `path` is for the sentence of an error.
void define_attribute(int file, int variable, const std::string& name, const nlohmann::json& value,
                      const std::filesystem::path& path);
void define_group(int file, const Group& group, const std::filesystem::path& path);
void check_written(int status, const std::filesystem::path& path);
inline constexpr int global = -1;  // instead of a variable, for the attributes of the group

/// Reading, with everything that is allocated counted against `budget` first.
struct Budget {
  std::string source;
  std::uint64_t left;
  /// Takes count × bytes_each, or throws the sentence that names the file.
  void take(std::uint64_t count, std::uint64_t bytes_each);
};

struct StoredVariable {
  int id = -1;
  int type = 0;
  std::string name;
  std::vector<Dimension> dimensions;
  Attributes attributes;
};

void check_read(int status, const std::string& source);
std::vector<Dimension> stored_dimensions(int file, Budget& budget);
Attributes stored_attributes(int file, int variable, Budget& budget);
std::vector<StoredVariable> stored_variables(int file, Budget& budget);
std::vector<int> stored_groups(int file, const std::string& source);
std::string group_name(int file, const std::string& source);
/// Rows [begin, begin + rows) of a numeric matrix, as doubles.
void read_matrix_rows(int file, const StoredVariable& variable, std::size_t begin, std::size_t rows, double* out,
                      const std::string& source);
/// Room in the library's cache for one chunk, so that reading by rows decompresses each chunk once.
void widen_chunk_cache(int file, const StoredVariable& variable);

/// A variable's values, from the child (which reads them) to the parent.
void send_values(Channel& channel, int file, const StoredVariable& variable, Budget& budget);
Values receive_values(Channel& channel);
/// The dimensions' names that the values have: characters lose their last one, which becomes the texts' length.
std::vector<std::string> dimensions_of_values(const StoredVariable& variable);
void send_attributes(Channel& channel, const Attributes& attributes);
Attributes receive_attributes(Channel& channel);

/// Global attributes by which a NetcdfWriter goes on after a kill. They stay in the finished file, for between their
/// removal and its new name a kill would leave a file that is neither begun nor done; readers leave them out.
inline constexpr const char* complete_name = "catena_complete_chunks";
inline constexpr const char* chunk_name = "catena_chunk_rows";
inline constexpr const char* rows_name = "catena_row_dimension";
/// Takes those out of a file's attributes.
Attributes take_progress(Attributes& attributes);

}  // namespace catena::files::detail
