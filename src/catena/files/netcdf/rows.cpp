#include "catena/files/netcdf/rows.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netcdf.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <optional>

#include "catena/core/check.h"
#include "catena/files/isolate.h"
#include "catena/files/netcdf/library.h"

namespace catena::files {
namespace fs = std::filesystem;
using detail::Channel;

namespace {

using detail::chunk_name, detail::complete_name, detail::rows_name;

fs::path partial_path(const fs::path& path) {
  fs::path partial = path;
  partial += ".partial";
  return partial;
}

fs::path begun_path(fs::path partial) { return partial += ".begun"; }

int find_variable(int file, const std::string& name, const fs::path& path) {
  int id = -1;
  detail::check_written(nc_inq_varid(file, name.c_str(), &id), path);
  return id;
}

/// Opens the partial file for syncing; makes it if `create`.
int open_for_sync(const fs::path& partial, bool create) {
  const int descriptor = ::open(partial.c_str(), create ? O_RDWR | O_CREAT | O_CLOEXEC : O_RDWR | O_CLOEXEC, 0666);
  if (descriptor < 0) detail::fail_writing(partial, errno);
  return descriptor;
}

}  // namespace

struct NetcdfReader::State {
  Attributes attributes, progress;
  std::vector<VariableInfo> variables;
  std::string source;
  ReadLimits limits;
  std::optional<detail::Child> child;
  std::mutex turns;
};

struct NetcdfWriter::State {
  fs::path path, partial;
  RowLayout layout;
  Attributes attributes;
  std::size_t complete = 0;
  int descriptor = -1;
  std::optional<detail::LibraryFile> file;

  ~State() {
    {
      const std::scoped_lock lock(detail::library_lock());
      file.reset();
    }
    if (descriptor >= 0) ::close(descriptor);
  }

  std::size_t chunks() const { return (layout.rows.size + layout.chunk_rows - 1) / layout.chunk_rows; }

  /// Everything so far is on the disk when this returns.
  void sync() {
    file->sync();
    if (::fsync(descriptor) != 0) detail::fail_writing(partial, errno);
  }

  /// The variable of the layout that rows [begin, begin + rows) of so many columns can be part of.
  const RowVariable& checked(std::string_view function, std::string_view variable, std::size_t begin, std::size_t rows,
                             std::size_t cols) const {
    const auto found = std::ranges::find(layout.variables, variable, &RowVariable::name);
    check::that(found != layout.variables.end(), function, "variable", detail::in_quotes(variable),
                "one of the layout");
    check::equal(function, "the number of columns", cols, found->columns.size);
    const std::size_t total = found->rows.name.empty() ? layout.rows.size : found->rows.size;
    check::that(begin <= total && rows <= total - begin, function, "the last row", begin + rows,
                fmt::format("at most {}", total));
    return *found;
  }

