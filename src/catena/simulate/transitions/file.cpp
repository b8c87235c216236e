// Transition sets on disk. All transitions are written to PATH.partial, each at its own row, so that what is complete
// is a number of blocks and resuming needs nothing else. If some are invalid, a last pass copies the others to the
// final file; a crash in that pass leaves the complete PATH.partial, and resuming repeats the pass. The file of a shard
// keeps its invalid rows: they are dropped when all shards are put together (merge.cpp).

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "catena/core/check.h"
#include "catena/core/ranks/ranks.h"
#include "catena/files/json.h"
#include "catena/files/netcdf/rows.h"
#include "catena/simulate/simulation.h"
#include "catena/simulate/transitions/transitions.h"

namespace catena::simulate {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kind = "transitions";
// 1: plain transitions; 2: records of other shapes; 3: with covariates; 4: states once, as frames. What could be
// written as an earlier one still is.
constexpr int frames_version = 4, newest_version = frames_version;
constexpr std::size_t chunk_bytes = std::size_t{1} << 20;  // of one chunk of the file, over all variables

int format_version(const RecordShape& shape) { return shape.covariates > 0 ? 3 : shape.plain() ? 1 : 2; }

std::size_t row_bytes(std::size_t parameters, const RecordShape& shape) {
  return sizeof(double) * (2 * parameters + shape.condition() + shape.target() + shape.inputs() + 1);
}

/// Blocks of so many rows per `bytes`, at least one.
std::size_t blocks_in(std::size_t bytes, std::size_t parameters, const RecordShape& shape, std::size_t block_rows) {
  return std::max<std::size_t>(1, bytes / row_bytes(parameters, shape) / block_rows);
}

std::size_t blocks_in(std::size_t bytes, const Simulation& simulation) {
  const TransitionSource& source = simulation.source;
  return blocks_in(bytes, source.model().prior.size(), source.shape(), source.block_rows());
}

/// single_states: those of x and x_next as floats; they stand among `frames`, if there are any.
files::RowLayout layout_of(std::size_t parameters, const RecordShape& shape, std::size_t rows, std::size_t chunk_rows,
                           bool single_states, const std::optional<FrameLayout>& frames = {}) {
  files::RowLayout layout;
  layout.rows = {"transition", rows};
  layout.chunk_rows = chunk_rows;
  for (const Column& column : record_columns) {
    if (column.width(shape, parameters) == 0) continue;
    files::RowVariable variable;
    variable.name = column.name;
    variable.columns = {shape.plain() ? column.plain_dimension : column.dimension, column.width(shape, parameters)};
    const std::string_view name = column.name;
    variable.single_precision = single_states && (name == "x" || name == "x_next");
    variable.attributes["long_name"] = shape.plain() ? column.plain_meaning : column.meaning;
    if (frames && is_state(column)) describe_places(column, variable);
    layout.variables.push_back(std::move(variable));
  }
  if (frames) layout.variables.push_back(frames->variable(shape.states));
  return layout;
}

}  // namespace

/// Chunks are whole blocks: as many as the plan's rows hold, if it gives any, but no more than a megabyte.
files::RowLayout layout_of(const Simulation& simulation, std::size_t rows) {
  std::size_t blocks = blocks_in(chunk_bytes, simulation);
  if (simulation.chunk_rows > 0) {
    blocks = std::clamp<std::size_t>(simulation.chunk_rows / simulation.source.block_rows(), 1, blocks);
  }
  return layout_of(simulation.source.model().prior.size(), simulation.source.shape(), rows,
                   simulation.source.block_rows() * blocks, simulation.source.model().single_precision,
                   simulation.frames);
}

