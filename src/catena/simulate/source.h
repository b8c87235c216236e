/// Where training records come from: blocks of a fixed size, each a function of (seed, block number) alone, so that
/// the data do not depend on threads, on chunks or on where work was resumed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/random.h"
#include "catena/simulate/covariates.h"
#include "catena/simulate/model.h"
#include "catena/simulate/next_states.h"
#include "catena/simulate/proposal.h"
#include "catena/simulate/records/record.h"
#include "catena/simulate/transitions/columns.h"

namespace catena::simulate {

/// Which steps Δ records take, row by row. Whole steps are made by that many inner ones, and rows take the numbers of
/// the range in turn, so that what they cost is known beforehand: row r takes low + r mod (high − low + 1).
class RecordSteps {
 public:
  RecordSteps() = default;  ///< every step is 1
  RecordSteps(const RecordPlan& plan, const Model& model);

  bool varying() const { return varying_; }
  bool whole() const { return varying_ && !own_step_; }
  std::size_t of_row(std::uint64_t row) const { return low_ + static_cast<std::size_t>(row % count_); }
  double draw(Stream& stream) const;  ///< of a simulator with steps of its own
  /// How many records `budget` inner steps are enough for, each of `block` of them if steps do not vary.
  std::uint64_t rows_for(std::uint64_t budget, std::size_t block) const;
  std::uint64_t cost_of(std::uint64_t rows, std::size_t block) const;

 private:
  bool varying_ = false, own_step_ = false;
  std::size_t low_ = 1, count_ = 1;
  StepRange range_;
};

// Enough lanes to keep vectors and random numbers in whole chunks, few enough for the second cache.
inline constexpr std::size_t usual_lanes = 1024;

/// Of these lanes, so many that a block of `values` numbers in each stays small where states are large: 8 MB, what a
/// few threads can hold of the third cache. States of up to a thousand numbers are not large.
std::size_t lanes_for(std::size_t lanes, std::size_t state_values, std::size_t values);

class TransitionSource {
 public:
  /// `model` must outlive the source. `lanes` simulations move together, or fewer where the proposal has rounds. The
  /// proposal may be null if only initial states are asked for. Without tables of covariates the model's own are used.
  TransitionSource(const Model& model, ProposalPtr proposal, Streams streams, std::size_t lanes = usual_lanes,
                   const RecordPlan& plan = {}, std::span<const Matrix> covariates = {});

  const Model& model() const { return model_; }
  /// Transitions that the proposal has cost.
  std::uint64_t proposal_cost() const { return proposal_ ? proposal_->cost() : 0; }
  nlohmann::json proposal_json() const { return proposal_ ? proposal_->to_json() : nlohmann::json(); }
  const CovariatePool& covariates() const { return covariates_; }
  const RecordShape& shape() const { return shape_; }
  const RecordSteps& steps() const { return steps_; }
  /// Rows of every block but the last.
  std::size_t block_rows() const { return lanes_ * rounds(); }
  std::size_t lanes() const { return lanes_; }
  /// Whether states of a round are drawn; else each is the x^(t+1) of the same lane in the round before.
  bool begins(std::size_t block, std::size_t round) const { return !proposal_ || proposal_->begins(block, round); }
  /// Whether files keep every state once (transitions/frames.h): states that follow each other, in floats.
  bool keeps_frames() const { return rounds() > 1 && shape_.plain() && model_.single_precision; }

  /// The records of one block, in lanes and round by round: after each round, visit(lanes, count) sees `count` of
  /// them. `rows` is block_rows(), or less in the last block.
  template <class Visit>
  void make_block(std::size_t block, std::size_t rows, TransitionLanes& lanes, Visit&& visit) const;

  /// The same as rows; returns how many have a non-finite x^(t+1) (they stay where they are).
  std::size_t make_block(std::size_t block, TransitionLanes& lanes, const TransitionRows& rows) const;

 private:
  std::size_t rounds() const { return proposal_ ? proposal_->rounds() : 1; }
  /// x^(t+1), … of `count` lanes whose θ, x^t and t are there; `first_row` is the number of the first one's row.
  void make_records(Stream& stream, std::uint64_t first_row, std::size_t count, TransitionLanes& lanes) const;
  /// Where a rollout goes on: x ← x', or a new initial state for a lane that left the finite numbers.
  void carry_on(Stream& stream, TransitionLanes& lanes) const;
  /// u of `count` lanes: of rows at random in the first round, of those that follow in time in later ones.
  void draw_covariates(Stream& stream, bool first, std::size_t count, TransitionLanes& lanes) const;

  const Model& model_;
  ProposalPtr proposal_;
  Streams streams_;
  RecordShape shape_;
  RecordSteps steps_;
  std::size_t lanes_;
  CovariatePool covariates_;
};

template <class Visit>
void TransitionSource::make_block(std::size_t block, std::size_t rows, TransitionLanes& lanes, Visit&& visit) const {
  Stream stream = streams_.stream("simulate", block);
  double* time = shape_.time ? lanes.time.data() : nullptr;
  for (std::size_t done = 0, round = 0; done < rows; ++round) {
    const std::size_t count = std::min(lanes_, rows - done);
    if (!shape_.initial()) {
      const bool begins = proposal_->begins(block, round);
      if (begins) {
        proposal_->draw(stream, first_lanes(lanes.x.view(), count), time);
      } else {
        carry_on(stream, lanes);
      }
      if (!covariates_.empty()) draw_covariates(stream, begins, count, lanes);
    }
    model_.prior.sample(stream, first_lanes(lanes.z.view(), count), first_lanes(lanes.theta.view(), count));
    make_records(stream, block * block_rows() + done, count, lanes);
    visit(lanes, count);
    done += count;
  }
}

}  // namespace catena::simulate
