/// Where training transitions come from: blocks of a fixed size, each a function of (seed, block number) alone, so that
/// the data do not depend on threads, on chunks or on where work was resumed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "catena/core/array.h"
#include "catena/core/random.h"
#include "catena/simulate/model.h"
#include "catena/simulate/proposal.h"

namespace catena::simulate {

/// Transitions as rows: one (z, θ, x^t, x^(t+1), t) per row. `time` has no column unless the simulator uses it.
struct TransitionRows {
  MatrixView z, theta, x, x_next, time;

  TransitionRows slice(std::size_t begin, std::size_t end) const {
    return {z.slice_rows(begin, end), theta.slice_rows(begin, end), x.slice_rows(begin, end),
            x_next.slice_rows(begin, end), time.slice_rows(begin, end)};
  }
};

/// Lanes that one thread works on, made once and used for block after block.
struct TransitionLanes {
  TransitionLanes(const Model& model, std::size_t lanes)
      : z(model.simulator.parameters(), lanes),
        theta(model.simulator.parameters(), lanes),
        x(model.simulator.states(), lanes),
        x_next(model.simulator.states(), lanes),
        restart(model.simulator.states(), 1),
        time(padded_lanes(lanes), 0.0) {}
  StateLanes z, theta, x, x_next, restart;
  AlignedVector<double> time;
};

// Enough lanes to keep vectors and random numbers in whole chunks, few enough for the second cache.
inline constexpr std::size_t usual_lanes = 1024;

class TransitionSource {
 public:
  /// `model` must outlive the source. `lanes` simulations move together, or fewer where the proposal has rounds.
  TransitionSource(const Model& model, ProposalPtr proposal, Streams streams, std::size_t lanes = usual_lanes);

  const Model& model() const { return model_; }
  const Proposal& proposal() const { return *proposal_; }
  /// Rows of every block but the last.
  std::size_t block_rows() const { return lanes_ * proposal_->rounds(); }
  std::size_t lanes() const { return lanes_; }

  /// The transitions of one block, in lanes and round by round: after each round, visit(lanes, count) sees `count` of
  /// them. `rows` is block_rows(), or less in the last block.
  template <class Visit>
  void make_block(std::size_t block, std::size_t rows, TransitionLanes& lanes, Visit&& visit) const;

  /// The same as rows; returns how many have a non-finite x^(t+1) (they stay where they are).
  std::size_t make_block(std::size_t block, TransitionLanes& lanes, const TransitionRows& rows) const;

 private:
  /// Where a rollout goes on: x ← x', or a new initial state for a lane that left the finite numbers.
  void carry_on(Stream& stream, TransitionLanes& lanes) const;

  const Model& model_;
  ProposalPtr proposal_;
  Streams streams_;
  std::size_t lanes_;
};

template <class Visit>
void TransitionSource::make_block(std::size_t block, std::size_t rows, TransitionLanes& lanes, Visit&& visit) const {
  Stream stream = streams_.stream("simulate", block);
  double* time = model_.simulator.uses_time ? lanes.time.data() : nullptr;
  for (std::size_t done = 0; done < rows;) {
    const std::size_t count = std::min(lanes_, rows - done);
    if (done == 0) {
      proposal_->draw(stream, first_lanes(lanes.x.view(), count), time);
    } else {
      carry_on(stream, lanes);
    }
    const StateBlock theta = first_lanes(lanes.theta.view(), count), x_next = first_lanes(lanes.x_next.view(), count);
    model_.prior.sample(stream, first_lanes(lanes.z.view(), count), theta);
    model_.simulator.step({theta, first_lanes(lanes.x.view(), count), time}, stream, x_next);
    visit(lanes, count);
    done += count;
  }
}

}  // namespace catena::simulate