  void define_rows() {
    const int id = file->id();
    errno = 0;
    int rows = -1;
    detail::check_written(nc_def_dim(id, layout.rows.name.c_str(), layout.rows.size, &rows), partial);
    for (const RowVariable& variable : layout.variables) {
      int columns = -1;
      if (nc_inq_dimid(id, variable.columns.name.c_str(), &columns) != NC_NOERR) {
        detail::check_written(nc_def_dim(id, variable.columns.name.c_str(), variable.columns.size, &columns), partial);
      }
      std::size_t size = 0;
      detail::check_written(nc_inq_dimlen(id, columns, &size), partial);
      check::equal("NetcdfWriter", fmt::format("the number of columns of {}", variable.name), variable.columns.size,
                   size);
      const Dimension& own = variable.rows.name.empty() ? layout.rows : variable.rows;
      int own_rows = rows;
      if (own != layout.rows && nc_inq_dimid(id, own.name.c_str(), &own_rows) != NC_NOERR) {
        detail::check_written(nc_def_dim(id, own.name.c_str(), own.size, &own_rows), partial);
      }
      const int dimensions[] = {own_rows, columns};
      int number = -1;
      detail::check_written(nc_def_var(id, variable.name.c_str(), variable.single_precision ? NC_FLOAT : NC_DOUBLE, 2,
                                       dimensions, &number),
                            partial);
      const std::size_t chunk[] = {std::min(layout.chunk_rows, own.size), size};
      detail::check_written(nc_def_var_chunking(id, number, NC_CHUNKED, chunk), partial);
      if (layout.compression > 0) {
        detail::check_written(nc_def_var_deflate(id, number, 1, 1, layout.compression), partial);
      }
      for (const auto& [name, value] : variable.attributes) detail::define_attribute(id, number, name, value, partial);
    }
  }
};

NetcdfWriter::NetcdfWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
NetcdfWriter::NetcdfWriter(NetcdfWriter&&) noexcept = default;
NetcdfWriter::~NetcdfWriter() = default;

NetcdfWriter::NetcdfWriter(const fs::path& path, const RowLayout& layout, const Group& header)
    : state_(std::make_unique<State>()) {
  constexpr std::string_view function = "NetcdfWriter";
  check::at_least<std::size_t>(function, "rows", layout.rows.size, 1);
  check::at_least<std::size_t>(function, "chunk_rows", layout.chunk_rows, 1);
  check::between(function, "compression", layout.compression, 0, 9);
  constexpr std::size_t largest_chunk = (std::size_t{4} << 30) - 1;  // of HDF5
  for (const RowVariable& variable : layout.variables) {
    check::between(function, fmt::format("the number of columns of {}", variable.name), variable.columns.size,
                   std::size_t{1}, largest_chunk / sizeof(double) / std::min(layout.chunk_rows, layout.rows.size));
  }
  state_->path = path;
  state_->partial = partial_path(path);
  state_->layout = layout;
  state_->attributes = header.attributes;
  // It takes its name once its header is on the disk: what was killed before has nothing to be resumed.
  const fs::path begun = begun_path(state_->partial);
  state_->descriptor = open_for_sync(begun, true);
  const std::scoped_lock lock(detail::library_lock());
  state_->file.emplace(detail::LibraryFile::create(begun));
  const int id = state_->file->id();
  detail::define_group(id, header, state_->partial);
  state_->define_rows();
  detail::define_attribute(id, detail::global, chunk_name, layout.chunk_rows, state_->partial);
  detail::define_attribute(id, detail::global, rows_name, layout.rows.name, state_->partial);
  detail::define_attribute(id, detail::global, complete_name, 0, state_->partial);
  state_->sync();
  fs::rename(begun, state_->partial);
}

bool NetcdfWriter::has_partial(const fs::path& path) { return fs::exists(partial_path(path)); }

NetcdfWriter NetcdfWriter::resume(const fs::path& path) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->partial = partial_path(path);
  const std::string source = detail::display(state->partial);
  {
    // The child of a reader opens the file first: if work was killed inside HDF5, opening may crash.
    const NetcdfReader reader(state->partial);
    state->attributes = reader.attributes();
    Attributes& progress = reader.state_->progress;
    const auto number = [&](const char* name) {
      const auto found = progress.find(name);
      if (found == progress.end() || !found->second.is_number_integer() || found->second.get<std::int64_t>() < 0) {
        throw FileError(fmt::format("{}: cannot be resumed: it has no usable attribute {}", source, name));
      }
      return found->second.get<std::size_t>();
    };
    state->layout.chunk_rows = number(chunk_name);
    state->complete = number(complete_name);
    if (!progress[rows_name].is_string()) {
      throw FileError(fmt::format("{}: cannot be resumed: it has no usable attribute {}", source, rows_name));
    }
    state->layout.rows.name = progress[rows_name].get<std::string>();
    for (const VariableInfo& variable : reader.variables()) {
      if (variable.dimensions.size() != 2 || !variable.numeric) continue;
      const bool own = variable.dimensions[0].name != state->layout.rows.name;
      if (!own) state->layout.rows.size = variable.dimensions[0].size;
      state->layout.variables.push_back({variable.name, variable.dimensions[1], variable.single_precision,
                                         variable.attributes, own ? variable.dimensions[0] : Dimension{}});
    }
    if (state->layout.chunk_rows == 0 || state->complete > state->chunks()) {
      throw FileError(fmt::format("{}: cannot be resumed: its count of chunks does not fit its rows", source));
    }
  }
  state->descriptor = open_for_sync(state->partial, false);
  const std::scoped_lock lock(detail::library_lock());
  state->file.emplace(detail::LibraryFile::open(state->partial, true));
  return NetcdfWriter(std::move(state));
}

