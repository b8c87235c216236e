// All shards of a set of transitions, put together: the file that one job would have written. Invalid rows, which
// shards keep, are dropped here, batch by batch as transitions_file.cpp does it.

#include <algorithm>
#include <optional>

#include "catena/core/check.h"
#include "catena/files/json.h"
#include "catena/simulate/simulation.h"

namespace catena::simulate {

namespace fs = std::filesystem;

nlohmann::json shard_json(const ShardRecord& record) {
  return {{"number", record.shard.number},
          {"of", record.shard.of},
          {"begin", record.begin},
          {"end", record.end},
          {"rows", record.rows},
          {"chunk_rows", record.chunk_rows},
          {"batch_rows", record.batch_rows},
          {"max_invalid", record.max_invalid}};
}

namespace {

/// One shard's file, without its rows.
struct ShardFile {
  fs::path path;
  ShardRecord record;
  files::Attributes attributes;
  std::vector<files::VariableInfo> variables;
};

ShardFile read_shard(const fs::path& path) {
  ShardFile file{path, {}, {}, {}};
  const files::NetcdfReader reader(path);
  file.attributes = reader.attributes();
  file.variables = reader.variables();
  const auto found = file.attributes.find("catena_kind");
  if (found == file.attributes.end() || found->second != shard_kind || !file.attributes.contains("shard") ||
      !file.attributes["shard"].is_string()) {
    throw FileError(
        fmt::format("{}: is no shard of transitions, as catena simulate --shard writes them", path.string()));
  }
  const nlohmann::json json = files::parse_json(file.attributes["shard"].get<std::string>(), path.string());
  try {
    file.record = {.shard = {json.at("number"), json.at("of")},
                   .begin = json.at("begin"),
                   .end = json.at("end"),
                   .rows = json.at("rows"),
                   .chunk_rows = json.at("chunk_rows"),
                   .batch_rows = json.at("batch_rows"),
                   .max_invalid = json.at("max_invalid")};
  } catch (const nlohmann::json::exception&) {
    throw FileError(fmt::format("{}: its attribute shard does not say which rows it has", path.string()));
  }
  const ShardRecord& record = file.record;
  if (record.begin > record.end || record.end > record.rows || record.chunk_rows == 0 || record.batch_rows == 0) {
    throw FileError(fmt::format("{}: its attribute shard does not say which rows it has", path.string()));
  }
  return file;
}

/// All shards in their order, or the sentence about the one that is missing or too many.
std::vector<ShardFile> shards_in_order(const std::vector<fs::path>& paths) {
  check::at_least("merge", "the number of shards", paths.size(), std::size_t{1});
  std::vector<ShardFile> files;
  for (const fs::path& path : paths) files.push_back(read_shard(path));
  std::ranges::stable_sort(files, {}, [](const ShardFile& file) { return file.record.shard.number; });
  const ShardFile& first = files.front();
  std::size_t expected = 1, next_row = 0;
  for (const ShardFile& file : files) {
    const Shard& shard = file.record.shard;
    if (shard.of != first.record.shard.of) {
      throw InputError(fmt::format("merge: {} is shard {}, but {} is shard {}: all must be of the same number",
                                   file.path.string(), shard.text(), first.path.string(), first.record.shard.text()));
    }
    if (shard.number < expected) {
      throw InputError(fmt::format("merge: shard {} is there twice: {} and {}", shard.text(),
                                   files[expected - 2].path.string(), file.path.string()));
    }
    if (shard.number > expected) {
      throw InputError(fmt::format("merge: shard {} is missing", Shard{expected, shard.of}.text()));
    }
    for (const char* name : {"catena_format_version", "prior", "provenance", "records"}) {
      const auto mine = file.attributes.find(name), its = first.attributes.find(name);
      const bool same = (mine == file.attributes.end()) == (its == first.attributes.end()) &&
                        (mine == file.attributes.end() || mine->second == its->second);
      if (!same) {
        throw InputError(fmt::format("merge: {} was made with other settings than {} ({} differs)", file.path.string(),
                                     first.path.string(), name));
      }
    }
    if (file.record.begin != next_row || file.record.rows != first.record.rows) {
      throw FileError(fmt::format("{}: its rows do not follow those of the shard before", file.path.string()));
    }
    next_row = file.record.end;
    ++expected;
  }
  if (expected <= first.record.shard.of) {
    throw InputError(fmt::format("merge: shard {} is missing", Shard{expected, first.record.shard.of}.text()));
  }
  if (next_row != first.record.rows) throw FileError(fmt::format("{}: has too few rows", files.back().path.string()));
  return files;
}

/// Rows of all shards, one after the other: no more than one file is open.
class ShardRows {
 public:
  explicit ShardRows(const std::vector<ShardFile>& files) : files_(files) {}