namespace {

/// Chunks that are simulated together. A slow simulator, and one whose blocks alone are larger than a chunk should be,
/// wants few, but enough to keep every thread at work twice.
std::size_t chunks_at_a_time(const Simulation& simulation, std::size_t chunk_rows, int threads) {
  static_assert(batch_bytes / chunk_bytes == chunks_of_a_batch);
  const TransitionSource& source = simulation.source;
  const bool small = chunk_rows * row_bytes(source.model().prior.size(), source.shape()) <= chunk_bytes;
  if (simulation.chunk_rows == 0 && small) return chunks_of_a_batch;
  const std::size_t rows = 2 * static_cast<std::size_t>(threads) * simulation.source.block_rows();
  return (rows + chunk_rows - 1) / chunk_rows;
}

files::Group header_of(const prior::Prior& prior, const std::vector<std::string>& state_names,
                       const std::vector<std::string>& covariate_names, const RecordShape& shape,
                       const nlohmann::json& provenance, bool by_frame = false) {
  files::Group header;
  header.dimensions = {{"parameter", prior.size()}, {"state", state_names.size()}};
  header.variables = {{"parameter", {"parameter"}, prior.names()}, {"state", {"state"}, state_names}};
  header.attributes = {{"catena_kind", kind},
                       {"catena_format_version", by_frame ? frames_version : format_version(shape)},
                       {"prior", prior.to_json().dump()},
                       {"provenance", provenance.dump()}};
  if (by_frame || !shape.first_format()) header.attributes["records"] = shape.to_json().dump();
  if (shape.covariates > 0) {
    header.dimensions.push_back({"covariate", shape.covariates});
    header.variables.push_back({"covariate", {"covariate"}, covariate_names});
  }
  return header;
}

files::Group header_of(const Simulation& simulation) {
  const Model& model = simulation.source.model();
  files::Group header = header_of(model.prior, model.simulator.state_names, model.simulator.covariate_names,
                                  simulation.source.shape(), simulation.provenance, simulation.frames.has_value());
  if (simulation.shard.whole()) return header;
  const ShardRecord record{.shard = simulation.shard,
                           .begin = simulation.begin,
                           .end = simulation.end,
                           .rows = simulation.rows,
                           .chunk_rows = layout_of(simulation, simulation.rows).chunk_rows,
                           .batch_rows = simulation.source.block_rows() * blocks_in(batch_bytes, simulation),
                           .max_invalid = simulation.max_invalid};
  header.attributes["catena_kind"] = shard_kind;
  header.attributes["shard"] = shard_json(record).dump();
  return header;
}

fs::path with_suffix(fs::path path, std::string_view suffix) { return path += suffix; }

/// The writer of this plan's PATH.partial: the one that is there if it is to be resumed, else a new one.
files::NetcdfWriter open_writer(const fs::path& path, const Simulation& simulation, bool resume) {
  const files::RowLayout layout = layout_of(simulation, simulation.part_rows());
  const files::Group header = header_of(simulation);
  if (!resume || !files::NetcdfWriter::has_partial(path)) return {path, layout, header};
  files::NetcdfWriter writer = files::NetcdfWriter::resume(path);
  for (const char* name : {"catena_kind", "catena_format_version", "prior", "provenance", "shard"}) {
    const auto expected = header.attributes.find(name);
    if (expected == header.attributes.end()) continue;
    const auto found = writer.attributes().find(name);
    if (found == writer.attributes().end() || found->second != expected->second) {
      throw InputError(
          fmt::format("simulate: {}.partial was begun with other settings ({} differs); remove it or do not resume",
                      path.string(), name));
    }
  }
  CATENA_ASSERT(writer.layout().chunk_rows == layout.chunk_rows && writer.layout().rows == layout.rows);
  return writer;
}

/// Calls visit(rows) for batches of [0, end) of a file, which its reader or its writer gives.
template <class Source, class Visit>
void for_batches(const Source& file, const Simulation& simulation, std::size_t end, Visit visit) {
  const std::size_t batch = simulation.source.block_rows() * blocks_in(batch_bytes, simulation);
  for (std::size_t first = 0; first < end; first += batch) {
    Columns<Matrix> buffer = simulation.stored_buffer(std::min(batch, end - first));
    read_batch(file, first, view(buffer), simulation.frames.has_value());
    visit(view(buffer));
  }
}

/// The writer's PATH.partial is complete; PATH shall hold its valid rows. They are read back by the writer: a reader
/// would send them through a pipe, which takes longer than all else here.
void copy_valid(const fs::path& path, const Simulation& simulation, std::optional<files::NetcdfWriter> complete,
                std::uint64_t invalid) {
  const fs::path compact = with_suffix(path, ".compact");
  {
    files::NetcdfWriter writer(compact, layout_of(simulation, simulation.rows - invalid), header_of(simulation));
    std::size_t written = 0;
    for_batches(*complete, simulation, simulation.rows, [&](const TransitionRows& rows) {
      const std::size_t kept = drop_invalid_rows(rows);
      write_batch(writer, written, slice(rows, 0, kept), simulation.frames.has_value());
      written += kept;
    });
    if (simulation.frames) simulation.frames->copy(*complete, writer, simulation.source.shape().states);
    writer.set_attribute("invalid", invalid);
    writer.complete(writer.chunks());
    writer.finish();
  }
  fs::rename(compact, path);
  complete.reset();
  fs::remove(with_suffix(path, ".partial"));
}

/// What is there of PATH.partial. HDF5 locks a file that is being written, so it is counted before the writer opens it
/// for good.
Resumed resumed_rows(const fs::path& path, const Simulation& simulation) {
  Resumed found;
  found.rows = open_writer(path, simulation, true).complete_rows();
  const files::NetcdfReader reader(with_suffix(path, ".partial"));
  for_batches(reader, simulation, found.rows, [&](const TransitionRows& rows) {
    for (std::size_t r = 0; r < rows.x_next.rows; ++r) found.invalid += row_is_finite(rows.x_next, r) ? 0U : 1U;
  });
  return found;
}

/// The rows of the shard from `resumed` on; returns how many of all are invalid.
std::uint64_t simulate_alone(const Simulation& simulation, files::NetcdfWriter& writer, Resumed resumed,
                             std::size_t batch_rows, const Parallel& parallel, Progress& progress) {
  const std::size_t block_rows = simulation.source.block_rows(), chunk_rows = writer.layout().chunk_rows;
  const std::size_t rows_here = simulation.part_rows();
  std::uint64_t invalid = resumed.invalid;
  // Two buffers: while one batch is simulated, the one before is written.
  const std::size_t largest = std::min(batch_rows, rows_here);
  std::array<Columns<Matrix>, 2> buffers{simulation.buffer(largest), simulation.buffer(largest)};
  LanesPerThread lanes(static_cast<std::size_t>(parallel.threads()));
  std::size_t waiting_begin = resumed.rows,
              waiting_end = resumed.rows;  // simulated, not yet written: rows of buffers[1 − now]
  std::size_t now = 0;
  while (waiting_end < rows_here || waiting_begin < waiting_end) {
    const std::size_t begin = waiting_end, end = std::min(rows_here, begin + batch_rows);
    const TransitionRows rows = slice(view(buffers[now]), 0, end - begin);
    std::vector<std::size_t> invalid_rows((end - begin + block_rows - 1) / block_rows);
    parallel.for_each(invalid_rows.size() + 1, [&](std::size_t index) {
      if (index == 0) {
        if (waiting_begin == waiting_end) return;
        write_simulated(writer, simulation, waiting_begin,
                        slice(view(buffers[1 - now]), 0, waiting_end - waiting_begin));
        writer.complete((waiting_end + chunk_rows - 1) / chunk_rows);
      } else {
        simulation.make_blocks((simulation.begin + begin) / block_rows, rows, invalid_rows, index - 1, lanes);
        progress.advance(std::min(block_rows, end - begin - (index - 1) * block_rows));
      }
    });
    for (const std::size_t count : invalid_rows) invalid += count;
    simulation.check_invalid(invalid);
    waiting_begin = begin;
    waiting_end = end;
    now = 1 - now;
  }
  return invalid;
}

SimulationInfo info_of(const Simulation& simulation, std::uint64_t invalid, std::size_t resumed) {
  SimulationInfo info;
  info.rows = simulation.part_rows() - invalid;
  info.invalid = invalid;
  info.proposal_cost = simulation.source.proposal_cost();
  info.resumed_rows = resumed;
  const BlockFailures failed = simulation.failures();
  info.failed_blocks = failed.count;
  info.first_failure = failed.sentence;
  info.provenance = simulation.provenance;
  info.provenance["invalid"] = invalid;
  return info;
}

}  // namespace