const RowLayout& NetcdfWriter::layout() const { return state_->layout; }
std::size_t NetcdfWriter::chunks() const { return state_->chunks(); }
std::size_t NetcdfWriter::complete_chunks() const { return state_->complete; }
std::size_t NetcdfWriter::complete_rows() const {
  return std::min(state_->complete * state_->layout.chunk_rows, state_->layout.rows.size);
}
const Attributes& NetcdfWriter::attributes() const { return state_->attributes; }

void NetcdfWriter::write_rows(std::string_view variable, std::size_t first_row, ConstMatrixView values) {
  const RowVariable& found = state_->checked("NetcdfWriter::write_rows", variable, first_row, values.rows, values.cols);
  if (values.rows == 0) return;
  // Contiguous, and in the type of the file: the library would take an infinity for out of a float's range.
  std::vector<float> floats;
  std::vector<double> doubles;
  for (std::size_t r = 0; r < values.rows && (found.single_precision || !values.contiguous()); ++r) {
    const auto row = values.row(r);
    if (found.single_precision) {
      for (const double value : row) floats.push_back(static_cast<float>(value));
    } else {
      doubles.insert(doubles.end(), row.begin(), row.end());
    }
  }
  const std::size_t start[] = {first_row, 0}, count[] = {values.rows, values.cols};
  const std::scoped_lock lock(detail::library_lock());
  const int id = state_->file->id(), number = find_variable(id, found.name, state_->partial);
  errno = 0;
  const int status = found.single_precision
                         ? nc_put_vara_float(id, number, start, count, floats.data())
                         : nc_put_vara_double(id, number, start, count, doubles.empty() ? values.data : doubles.data());
  detail::check_written(status, state_->partial);
}

void NetcdfWriter::read_rows(std::string_view variable, std::size_t begin, MatrixView out) const {
  constexpr std::string_view function = "NetcdfWriter::read_rows";
  const RowVariable& found = state_->checked(function, variable, begin, out.rows, out.cols);
  check::that(out.contiguous(), function, "out", "a view with a stride", "contiguous");
  if (out.rows == 0) return;
  const std::size_t start[] = {begin, 0}, count[] = {out.rows, out.cols};
  const std::scoped_lock lock(detail::library_lock());
  const int id = state_->file->id(), number = find_variable(id, found.name, state_->partial);
  detail::check_read(nc_get_vara_double(id, number, start, count, out.data), detail::display(state_->partial));
}

void NetcdfWriter::set_attribute(const std::string& name, const nlohmann::json& value) {
  const std::scoped_lock lock(detail::library_lock());
  errno = 0;
  detail::define_attribute(state_->file->id(), detail::global, name, value, state_->partial);
  state_->attributes[name] = value;
}

void NetcdfWriter::complete(std::size_t count) {
  check::between("NetcdfWriter::complete", "count", count, state_->complete, state_->chunks());
  const std::scoped_lock lock(detail::library_lock());
  state_->sync();  // the rows first: the count must never promise rows that are not there
  detail::define_attribute(state_->file->id(), detail::global, complete_name, count, state_->partial);
  state_->sync();
  state_->complete = count;
}

void NetcdfWriter::finish() {
  check::equal("NetcdfWriter::finish", "the number of complete chunks", state_->complete, state_->chunks());
  const std::scoped_lock lock(detail::library_lock());
  errno = 0;
  state_->file->close();
  detail::sync_and_rename(state_->descriptor, state_->partial, state_->path);
}

