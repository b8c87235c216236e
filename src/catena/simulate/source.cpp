#include "catena/simulate/source.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "catena/core/check.h"

namespace catena::simulate {

namespace {

constexpr std::size_t least_lanes = 16;  // a whole vector of padding (core/array.h)

bool lane_is_finite(ConstStateBlock block, std::size_t l) {
  for (std::size_t i = 0; i < block.features; ++i) {
    if (!std::isfinite(block(i, l))) return false;
  }
  return true;
}

RecordShape shape_of(const Model& model, const RecordPlan& plan) {
  const Simulator& simulator = model.simulator;
  RecordShape shape{.states = simulator.states(), .order = simulator.order, .block = plan.block};
  if (plan.initial) {
    check::that(static_cast<bool>(model.initial_given_theta), "simulate", "the initial state of this simulator",
                "independent of theta", "declared as a function of theta to be learned");
    check::that(plan.block == 1 && !plan.varying_steps, "simulate", "the plan of initial states",
                "one with blocks or steps", "without them: they are for transitions");
    shape.block = simulator.order;
    shape.order = 0;
    return shape;
  }
  check::at_least("simulate", "block", plan.block, std::size_t{1});
  if (plan.varying_steps) {
    check::that(plan.block == 1, "simulate", "block", plan.block, "1 where steps vary");
    check::that(simulator.order == 1, "simulate", "the order of the chain", simulator.order,
                "1 where steps vary: over a gap, earlier states are not enough");
    check::that(simulator.covariates() == 0 || simulator.uses_step, "simulate", "the range of steps",
                fmt::format("{}..{}", plan.steps.low, plan.steps.high),
                "left out where the step takes covariates, for each inner step has its own: let the step take dt, or "
                "infer with cut_gaps");
  }
  shape.time = simulator.uses_time;
  shape.step = plan.varying_steps;
  shape.covariates = simulator.covariates();
  return shape;
}

}  // namespace

std::size_t lanes_for(std::size_t lanes, std::size_t state_values, std::size_t values) {
  constexpr std::size_t block_values = std::size_t{1} << 20, large = 1000;
  if (state_values <= large) return lanes;
  return std::clamp<std::size_t>(block_values / values, 1, lanes);
}

RecordSteps::RecordSteps(const RecordPlan& plan, const Model& model)
    : varying_(plan.varying_steps), own_step_(model.simulator.uses_step), range_(plan.steps) {
  if (!varying_ || own_step_) return;
  const auto whole = [](double value) { return value == std::floor(value) && value >= 1 && value <= 1e6; };
  check::that(whole(range_.low) && whole(range_.high), "simulate", "the range of steps",
              fmt::format("{}..{}", range_.low, range_.high),
              "whole numbers: this simulator does not declare a step of its own");
  low_ = static_cast<std::size_t>(range_.low);
  count_ = static_cast<std::size_t>(range_.high) - low_ + 1;
}

double RecordSteps::draw(Stream& stream) const { return range_.low + (range_.high - range_.low) * stream.uniform(); }

std::uint64_t RecordSteps::cost_of(std::uint64_t rows, std::size_t block) const {
  if (!whole()) return rows * block;
  const auto sum = [&](std::uint64_t terms) { return terms * low_ + terms * (terms - (terms > 0 ? 1 : 0)) / 2; };
  return rows / count_ * sum(count_) + sum(rows % count_);
}

std::uint64_t RecordSteps::rows_for(std::uint64_t budget, std::size_t block) const {
  if (!whole()) return budget / block;
  const std::uint64_t cycle = cost_of(count_, block);
  std::uint64_t rows = budget / cycle * count_;
  while (cost_of(rows + 1, block) <= budget) ++rows;
  return rows;
}

TransitionSource::TransitionSource(const Model& model, ProposalPtr proposal, Streams streams, std::size_t lanes,
                                   const RecordPlan& plan, std::span<const Matrix> covariates)
    : model_(model),
      proposal_(std::move(proposal)),
      streams_(streams),
      shape_(shape_of(model, plan)),
      steps_(plan, model),
      lanes_(lanes_for(std::max(least_lanes, lanes / rounds() / least_lanes * least_lanes), shape_.states,
                       (shape_.condition() + shape_.target()) * rounds())) {
  CATENA_ASSERT(model.prior.size() == model.simulator.parameters());
  CATENA_ASSERT(proposal_ || shape_.initial());
  if (shape_.covariates > 0) covariates_ = CovariatePool(tables_for("simulate", model, covariates));
}

void TransitionSource::draw_covariates(Stream& stream, bool first, std::size_t count, TransitionLanes& lanes) const {
  const std::span<std::size_t> at = std::span(lanes.table_row).first(count);
  if (first) {
    covariates_.begin(stream, at);
  } else {
    covariates_.go_on(at, shape_.block);
  }
  covariates_.fill(stream, at, first_lanes(lanes.u.view(), count));
}

void TransitionSource::make_records(Stream& stream, std::uint64_t first_row, std::size_t count,
                                    TransitionLanes& lanes) const {
  if (steps_.whole()) {
    const auto rows = std::span(lanes.row).first(count);
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    std::ranges::stable_sort(rows, std::ranges::greater(), [&](std::size_t r) { return steps_.of_row(first_row + r); });
    for (std::size_t l = 0; l < count; ++l) lanes.step[l] = static_cast<double>(steps_.of_row(first_row + rows[l]));
  } else if (steps_.varying()) {
    for (std::size_t l = 0; l < count; ++l) {
      lanes.step[l] = steps_.draw(stream);
      lanes.row[l] = l;
    }
  }
  make_next_states(model_, shape_, stream, count, lanes);
}

void TransitionSource::carry_on(Stream& stream, TransitionLanes& lanes) const {
  const std::size_t n = shape_.states;
  for (std::size_t l = 0; l < lanes_; ++l) {
    if (lane_is_finite(lanes.x_next, l)) {
      // The last states of the record before, latest first: of x^(t+M), …, x^(t+1), x^t, … the first m.
      for (std::size_t i = shape_.condition(); i-- > 0;) {
        const std::size_t back = i / n;
        lanes.x(i, l) = back < shape_.block ? lanes.x_next((shape_.block - 1 - back) * n + i % n, l)
                                            : lanes.x(i - shape_.block * n, l);
      }
      lanes.time[l] += steps_.varying() ? lanes.step[l] : static_cast<double>(shape_.block);
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
  make_block(block, rows.x_next.rows, lanes, [&](const TransitionLanes& made, std::size_t count) {
    const TransitionRows part = slice(rows, done, done + count);
    const auto row_of = [&](std::size_t l) { return made.row.empty() ? l : made.row[l]; };
    const auto copy_rows = [&](ConstStateBlock from, MatrixView to) {
      for (std::size_t l = 0; l < count; ++l) {
        for (std::size_t i = 0; i < to.cols; ++i) to(row_of(l), i) = from(i, l);
      }
    };
    copy_rows(made.z, part.z);
    copy_rows(made.theta, part.theta);
    copy_rows(made.x, part.x);
    copy_rows(made.x_next, part.x_next);
    copy_rows(made.u, part.u);
    for (std::size_t l = 0; l < count; ++l) {
      if (part.time.cols > 0) part.time(row_of(l), 0) = made.time[l];
      if (part.step.cols > 0) part.step(row_of(l), 0) = made.step[l];
      invalid += lane_is_finite(made.x_next, l) ? 0U : 1U;
    }
    done += count;
  });
  return invalid;
}

}  // namespace catena::simulate
