// Transition sets on disk. All transitions are written to PATH.partial, each at its own row, so that what is complete
// is a number of blocks and resuming needs nothing else. If some are invalid, a last pass copies the others to the
// final file; a crash in that pass leaves the complete PATH.partial, and resuming repeats the pass.

#include <algorithm>
#include <array>
#include <optional>

#include "catena/core/check.h"
#include "catena/files/json.h"
#include "catena/files/netcdf/rows.h"
#include "catena/simulate/simulation.h"
#include "catena/simulate/transitions.h"

namespace catena::simulate {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kind = "transitions";
// 1: plain transitions; 2: records of other shapes. What could be written as 1 still is.
constexpr int newest_version = 2;
constexpr std::size_t batch_bytes = std::size_t{16}
                                    << 20;  // simulated, written and made safe at a time (twice in memory)
constexpr std::size_t chunk_bytes = std::size_t{1} << 20;  // of one chunk of the file, over all variables

int format_version(const RecordShape& shape) { return shape.plain() ? 1 : 2; }

/// Blocks of so many rows per `bytes`, at least one.
std::size_t blocks_in(std::size_t bytes, std::size_t parameters, const RecordShape& shape, std::size_t block_rows) {
  const std::size_t row_bytes = sizeof(double) * (2 * parameters + shape.condition() + shape.target() + 1);
  return std::max<std::size_t>(1, bytes / row_bytes / block_rows);
}

std::size_t blocks_in(std::size_t bytes, const Simulation& simulation) {
  const TransitionSource& source = simulation.source;
  return blocks_in(bytes, source.model().prior.size(), source.shape(), source.block_rows());
}

files::RowLayout layout_of(std::size_t parameters, const RecordShape& shape, std::size_t rows, std::size_t chunk_rows) {
  files::RowLayout layout;
  layout.rows = {"transition", rows};
  layout.chunk_rows = chunk_rows;
  for (const Column& column : record_columns) {
    if (column.width(shape, parameters) == 0) continue;
    files::RowVariable variable;
    variable.name = column.name;
    variable.columns = {shape.plain() ? column.plain_dimension : column.dimension, column.width(shape, parameters)};
    variable.attributes["long_name"] = shape.plain() ? column.plain_meaning : column.meaning;
    layout.variables.push_back(std::move(variable));
  }
  return layout;
}

/// Chunks are whole blocks: as many as the plan's rows hold, if it gives any, but no more than a megabyte.
files::RowLayout layout_of(const Simulation& simulation, std::size_t rows) {
  std::size_t blocks = blocks_in(chunk_bytes, simulation);
  if (simulation.chunk_rows > 0) {
    blocks = std::clamp<std::size_t>(simulation.chunk_rows / simulation.source.block_rows(), 1, blocks);
  }
  return layout_of(simulation.source.model().prior.size(), simulation.source.shape(), rows,
                   simulation.source.block_rows() * blocks);
}

/// Chunks that are simulated together. A slow simulator wants few, but enough to keep every thread at work twice.
std::size_t chunks_at_a_time(const Simulation& simulation, std::size_t chunk_rows, int threads) {
  if (simulation.chunk_rows == 0) return batch_bytes / chunk_bytes;
  const std::size_t rows = 2 * static_cast<std::size_t>(threads) * simulation.source.block_rows();
  return (rows + chunk_rows - 1) / chunk_rows;
}

files::Group header_of(const prior::Prior& prior, const std::vector<std::string>& state_names, const RecordShape& shape,
                       const nlohmann::json& provenance) {
  files::Group header;
  header.dimensions = {{"parameter", prior.size()}, {"state", state_names.size()}};
  header.variables = {{"parameter", {"parameter"}, prior.names()}, {"state", {"state"}, state_names}};
  header.attributes = {{"catena_kind", kind},
                       {"catena_format_version", format_version(shape)},
                       {"prior", prior.to_json().dump()},
                       {"provenance", provenance.dump()}};
  if (!shape.plain()) header.attributes["records"] = shape.to_json().dump();
  return header;
}

files::Group header_of(const Simulation& simulation) {
  const Model& model = simulation.source.model();
  return header_of(model.prior, model.simulator.state_names, simulation.source.shape(), simulation.provenance);
}

template <class Array>
void write_batch(files::NetcdfWriter& writer, std::size_t first_row, const Columns<Array>& rows) {
  for_columns(
      [&](const Column& column, ConstMatrixView values) {
        if (values.cols > 0) writer.write_rows(column.name, first_row, values);
      },
      rows);
}

void read_batch(const files::NetcdfReader& reader, std::size_t first_row, const TransitionRows& rows) {
  for_columns(
      [&](const Column& column, const MatrixView& values) {
        if (values.cols > 0) reader.read_rows(column.name, first_row, values);
      },
      rows);
}

fs::path with_suffix(fs::path path, std::string_view suffix) { return path += suffix; }

/// The writer of this plan's PATH.partial: the one that is there if it is to be resumed, else a new one.
files::NetcdfWriter open_writer(const fs::path& path, const Simulation& simulation, bool resume) {
  const files::RowLayout layout = layout_of(simulation, simulation.rows);
  const files::Group header = header_of(simulation);
  if (!resume || !files::NetcdfWriter::has_partial(path)) return {path, layout, header};
  files::NetcdfWriter writer = files::NetcdfWriter::resume(path);
  for (const char* name : {"catena_kind", "catena_format_version", "prior", "provenance"}) {
    const auto found = writer.attributes().find(name);
    if (found == writer.attributes().end() || found->second != header.attributes.at(name)) {
      throw InputError(
          fmt::format("simulate: {}.partial was begun with other settings ({} differs); remove it or do not resume",
                      path.string(), name));
    }
  }
  CATENA_ASSERT(writer.layout().chunk_rows == layout.chunk_rows && writer.layout().rows == layout.rows);
  return writer;
}

/// Calls visit(first row, rows) for batches of [begin, end) of a file.
template <class Visit>
void for_batches(const fs::path& path, const Simulation& simulation, std::size_t begin, std::size_t end, Visit visit) {
  const files::NetcdfReader reader(path);
  const std::size_t batch = simulation.source.block_rows() * blocks_in(batch_bytes, simulation);
  for (std::size_t first = begin; first < end; first += batch) {
    Columns<Matrix> buffer = simulation.buffer(std::min(batch, end - first));
    read_batch(reader, first, view(buffer));
    visit(view(buffer));
  }
}

/// PATH.partial is complete; PATH shall hold its valid rows.
void copy_valid(const fs::path& path, const Simulation& simulation, std::uint64_t invalid) {
  const fs::path partial = with_suffix(path, ".partial"), compact = with_suffix(path, ".compact");
  {
    files::NetcdfWriter writer(compact, layout_of(simulation, simulation.rows - invalid), header_of(simulation));
    std::size_t written = 0;
    for_batches(partial, simulation, 0, simulation.rows, [&](const TransitionRows& rows) {
      const std::size_t kept = drop_invalid_rows(rows);
      write_batch(writer, written, slice(rows, 0, kept));
      written += kept;
    });
    writer.set_attribute("invalid", invalid);
    writer.complete(writer.chunks());
    writer.finish();
  }
  fs::rename(compact, path);
  fs::remove(partial);
}

}  // namespace