namespace {

// Requests to the child: the variable's index, then which rows.
enum class Request : char { whole, rows };
constexpr std::size_t piece_values = std::size_t{1} << 20;  // doubles read and sent at a time

/// The child's life: open, tell what is there, answer until the parent hangs up.
void serve(Channel& channel, const fs::path& path, const ReadLimits& limits, std::uint64_t file_bytes) {
  const std::string source = detail::display(path);
  const auto file = detail::LibraryFile::open(path, false);
  detail::Budget about{source, detail::plausible_bytes(file_bytes, limits)};
  detail::send_attributes(channel, detail::stored_attributes(file.id(), detail::global, about));
  const auto variables = detail::stored_variables(file.id(), about);
  channel.put<std::uint64_t>(variables.size());
  for (const auto& variable : variables) {
    channel.put_text(variable.name);
    channel.put<char>(variable.type == NC_FLOAT ? 1 : 0);
    channel.put<char>(variable.type == NC_STRING || variable.type == NC_CHAR ? 0 : 1);
    channel.put<std::uint64_t>(variable.dimensions.size());
    for (const Dimension& dimension : variable.dimensions) {
      channel.put_text(dimension.name);
      channel.put<std::uint64_t>(dimension.size);
    }
    detail::send_attributes(channel, variable.attributes);
    detail::widen_chunk_cache(file.id(), variable);
  }
  channel.flush();
  while (true) {
    const auto request = channel.get<Request>();
    const auto& variable = variables.at(channel.get<std::uint64_t>());
    detail::allow_processor_time(limits.max_seconds);
    try {
      if (request == Request::whole) {
        detail::Budget budget{source, detail::plausible_bytes(file_bytes, limits)};
        detail::send_values(channel, file.id(), variable, budget);
        const std::vector<std::string> names = detail::dimensions_of_values(variable);
        channel.put<std::uint64_t>(names.size());
        for (const std::string& name : names) channel.put_text(name);
      } else {
        const auto begin = channel.get<std::uint64_t>(), end = channel.get<std::uint64_t>();
        const std::size_t cols = variable.dimensions[1].size;
        const std::size_t step = std::max<std::size_t>(1, piece_values / std::max<std::size_t>(cols, 1));
        std::vector<double> values(std::min<std::size_t>(step, end - begin) * cols);
        for (std::size_t row = begin; row < end; row += step) {
          const std::size_t rows = std::min<std::size_t>(step, end - row);
          detail::read_matrix_rows(file.id(), variable, row, rows, values.data(), source);
          channel.send(values.data(), rows * cols * sizeof(double));
        }
      }
      channel.flush();
    } catch (const FileError& error) {
      channel.send_error(error.what());
    } catch (const std::bad_alloc&) {
      channel.send_error(source + ": claims values that do not fit into the memory allowed for it");
    }
  }
}

}  // namespace

NetcdfReader::NetcdfReader(const fs::path& path, const ReadLimits& limits) : state_(std::make_unique<State>()) {
  const std::uint64_t bytes = detail::check_signature(path);
  state_->source = detail::display(path);
  state_->limits = limits;
  state_->child.emplace(state_->source, limits, detail::library_lock(),
                        [&](Channel& channel) { serve(channel, path, limits, bytes); });
  state_->child->talk([&](Channel& channel) {
    channel.allow(2 * detail::plausible_bytes(bytes, limits) + (std::uint64_t{64} << 20));
    state_->attributes = detail::receive_attributes(channel);
    state_->progress = detail::take_progress(state_->attributes);
    state_->variables.resize(channel.take(channel.get<std::uint64_t>(), 1));
    for (VariableInfo& variable : state_->variables) {
      variable.name = channel.get_text();
      variable.single_precision = channel.get<char>() == 1;
      variable.numeric = channel.get<char>() == 1;
      variable.dimensions.resize(channel.take(channel.get<std::uint64_t>(), 1));
      for (Dimension& dimension : variable.dimensions) {
        dimension.name = channel.get_text();
        dimension.size = channel.get<std::uint64_t>();
      }
      variable.attributes = detail::receive_attributes(channel);
    }
  });
}

