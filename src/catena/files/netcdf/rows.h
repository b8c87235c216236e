/// netCDF files larger than memory: matrices written and read by ranges of rows. The writer keeps NAME.partial with a
/// count of the chunks that are complete, so that interrupted work goes on where it stopped, and takes the real name
/// only at the end. The reader serves ranges of rows from a child process (see isolate.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "catena/core/array.h"
#include "catena/files/netcdf/netcdf.h"

namespace catena::files {

/// A matrix [rows × cols] stored in chunks of whole rows.
struct RowVariable {
  std::string name;
  Dimension columns;  // its name may be shared with variables of the header
  bool single_precision = false;
  Attributes attributes = {};
  Dimension rows = {};  // its own; none: those of the layout
};

struct RowLayout {
  Dimension rows;                 // how many there will be, known from the start
  std::size_t chunk_rows = 4096;  // the unit of writing, of compression and of resuming
  std::vector<RowVariable> variables;
  int compression = 0;  // deflate level; noise hardly compresses, so 0
};

/// Not for several threads at a time; several writers may work at the same time.
class NetcdfWriter {
 public:
  /// Begins PATH.partial (replacing an old one) with everything of `header` in it.
  NetcdfWriter(const std::filesystem::path& path, const RowLayout& layout, const Group& header);
  /// Opens PATH.partial to go on after complete_rows(). Checks the file first; a damaged one is a FileError.
  static NetcdfWriter resume(const std::filesystem::path& path);
  /// Is there something to resume?
  static bool has_partial(const std::filesystem::path& path);
  /// Without finish() the partial file stays for resume().
  ~NetcdfWriter();
  NetcdfWriter(NetcdfWriter&&) noexcept;
  NetcdfWriter& operator=(NetcdfWriter&&) = delete;

  const RowLayout& layout() const;
  std::size_t chunks() const;
  std::size_t complete_chunks() const;
  std::size_t complete_rows() const;
  /// The global attributes, for resume() to compare seeds and settings.
  const Attributes& attributes() const;

  void write_rows(std::string_view variable, std::size_t first_row, ConstMatrixView values);
  /// Rows [begin, begin + out.rows) of what was written; `out` is contiguous.
  void read_rows(std::string_view variable, std::size_t begin, MatrixView out) const;
  void set_attribute(const std::string& name, const nlohmann::json& value);
  /// All variables have their rows of the first `count` chunks: syncs the data to disk, then the count. What a variable
  /// with rows of its own must have by then is for the caller to know.
  void complete(std::size_t count);
  /// All chunks must be complete. Syncs and renames.
  void finish();

 private:
  struct State;
  explicit NetcdfWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// What a reader knows of a variable before it reads values.
struct VariableInfo {
  std::string name;
  std::vector<Dimension> dimensions;
  bool numeric = false;           // else texts
  bool single_precision = false;  // stored as floats
  Attributes attributes;
};

/// May be used by several threads; they take turns.
class NetcdfReader {
 public:
  /// `limits.max_bytes` bounds one call of read_rows() or read(), not the file.
  explicit NetcdfReader(const std::filesystem::path& path, const ReadLimits& limits = {});
  ~NetcdfReader();
  NetcdfReader(NetcdfReader&&) noexcept;
  NetcdfReader& operator=(NetcdfReader&&) = delete;

  const Attributes& attributes() const;
  const std::vector<VariableInfo>& variables() const;
  /// Throws FileError if there is none of that name.
  const VariableInfo& info(std::string_view variable) const;
  /// A variable of the root group as a whole, for names and other small things.
  Variable read(std::string_view variable) const;
  /// Rows [begin, begin + out.rows) of a numeric variable with two dimensions.
  void read_rows(std::string_view variable, std::size_t begin, MatrixView out) const;
  Matrix read_rows(std::string_view variable, std::size_t begin, std::size_t end) const;

 private:
  friend NetcdfWriter;  // resumes by what others do not see
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace catena::files