SimulationInfo simulate_to_file(const fs::path& path, const Model& model, const SimulationPlan& plan,
                                const Parallel& parallel, Progress& progress, bool resume) {
  const Simulation simulation(model, plan);
  check::that(simulation.shard.whole() || !simulation.frames, "simulate", "the shard", simulation.shard.text(),
              "1/1: rollouts of large states keep each state once, and such files are not merged (several ranks, as "
              "mpirun gives them, can share the work)");
  if (simulation.part_rows() == 0) {  // more shards than blocks: this one is a file without rows
    if (parallel.ranks().first()) files::write_netcdf(path, header_of(simulation));
    return info_of(simulation, 0, 0);
  }
  Ranks& ranks = parallel.ranks();
  Resumed resumed;
  std::optional<files::NetcdfWriter> writer;
  if (ranks.first()) {
    if (resume && files::NetcdfWriter::has_partial(path)) resumed = resumed_rows(path, simulation);
    writer.emplace(open_writer(path, simulation, resume));
    resumed.rows = writer->complete_rows();
  }
  const std::size_t chunk_rows = layout_of(simulation, simulation.part_rows()).chunk_rows;
  const std::size_t batch_rows = chunk_rows * chunks_at_a_time(simulation, chunk_rows, parallel.threads());
  progress.start("simulate", "transitions", simulation.part_rows() - resumed.rows);
  const std::uint64_t invalid =
      ranks.shared()
          ? simulate_on_ranks(simulation, writer ? &*writer : nullptr, resumed, batch_rows, parallel, progress)
          : simulate_alone(simulation, *writer, resumed, batch_rows, parallel, progress);
  progress.finish();
  if (!ranks.first()) return info_of(simulation, invalid, resumed.rows);
  if (simulation.shard.whole()) {
    check::that(invalid < simulation.rows, "simulate", "the number of finite transitions", 0, "at least 1");
  }
  if (invalid == 0 || !simulation.shard.whole()) {
    writer->set_attribute("invalid", invalid == 0 ? nlohmann::json(0) : nlohmann::json(invalid));
    writer->finish();
  } else {
    copy_valid(path, simulation, std::move(writer), invalid);
  }
  return info_of(simulation, invalid, resumed.rows);
}