NetcdfReader::NetcdfReader(NetcdfReader&&) noexcept = default;
NetcdfReader::~NetcdfReader() = default;

const Attributes& NetcdfReader::attributes() const { return state_->attributes; }
const std::vector<VariableInfo>& NetcdfReader::variables() const { return state_->variables; }

const VariableInfo& NetcdfReader::info(std::string_view variable) const {
  const auto found = std::ranges::find(state_->variables, variable, &VariableInfo::name);
  if (found == state_->variables.end()) {
    throw FileError(fmt::format("{}: has no variable {}", state_->source, detail::in_quotes(variable)));
  }
  return *found;
}

Variable NetcdfReader::read(std::string_view variable) const {
  const VariableInfo& about = info(variable);
  const auto index = static_cast<std::uint64_t>(&about - state_->variables.data());
  const std::scoped_lock turn(state_->turns);
  return state_->child->talk([&](Channel& channel) {
    channel.allow(2 * state_->limits.max_bytes);
    channel.put(Request::whole);
    channel.put(index);
    channel.flush();
    Variable result{about.name, {}, detail::receive_values(channel), about.attributes};
    result.dimensions.resize(channel.take(channel.get<std::uint64_t>(), 1));
    for (std::string& name : result.dimensions) name = channel.get_text();
    return result;
  });
}

void NetcdfReader::read_rows(std::string_view variable, std::size_t begin, MatrixView out) const {
  const VariableInfo& about = info(variable);
  if (!about.numeric || about.dimensions.size() != 2) {
    throw FileError(fmt::format("{}: {} is no matrix of numbers", state_->source, detail::in_quotes(variable)));
  }
  constexpr std::string_view function = "NetcdfReader::read_rows";
  const std::size_t rows = about.dimensions[0].size;
  check::equal(function, "the number of columns", out.cols, about.dimensions[1].size);
  check::that(begin <= rows && out.rows <= rows - begin, function, "the last row", begin + out.rows,
              fmt::format("at most {}", rows));
  if (out.rows == 0 || out.cols == 0) return;
  const std::scoped_lock turn(state_->turns);
  state_->child->talk([&](Channel& channel) {
    channel.put(Request::rows);
    channel.put(static_cast<std::uint64_t>(&about - state_->variables.data()));
    channel.put<std::uint64_t>(begin);
    channel.put<std::uint64_t>(begin + out.rows);
    channel.flush();
    if (out.contiguous()) {
      channel.receive(out.data, out.rows * out.cols * sizeof(double));
    } else {
      for (std::size_t r = 0; r < out.rows; ++r) channel.receive(out.row(r).data(), out.cols * sizeof(double));
    }
  });
}

Matrix NetcdfReader::read_rows(std::string_view variable, std::size_t begin, std::size_t end) const {
  const VariableInfo& about = info(variable);
  check::that(begin <= end, "NetcdfReader::read_rows", "begin", begin, fmt::format("at most {}, the end", end));
  const std::size_t rows = about.dimensions.empty() ? 0 : about.dimensions[0].size;
  check::that(end <= rows, "NetcdfReader::read_rows", "the last row", end, fmt::format("at most {}", rows));
  const std::size_t cols = about.dimensions.size() == 2 ? about.dimensions[1].size : 0;
  if (cols > 0 && end - begin > state_->limits.max_bytes / sizeof(double) / cols) {
    throw FileError(fmt::format("{}: {} rows of {} have more than the {} bytes allowed for one reading", state_->source,
                                end - begin, detail::in_quotes(variable), state_->limits.max_bytes));
  }
  Matrix result(end - begin, cols);
  read_rows(variable, begin, result.view());
  return result;
}

}  // namespace catena::files