SimulationInfo simulate_to_file(const fs::path& path, const Model& model, const SimulationPlan& plan,
                                const Parallel& parallel, Progress& progress, bool resume) {
  const Simulation simulation(model, plan);
  // HDF5 locks a file that is being written, so what was already done is counted before the writer opens it for good.
  std::uint64_t invalid = 0;
  if (resume && files::NetcdfWriter::has_partial(path)) {
    const std::size_t done = open_writer(path, simulation, true).complete_rows();
    for_batches(with_suffix(path, ".partial"), simulation, 0, done, [&](const TransitionRows& rows) {
      for (std::size_t r = 0; r < rows.x_next.rows; ++r) invalid += row_is_finite(rows.x_next, r) ? 0U : 1U;
    });
  }
  auto writer = std::make_optional(open_writer(path, simulation, resume));
  const std::size_t block_rows = simulation.source.block_rows(), chunk_rows = writer->layout().chunk_rows;
  const std::size_t batch_rows = chunk_rows * chunks_at_a_time(simulation, chunk_rows, parallel.threads());
  const std::size_t resumed = writer->complete_rows();

  // Two buffers: while one batch is simulated, the one before is written.
  const std::size_t largest = std::min(batch_rows, simulation.rows);
  std::array<Columns<Matrix>, 2> buffers{simulation.buffer(largest), simulation.buffer(largest)};
  LanesPerThread lanes(static_cast<std::size_t>(parallel.threads()));
  std::size_t waiting_begin = resumed, waiting_end = resumed;  // simulated, not yet written: rows of buffers[1 − now]
  std::size_t now = 0;
  progress.start("simulate", "transitions", simulation.rows - resumed);
  while (waiting_end < simulation.rows || waiting_begin < waiting_end) {
    const std::size_t begin = waiting_end, end = std::min(simulation.rows, begin + batch_rows);
    const TransitionRows rows = slice(view(buffers[now]), 0, end - begin);
    std::vector<std::size_t> invalid_rows((end - begin + block_rows - 1) / block_rows);
    parallel.for_each(invalid_rows.size() + 1, [&](std::size_t index) {
      if (index == 0) {
        if (waiting_begin == waiting_end) return;
        write_batch(*writer, waiting_begin, slice(view(buffers[1 - now]), 0, waiting_end - waiting_begin));
        writer->complete((waiting_end + chunk_rows - 1) / chunk_rows);
      } else {
        simulation.make_blocks(begin / block_rows, rows, invalid_rows, index - 1, lanes);
        progress.advance(std::min(block_rows, end - begin - (index - 1) * block_rows));
      }
    });
    for (const std::size_t count : invalid_rows) invalid += count;
    simulation.check_invalid(invalid);
    waiting_begin = begin;
    waiting_end = end;
    now = 1 - now;
  }
  progress.finish();
  check::that(invalid < simulation.rows, "simulate", "the number of finite transitions", 0, "at least 1");
  if (invalid == 0) {
    writer->set_attribute("invalid", 0);
    writer->finish();
  } else {
    writer.reset();
    copy_valid(path, simulation, invalid);
  }

  SimulationInfo info;
  info.rows = simulation.rows - invalid;
  info.invalid = invalid;
  info.proposal_cost = simulation.source.proposal_cost();
  info.resumed_rows = resumed;
  info.provenance = simulation.provenance;
  info.provenance["invalid"] = invalid;
  return info;
}