  /// Fills the rows of `to` from row `begin` of all on; rows are asked for in their order.
  void read(const std::string& variable, std::size_t begin, MatrixView to) {
    for (std::size_t done = 0; done < to.rows;) {
      const std::size_t row = begin + done;
      const auto file = std::ranges::find_if(files_, [&](const ShardFile& each) { return row < each.record.end; });
      if (!reader_ || open_ != file->path) {
        reader_.reset();
        reader_.emplace(file->path);
        open_ = file->path;
      }
      const std::size_t count = std::min(to.rows - done, file->record.end - row);
      reader_->read_rows(variable, row - file->record.begin, to.slice_rows(done, done + count));
      done += count;
    }
  }

 private:
  const std::vector<ShardFile>& files_;
  std::optional<files::NetcdfReader> reader_;
  fs::path open_;
};

/// Layout and header of the whole file, from a shard that has rows.
files::RowLayout whole_layout(const ShardFile& shard, std::size_t rows) {
  files::RowLayout layout;
  layout.rows = {"transition", rows};
  layout.chunk_rows = shard.record.chunk_rows;
  for (const Column& column : record_columns) {
    const auto found = std::ranges::find(shard.variables, column.name, &files::VariableInfo::name);
    if (found == shard.variables.end()) continue;
    if (found->dimensions.size() != 2) {
      throw FileError(fmt::format("{}: {} is no matrix", shard.path.string(), column.name));
    }
    layout.variables.push_back(
        {std::string(column.name), found->dimensions[1], found->single_precision, found->attributes});
  }
  return layout;
}

files::Group whole_header(const ShardFile& shard) {
  const files::NetcdfReader reader(shard.path);
  files::Group header;
  for (const char* name : {"parameter", "state", "covariate"}) {
    if (std::ranges::find(shard.variables, name, &files::VariableInfo::name) == shard.variables.end()) continue;
    files::Variable variable = reader.read(name);
    const auto* names = std::get_if<std::vector<std::string>>(&variable.values);
    if (names == nullptr) throw FileError(fmt::format("{}: the {} names are not texts", shard.path.string(), name));
    header.dimensions.push_back({name, names->size()});
    header.variables.push_back({name, {name}, *names});
  }
  header.attributes = {{"catena_kind", "transitions"}};
  for (const char* name : {"catena_format_version", "prior", "provenance", "records"}) {
    if (const auto found = shard.attributes.find(name); found != shard.attributes.end()) {
      header.attributes[name] = found->second;
    }
  }
  return header;
}

}  // namespace

SimulationInfo merge_transitions(const std::vector<fs::path>& shards, const fs::path& path, Progress& progress) {
  const std::vector<ShardFile> files = shards_in_order(shards);
  const auto some =
      std::ranges::find_if(files, [](const ShardFile& each) { return each.record.end > each.record.begin; });
  CATENA_ASSERT(some != files.end());
  const ShardRecord& record = some->record;
  std::uint64_t invalid = 0;
  for (const ShardFile& file : files) {
    const auto found = file.attributes.find("invalid");
    if (found != file.attributes.end() && found->second.is_number_integer()) {
      invalid += found->second.get<std::uint64_t>();
    }
  }
  const double share = static_cast<double>(invalid) / static_cast<double>(record.rows);
  check::that(share <= record.max_invalid, "merge", "the share of transitions whose result is not finite", share,
              fmt::format("at most {} (--max-invalid of catena simulate)", record.max_invalid));
  check::that(invalid < record.rows, "merge", "the number of finite transitions", 0, "at least 1");

  const files::RowLayout layout = whole_layout(*some, record.rows - invalid);
  files::NetcdfWriter writer(path, layout, whole_header(*some));
  ShardRows rows(files);
  const std::size_t batch_rows = invalid > 0 ? record.batch_rows : record.chunk_rows * chunks_of_a_batch;
  std::size_t written = 0;
  progress.start("merge", "transitions", record.rows);
  for (std::size_t begin = 0; begin < record.rows; begin += batch_rows) {
    const std::size_t count = std::min(batch_rows, record.rows - begin);
    Columns<Matrix> buffer;
    for_columns(
        [&](const Column& column, Matrix& array) {
          const auto found = std::ranges::find(layout.variables, column.name, &files::RowVariable::name);
          array = Matrix(count, found == layout.variables.end() ? 0 : found->columns.size);
          if (array.cols() > 0) rows.read(column.name, begin, array.view());
        },
        buffer);
    const std::size_t kept = invalid > 0 ? drop_invalid_rows(view(buffer)) : count;
    write_batch(writer, written, slice(view(buffer), 0, kept));
    written += kept;
    if (invalid == 0) writer.complete((written + layout.chunk_rows - 1) / layout.chunk_rows);
    progress.advance(count);
  }
  progress.finish();
  writer.set_attribute("invalid", invalid == 0 ? nlohmann::json(0) : nlohmann::json(invalid));
  if (invalid > 0) writer.complete(writer.chunks());
  writer.finish();

  SimulationInfo info;
  info.rows = written;
  info.invalid = invalid;
  info.provenance = files::parse_json(some->attributes.at("provenance").get<std::string>(), some->path.string());
  info.proposal_cost = info.provenance.value("proposal_cost", std::uint64_t{0});
  info.provenance["invalid"] = invalid;
  return info;
}

}  // namespace catena::simulate
