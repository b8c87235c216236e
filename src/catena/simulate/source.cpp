#include "catena/simulate/source.h"

#include <algorithm>
#include <cmath>

#include "catena/core/check.h"

namespace catena::simulate {

namespace {

constexpr std::size_t least_lanes = 16;  // a whole vector of padding (core/array.h)

/// rows(r, i) = lanes(i, r): the transpose of `count` lanes.
void copy_rows(ConstStateBlock lanes, std::size_t count, MatrixView rows) {
  for (std::size_t l = 0; l < count; ++l) {
    for (std::size_t i = 0; i < rows.cols; ++i) rows(l, i) = lanes(i, l);
  }
}

bool lane_is_finite(ConstStateBlock block, std::size_t l) {
  for (std::size_t i = 0; i < block.features; ++i) {
    if (!std::isfinite(block(i, l))) return false;
  }
  return true;
}

}  // namespace

TransitionSource::TransitionSource(const Model& model, ProposalPtr proposal, Streams streams, std::size_t lanes)
    : model_(model),
      proposal_(std::move(proposal)),
      streams_(streams),
      lanes_(std::max(least_lanes, lanes / proposal_->rounds() / least_lanes * least_lanes)) {
  CATENA_ASSERT(model.prior.size() == model.simulator.parameters());
}

void TransitionSource::carry_on(Stream& stream, TransitionLanes& lanes) const {
  for (std::size_t l = 0; l < lanes_; ++l) {
    if (lane_is_finite(lanes.x_next, l)) {
      for (std::size_t i = 0; i < lanes.x.coordinates(); ++i) lanes.x(i, l) = lanes.x_next(i, l);
      lanes.time[l] += 1;
    } else {
      double time[16] = {};
      proposal_->draw(stream, lanes.restart, time);
      for (std::size_t i = 0; i < lanes.x.coordinates(); ++i) lanes.x(i, l) = lanes.restart(i, 0);
      lanes.time[l] = time[0];
    }
  }
}

std::size_t TransitionSource::make_block(std::size_t block, TransitionLanes& lanes, const TransitionRows& rows) const {
  std::size_t done = 0, invalid = 0;
  make_block(block, rows.x.rows, lanes, [&](const TransitionLanes& made, std::size_t count) {
    const TransitionRows part = rows.slice(done, done + count);
    copy_rows(made.z, count, part.z);
    copy_rows(made.theta, count, part.theta);
    copy_rows(made.x, count, part.x);
    copy_rows(made.x_next, count, part.x_next);
    for (std::size_t l = 0; l < count; ++l) {
      if (part.time.cols > 0) part.time(l, 0) = made.time[l];
      invalid += lane_is_finite(made.x_next, l) ? 0U : 1U;
    }
    done += count;
  });
  return invalid;
}

}  // namespace catena::simulate