namespace {

bool has_variable(const files::NetcdfReader& reader, std::string_view name) {
  return std::ranges::any_of(reader.variables(), [&](const auto& variable) { return variable.name == name; });
}

/// In files made elsewhere z may not be there: θ and the prior say what it is.
bool is_left_out(const files::NetcdfReader& reader, std::string_view name) {
  return name == "z" && !has_variable(reader, name);
}

/// How many frames a file of them has.
std::size_t check_frames(const fs::path& path, const files::NetcdfReader& reader, const RecordShape& shape) {
  const files::VariableInfo& info = reader.info(frames_name);
  if (!shape.plain() || !info.numeric || info.dimensions.size() != 2 || info.dimensions[1].size != shape.states) {
    throw FileError(fmt::format("{}: {} is no matrix of {} columns", path.string(), frames_name, shape.states));
  }
  return info.dimensions[0].size;
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
  if (text("catena_kind") == shard_kind) {
    throw FileError(fmt::format("{}: holds one shard of a set of transitions; catena merge puts all of them together",
                                path.string()));
  }
  if (text("catena_kind") != kind) {
    throw FileError(fmt::format("{}: holds {}, not {}", path.string(), text("catena_kind"), kind));
  }
  const auto found_version = reader_.attributes().find("catena_format_version");
  if (found_version == reader_.attributes().end() || !found_version->second.is_number_integer() ||
      found_version->second < 1 || found_version->second > newest_version) {
    throw FileError(fmt::format("{}: is of another format version than 1 to {}, which this catena reads", path.string(),
                                newest_version));
  }
  prior_ = prior::Prior::from_json(path.string(), files::parse_json(text("prior"), path.string()));
  if (reader_.attributes().contains("provenance")) {
    provenance_ = files::parse_json(text("provenance"), path.string());
  } else {
    provenance_ = nlohmann::json::object();
  }
  const auto found_invalid = reader_.attributes().find("invalid");
  if (found_invalid != reader_.attributes().end()) provenance_["invalid"] = found_invalid->second;
  const auto names_in = [&](const char* variable, std::string_view what) {
    const files::Variable found = reader_.read(variable);
    const auto* names = std::get_if<std::vector<std::string>>(&found.values);
    if (names == nullptr) throw FileError(fmt::format("{}: the names of the {} are not texts", path.string(), what));
    return *names;
  };
  state_names_ = names_in("state", "states");

  if (found_version->second == 1) {
    shape_.states = state_names_.size();
    shape_.time = has_variable(reader_, "time");
  } else {
    shape_ = RecordShape::from_json(path.string(), files::parse_json(text("records"), path.string()));
    if (shape_.states != state_names_.size()) {
      throw FileError(fmt::format("{}: has {} names for {} states", path.string(), state_names_.size(), shape_.states));
    }
    if (shape_.covariates > 0) covariate_names_ = names_in("covariate", "covariates");
    if (shape_.covariates != covariate_names_.size()) {
      throw FileError(
          fmt::format("{}: has {} names for {} covariates", path.string(), covariate_names_.size(), shape_.covariates));
    }
  }
  by_frame_ = found_version->second == frames_version;
  const files::VariableInfo& last = reader_.info(by_frame_ ? next_frame_name : "x_next");
  rows_ = last.dimensions.empty() ? 0 : last.dimensions[0].size;
  if (by_frame_) frames_ = check_frames(path, reader_, shape_);
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
    const std::size_t width = stored_width(column, shape_, prior_.size(), by_frame_);
    if (width > 0 && !is_left_out(reader_, column.name)) check_matrix(stored_name(column, by_frame_), width);
  }
}

