/// The simulations of a correction: records from the observed states, each simulated twice with the same z, round after
/// round, and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "catena/core/parallel.h"
#include "catena/core/progress.h"
#include "catena/core/random.h"
#include "catena/sample/correct/answers.h"
#include "catena/sample/posterior.h"
#include "catena/simulate/records/given_records.h"

namespace catena::sample {

/// The records of one model of the request: its own, or those of a companion.
struct RecordPart {
  const model::TrainedModel* model;
  const compose::ObservedSeries* observed;
};
/// Those that have any.
std::vector<RecordPart> parts_with_records(const PosteriorRequest& request, const compose::ObservedSeries& observed);

/// Throws InputError, whose sentence begins with `function`, for a simulator that does not fit the model: it must have
/// its parameters, states, covariates and order.
void check_simulator(std::string_view function, const simulate::Model& simulator, const model::TrainedModel& model,
                     std::span<const model::TrainedModel* const> companions = {});

/// Pairs of simulated records: what one of the parts' networks sees of either.
struct PairRecords {
  std::size_t part = 0;
  Matrix z;                         // of the networks, one pair a row
  Matrix first, second;             // features of either
  std::vector<std::size_t> record;  // the observed one that they begin with, counted through all parts
};

/// Those of some of the rows.
PairRecords some_pairs(const PairRecords& pairs, std::span<const std::size_t> rows);

class RecordSource {
 public:
  /// Keeps looking at all that it is given. `max_invalid`: the largest share of results that are not finite.
  RecordSource(const simulate::Model& simulator, std::vector<RecordPart> parts, const Streams& streams,
               double max_invalid, AnswerPlan answers, const Parallel& parallel);

  std::size_t records() const { return records_; }  ///< T: those that were observed, of all parts
  std::uint64_t spent() const { return spent_; }    ///< steps of the simulator so far
  std::uint64_t invalid() const { return invalid_; }
  std::uint64_t recalled() const { return answers_.recalled(); }  ///< of an earlier run

  double steps_per_record() const { return steps_per_pair_ / 2; }  ///< on average
  /// How many pairs `steps` steps of the simulator are enough for.
  std::size_t pairs_for(std::uint64_t steps) const;
  /// Every observed record equally often, in random order, with the rows of `z` in turn; one element for each part.
  /// Pairs of which one is not finite are left out and counted. Throws InputError if there are too many.
  std::vector<PairRecords> simulate(ConstMatrixView z, std::size_t pairs, Progress& progress);

 private:
  /// Rows to be simulated with blocks of these streams from the given one on.
  struct Question {
    simulate::TransitionRows rows;
    Streams streams;
    std::size_t first_block;
  };
  /// x_next of all rows, from the simulator, whose blocks all ranks share, or from what it has answered before.
  void answer(const simulate::RecordShape& shape, const std::vector<Question>& questions);
  void simulate_on_ranks(const simulate::RecordShape& shape, const std::vector<const Question*>& open);

  const simulate::Model& simulator_;
  std::vector<RecordPart> parts_;
  Streams streams_;
  double max_invalid_;
  Answers answers_;
  Parallel parallel_;
  std::size_t records_ = 0;
  double steps_per_pair_ = 0;
  std::uint64_t spent_ = 0, invalid_ = 0, asked_ = 0;
  std::size_t rounds_ = 0;
};

}  // namespace catena::sample