namespace {

bool has_variable(const files::NetcdfReader& reader, std::string_view name) {
  return std::ranges::any_of(reader.variables(), [&](const auto& variable) { return variable.name == name; });
}

/// In files made elsewhere z may not be there: θ and the prior say what it is.
bool is_left_out(const files::NetcdfReader& reader, std::string_view name) {
  return name == "z" && !has_variable(reader, name);
}

}  // namespace

TransitionFile::TransitionFile(const fs::path& path) : reader_(path) {
  const auto text = [&](const char* name) -> std::string {
    const auto found = reader_.attributes().find(name);
    if (found == reader_.attributes().end() || !found->second.is_string()) {
      throw FileError(
          fmt::format("{}: has no text attribute \"{}\": is it a file of transitions?", path.string(), name));
    }
    return found->second.get<std::string>();
  };
  if (text("catena_kind") != kind) {
    throw FileError(fmt::format("{}: holds {}, not {}", path.string(), text("catena_kind"), kind));
  }
  const auto found_version = reader_.attributes().find("catena_format_version");
  if (found_version == reader_.attributes().end() ||
      (found_version->second != 1 && found_version->second != newest_version)) {
    throw FileError(fmt::format("{}: is of another format version than 1 and {}, which this catena reads",
                                path.string(), newest_version));
  }
  prior_ = prior::Prior::from_json(path.string(), files::parse_json(text("prior"), path.string()));
  if (reader_.attributes().contains("provenance")) {
    provenance_ = files::parse_json(text("provenance"), path.string());
  } else {
    provenance_ = nlohmann::json::object();
  }
  const auto found_invalid = reader_.attributes().find("invalid");
  if (found_invalid != reader_.attributes().end()) provenance_["invalid"] = found_invalid->second;
  const files::Variable states = reader_.read("state");
  const auto* names = std::get_if<std::vector<std::string>>(&states.values);
  if (names == nullptr) throw FileError(fmt::format("{}: the names of the states are not texts", path.string()));
  state_names_ = *names;

  if (found_version->second == 1) {
    shape_.states = state_names_.size();
    shape_.time = has_variable(reader_, "time");
  } else {
    shape_ = RecordShape::from_json(path.string(), files::parse_json(text("records"), path.string()));
    if (shape_.states != state_names_.size()) {
      throw FileError(fmt::format("{}: has {} names for {} states", path.string(), state_names_.size(), shape_.states));
    }
  }
  rows_ = reader_.info("x_next").dimensions.empty() ? 0 : reader_.info("x_next").dimensions[0].size;
  const auto check_matrix = [&](const char* name, std::size_t columns) {
    const files::VariableInfo& info = reader_.info(name);
    if (info.dimensions.size() != 2 || info.dimensions[1].size != columns) {
      throw FileError(fmt::format("{}: {} is no matrix of {} columns", path.string(), name, columns));
    }
    if (info.dimensions[0].size != rows_) {
      throw FileError(fmt::format("{}: its matrices differ in their rows", path.string()));
    }
  };
  for (const Column& column : record_columns) {
    const std::size_t width = column.width(shape_, prior_.size());
    if (width > 0 && !is_left_out(reader_, column.name)) check_matrix(column.name, width);
  }
}

