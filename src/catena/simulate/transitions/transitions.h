/// Transition sets: the training data, records (z, θ, x^t, x^(t+1)) of one shape (record.h), with the prior and a note
/// of how they were made; in memory or as a netCDF file, which may be larger than memory. The same plan gives the same
/// data on any number of threads, in either form, and after any number of interruptions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/parallel.h"
#include "catena/core/progress.h"
#include "catena/core/ranks/shard.h"
#include "catena/files/netcdf/rows.h"
#include "catena/prior/prior.h"
#include "catena/simulate/model.h"
#include "catena/simulate/records/record.h"
#include "catena/simulate/source.h"
#include "catena/simulate/transitions/columns.h"

namespace catena::simulate {

struct TransitionSet : Columns<Matrix> {
  prior::Prior prior;  // with the parameters' names
  std::vector<std::string> state_names;
  nlohmann::json provenance;  // what made it: model, options, proposal, its cost, seed, budget, invalid rows, version
  std::vector<std::string> covariate_names = {};

  std::size_t size() const { return x_next.rows(); }
  RecordShape shape() const;
  RecordView record(std::size_t r) const {
    return {x.row(r), x_next.row(r), time.cols() > 0 ? time(r, 0) : 0, step.cols() > 0 ? step(r, 0) : 1, u.row(r)};
  }
};

/// What to simulate. Everything that decides about the data is here.
struct SimulationPlan {
  nlohmann::json proposal;              // null: the model's default
  ProposalPtr own_proposal = {};        // one that no description makes (Python's callables), instead
  std::vector<SeriesView> target = {};  // for the target proposal; must outlive the run
  /// Tables of covariates in time order, which must outlive the run; none: those of the target or the model's own.
  std::vector<ConstMatrixView> covariates = {};
  std::uint64_t budget = 10000;  // transitions in all, the inner ones of a record and the proposal's cost included
  std::uint64_t seed = 0;
  double max_invalid = 0.1;  // the largest share of non-finite transitions that is not an error
  nlohmann::json options = nlohmann::json::object();  // of the task, for the record
  std::size_t lanes = usual_lanes;  // simulations that move together: rows of one call of the simulator
  std::size_t chunk_rows = 0;       // rows after which a file is safe, for slow simulators; 0: a megabyte of them
  RecordPlan records = {};
  Shard shard = {};  // the part of all of this that one file holds; see merge_transitions()
};

/// How it went.
struct SimulationInfo {
  std::uint64_t rows = 0;           // kept
  std::uint64_t invalid = 0;        // dropped: x^(t+1) was not finite
  std::uint64_t proposal_cost = 0;  // with plain transitions, rows + invalid + proposal_cost = budget
  std::uint64_t resumed_rows = 0;   // found already done
  std::uint64_t failed_blocks = 0;  // of which the simulator made nothing; their rows are among the invalid ones
  std::string first_failure;        // its sentence
  nlohmann::json provenance;
};

/// In memory. Throws InputError if the budget does not even pay the proposal or too many transitions are invalid.
TransitionSet simulate(const Model& model, const SimulationPlan& plan, const Parallel& parallel, Progress& progress);

/// To a file: PATH.partial grows chunk by chunk and takes its name at the end. With `resume`, goes on with a
/// PATH.partial of the same plan (a different one is an InputError) if there is one.
SimulationInfo simulate_to_file(const std::filesystem::path& path, const Model& model, const SimulationPlan& plan,
                                const Parallel& parallel, Progress& progress, bool resume = false);

/// The file that simulate_to_file would have written without shards, from the files of all of them. Throws InputError
/// with the number of a shard that is missing, twice there or of other settings.
SimulationInfo merge_transitions(const std::vector<std::filesystem::path>& shards, const std::filesystem::path& path,
                                 Progress& progress);

/// A file of transitions, read by ranges of rows: for training on more than memory holds.
class TransitionFile {
 public:
  explicit TransitionFile(const std::filesystem::path& path);

  std::size_t size() const { return rows_; }
  const RecordShape& shape() const { return shape_; }
  const prior::Prior& prior() const { return prior_; }
  const std::vector<std::string>& state_names() const { return state_names_; }
  const std::vector<std::string>& covariate_names() const { return covariate_names_; }
  const nlohmann::json& provenance() const { return provenance_; }

  TransitionSet read(std::size_t begin, std::size_t end) const;

  /// How many states it has, each once (frames.h); 0: records have their own. In the order of the series they belong
  /// to, rows [begin, end) of them; and records [begin, end) with the places of x^t and x^(t+1) apart.
  std::size_t frames() const { return frames_; }
  Matrix read_frames(std::size_t begin, std::size_t end) const;
  struct Places {
    Columns<Matrix> columns;  // without x and x_next
    std::vector<std::size_t> x, x_next;
  };
  Places read_places(std::size_t begin, std::size_t end) const;

 private:
  /// The columns as they are stored, z made where it was left out.
  Columns<Matrix> read_columns(std::size_t begin, std::size_t end) const;
  /// States in place of the places of their frames.
  void expand_frames(TransitionSet& set) const;
  std::vector<std::size_t> checked_places(const Matrix& column) const;

  files::NetcdfReader reader_;
  prior::Prior prior_;
  std::vector<std::string> state_names_, covariate_names_;
  nlohmann::json provenance_;
  std::size_t rows_ = 0, frames_ = 0;
  bool by_frame_ = false;
  RecordShape shape_;
};

/// The whole file in memory.
TransitionSet read_transitions(const std::filesystem::path& path);

/// A set that is in memory, as the file that simulate_to_file would have written.
void write_transitions(const std::filesystem::path& path, const TransitionSet& set);

}  // namespace catena::simulate