Columns<Matrix> TransitionFile::read_columns(std::size_t begin, std::size_t end) const {
  Columns<Matrix> columns;
  for_columns(
      [&](const Column& column, Matrix& values) {
        const std::size_t width = stored_width(column, shape_, prior_.size(), by_frame_);
        const bool there = width > 0 && !is_left_out(reader_, column.name);
        values = there ? reader_.read_rows(stored_name(column, by_frame_), begin, end) : Matrix(end - begin, width);
      },
      columns);
  if (is_left_out(reader_, "z")) {
    for (std::size_t r = 0; r < columns.z.rows(); ++r) prior_.to_z(columns.theta.row(r), columns.z.row(r));
  }
  return columns;
}

TransitionSet TransitionFile::read(std::size_t begin, std::size_t end) const {
  CATENA_ASSERT(begin <= end && end <= rows_);
  TransitionSet set;
  set.prior = prior_;
  set.provenance = provenance_;
  set.state_names = state_names_;
  set.covariate_names = covariate_names_;
  static_cast<Columns<Matrix>&>(set) = read_columns(begin, end);
  if (by_frame_) expand_frames(set);
  return set;
}

std::vector<std::size_t> TransitionFile::checked_places(const Matrix& column) const {
  std::vector<std::size_t> places;
  for (const double place : column.values()) {
    if (!(place >= 0 && place < static_cast<double>(frames_) && place == std::floor(place))) {
      throw FileError(fmt::format("a file of transitions: a record is at frame {} of {}", place, frames_));
    }
    places.push_back(static_cast<std::size_t>(place));
  }
  return places;
}

Matrix TransitionFile::read_frames(std::size_t begin, std::size_t end) const {
  return reader_.read_rows(frames_name, begin, end);
}

TransitionFile::Places TransitionFile::read_places(std::size_t begin, std::size_t end) const {
  CATENA_ASSERT(by_frame_);
  Places places{read_columns(begin, end), {}, {}};
  places.x = checked_places(places.columns.x);
  places.x_next = checked_places(places.columns.x_next);
  places.columns.x = places.columns.x_next = Matrix(end - begin, 0);
  return places;
}

/// Records of a range of rows have theirs close to each other, but need not.
void TransitionFile::expand_frames(TransitionSet& set) const {
  for (Matrix* column : {&set.x, &set.x_next}) {
    const std::vector<std::size_t> places = checked_places(*column);
    *column = Matrix(places.size(), shape_.states);
    constexpr std::size_t at_a_time = 1024;
    for (std::size_t begin = 0; begin < places.size(); begin += at_a_time) {
      const std::size_t end = std::min(places.size(), begin + at_a_time);
      std::size_t first = frames_, last = 0;
      for (std::size_t r = begin; r < end; ++r) {
        first = std::min(first, places[r]);
        last = std::max(last, places[r] + 1);
      }
      const bool close = last - first <= 4 * at_a_time;
      const Matrix frames = close ? read_frames(first, last) : Matrix();
      for (std::size_t r = begin; r < end; ++r) {
        if (close) {
          std::ranges::copy(frames.row(places[r] - first), column->row(r).begin());
        } else {
          reader_.read_rows(frames_name, places[r], column->view().slice_rows(r, r + 1));
        }
      }
    }
  }
}

void write_transitions(const fs::path& path, const TransitionSet& set) {
  check::at_least("write_transitions", "the number of transitions", set.size(), std::size_t{1});
  const std::size_t parameters = set.prior.size();
  const RecordShape shape = set.shape();
  nlohmann::json provenance = set.provenance;
  const nlohmann::json invalid = provenance.value("invalid", nlohmann::json(0));
  provenance.erase("invalid");
  const std::size_t lanes = lanes_for(usual_lanes, shape.states, shape.condition() + shape.target());
  const std::size_t chunk = lanes * blocks_in(chunk_bytes, parameters, shape, lanes);
  files::NetcdfWriter writer(path, layout_of(parameters, shape, set.size(), chunk, /*single_states=*/false),
                             header_of(set.prior, set.state_names, set.covariate_names, shape, provenance));
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