TransitionSet TransitionFile::read(std::size_t begin, std::size_t end) const {
  CATENA_ASSERT(begin <= end && end <= rows_);
  TransitionSet set;
  set.prior = prior_;
  set.provenance = provenance_;
  set.state_names = state_names_;
  for_columns(
      [&](const Column& column, Matrix& values) {
        const std::size_t width = column.width(shape_, prior_.size());
        const bool there = width > 0 && !is_left_out(reader_, column.name);
        values = there ? reader_.read_rows(column.name, begin, end) : Matrix(end - begin, width);
      },
      set);
  if (is_left_out(reader_, "z")) {
    for (std::size_t r = 0; r < set.z.rows(); ++r) prior_.to_z(set.theta.row(r), set.z.row(r));
  }
  return set;
}

void write_transitions(const fs::path& path, const TransitionSet& set) {
  check::at_least("write_transitions", "the number of transitions", set.size(), std::size_t{1});
  const std::size_t parameters = set.prior.size();
  const RecordShape shape = set.shape();
  nlohmann::json provenance = set.provenance;
  const nlohmann::json invalid = provenance.value("invalid", nlohmann::json(0));
  provenance.erase("invalid");
  const std::size_t chunk = usual_lanes * blocks_in(chunk_bytes, parameters, shape, usual_lanes);
  files::NetcdfWriter writer(path, layout_of(parameters, shape, set.size(), chunk),
                             header_of(set.prior, set.state_names, shape, provenance));
  write_batch(writer, 0, set);
  writer.set_attribute("invalid", invalid);
  writer.complete(writer.chunks());
  writer.finish();
}

TransitionSet read_transitions(const fs::path& path) {
  const TransitionFile file(path);
  return file.read(0, file.size());
}

}  // namespace catena::simulate
