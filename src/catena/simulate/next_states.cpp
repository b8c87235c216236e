#include "catena/simulate/next_states.h"

#include <algorithm>

namespace catena::simulate {

namespace {

void copy_lanes(ConstStateBlock from, StateBlock to) {
  for (std::size_t i = 0; i < to.features; ++i) std::copy_n(from.feature(i), to.lanes, to.feature(i));
}

/// The states stand in the record as they follow each other; a window has the latest first.
void make_initial(const Model& model, const RecordShape& shape, Stream& stream, std::size_t count,
                  TransitionLanes& lanes) {
  const StateBlock window = first_lanes(lanes.window.view(), count);
  model.draw_initial(first_lanes(lanes.theta.view(), count), stream, window);
  for (std::size_t j = 0; j < shape.block; ++j) {
    const std::size_t n = shape.states, from = (shape.block - 1 - j) * n;
    copy_lanes(window.slice_features(from, from + n),
               first_lanes(lanes.x_next.view().slice_features(j * n, (j + 1) * n), count));
  }
}

void make_plain(const Model& model, const RecordShape& shape, Stream& stream, std::size_t count,
                TransitionLanes& lanes) {
  model.simulator.step({first_lanes(lanes.theta.view(), count), first_lanes(lanes.x.view(), count),
                        shape.time ? lanes.time.data() : nullptr,
                        model.simulator.uses_step ? lanes.step.data() : nullptr, first_lanes(lanes.u.view(), count)},
                       stream, first_lanes(lanes.x_next.view(), count));
}

/// M steps in a row, each of which is part of the record and has covariates of its own.
void make_sequence(const Model& model, const RecordShape& shape, Stream& stream, std::size_t count,
                   TransitionLanes& lanes) {
  const StateBlock window = first_lanes(lanes.window.view(), count), next = first_lanes(lanes.next.view(), count);
  copy_lanes(first_lanes(lanes.x.view(), count), window);
  std::copy_n(lanes.time.begin(), count, lanes.now.begin());
  for (std::size_t j = 0; j < shape.block; ++j) {
    const StateBlock u = lanes.u.view().slice_features(j * shape.covariates, (j + 1) * shape.covariates);
    model.simulator.step({first_lanes(lanes.theta.view(), count), window, shape.time ? lanes.now.data() : nullptr,
                          model.simulator.uses_step ? lanes.step.data() : nullptr, first_lanes(u, count)},
                         stream, next);
    const std::size_t n = shape.states;
    copy_lanes(next, first_lanes(lanes.x_next.view().slice_features(j * n, (j + 1) * n), count));
    advance_window(window, next);
    for (std::size_t l = 0; l < count; ++l) lanes.now[l] += 1;
  }
}

/// Δ steps in a row, of which the last counts. Lanes are in the order of falling Δ, so that those which still move are
/// the first ones, and nothing is simulated that no record needs. Covariates stay what they were when the step began.
void make_long_steps(const Model& model, const RecordShape& shape, Stream& stream, std::size_t count,
                     TransitionLanes& lanes) {
  const StateBlock window = first_lanes(lanes.window.view(), count);
  copy_lanes(first_lanes(lanes.x.view(), count), window);
  std::copy_n(lanes.time.begin(), count, lanes.now.begin());
  std::size_t moving = count;
  for (double made = 0;; ++made) {
    while (moving > 0 && lanes.step[moving - 1] <= made) --moving;
    if (moving == 0) break;
    // Into a block of its own: vectors run past the last lane, and lanes that have arrived must stay as they are.
    const StateBlock next = first_lanes(lanes.next.view(), moving);
    model.simulator.step({first_lanes(lanes.theta.view(), moving), first_lanes(window, moving),
                          shape.time ? lanes.now.data() : nullptr, nullptr, first_lanes(lanes.u.view(), moving)},
                         stream, next);
    advance_window(first_lanes(window, moving), next);
    for (std::size_t l = 0; l < moving; ++l) lanes.now[l] += 1;
  }
  copy_lanes(window, first_lanes(lanes.x_next.view(), count));
}

}  // namespace

TransitionLanes::TransitionLanes(const Model& model, std::size_t lanes, const RecordShape& shape)
    : z(model.simulator.parameters(), lanes),
      theta(model.simulator.parameters(), lanes),
      x(shape.condition(), lanes),
      x_next(shape.target(), lanes),
      u(shape.inputs(), lanes),
      window(shape.plain() ? 0 : model.simulator.window(), lanes),
      next(shape.plain() ? 0 : shape.states, lanes),
      restart(shape.condition(), 1),
      time(padded_lanes(lanes), 0.0),
      step(padded_lanes(lanes), 1.0),
      now(padded_lanes(lanes), 0.0),
      row(shape.step ? lanes : 0),
      table_row(shape.covariates > 0 ? lanes : 0) {}

TransitionLanes::TransitionLanes(const Model& model, std::size_t lanes)
    : TransitionLanes(model, lanes,
                      {.states = model.simulator.states(),
                       .order = model.simulator.order,
                       .time = model.simulator.uses_time,
                       .covariates = model.simulator.covariates()}) {}

void make_next_states(const Model& model, const RecordShape& shape, Stream& stream, std::size_t count,
                      TransitionLanes& lanes) {
  if (shape.initial()) {
    make_initial(model, shape, stream, count, lanes);
  } else if (shape.step && !model.simulator.uses_step) {
    make_long_steps(model, shape, stream, count, lanes);
  } else if (shape.block > 1) {
    make_sequence(model, shape, stream, count, lanes);
  } else {
    make_plain(model, shape, stream, count, lanes);
  }
}

}  // namespace catena::simulate
