#include "catena/simulate/transitions/transitions.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "catena/core/check.h"
#include "catena/core/version.h"
#include "catena/simulate/simulation.h"

namespace catena::simulate {

namespace {

/// The tables that the plan names, those of its target, or the model's own.
std::vector<Matrix> planned_covariates(const Model& model, const SimulationPlan& plan) {
  std::vector<ConstMatrixView> tables = plan.covariates;
  for (const SeriesView& series : plan.target) {
    if (plan.covariates.empty() && series.covariates.cols > 0) tables.push_back(series.covariates);
  }
  std::vector<Matrix> given;
  if (!tables.empty()) given = covariate_tables("simulate", model.simulator.covariate_names, tables);
  if (plan.records.initial) return {};  // which see none
  const std::span<const Matrix> chosen = tables_for("simulate", model, given);
  return {chosen.begin(), chosen.end()};
}

}  // namespace

Simulation::Simulation(const Model& model, const SimulationPlan& plan)
    : Simulation(model, plan, planned_covariates(model, plan)) {}

Simulation::Simulation(const Model& model, const SimulationPlan& plan, const std::vector<Matrix>& covariates)
    : max_invalid(plan.max_invalid),
      chunk_rows(plan.chunk_rows),
      source(model, proposal_of(model, plan, covariates), Streams(plan.seed), plan.lanes, plan.records, covariates) {
  constexpr std::string_view function = "simulate";
  check::between(function, "max_invalid", plan.max_invalid, 0.0, 1.0);
  check::at_least(function, "budget", plan.budget, std::uint64_t{1});
  const std::uint64_t cost = source.proposal_cost();
  check::that(plan.budget > cost, function, "budget", plan.budget,
              fmt::format("more than {}, what the proposal costs", cost));
  rows = source.steps().rows_for(plan.budget - cost, source.shape().block);
  check::that(rows > 0, function, "budget", plan.budget, "enough for one record");
  const std::size_t block_rows = source.block_rows();
  const auto [first, last] = plan.shard.range((rows + block_rows - 1) / block_rows);
  shard = plan.shard;
  begin = first * block_rows;
  end = std::min(rows, last * block_rows);
  provenance = {{"catena_version", version()}, {"model", model.simulator.name},
                {"options", plan.options},     {"proposal", source.proposal_json()},
                {"proposal_cost", cost},       {"seed", plan.seed},
                {"budget", plan.budget}};
  if (!model.state_shape.empty()) provenance["state_shape"] = model.state_shape;
  if (plan.lanes != usual_lanes) provenance["lanes"] = plan.lanes;
  if (source.keeps_frames()) frames.emplace(source, rows);
  if (!source.covariates().empty()) provenance["covariates"] = source.covariates().to_json();
  if (source.shape().plain()) return;
  provenance["records"] = source.shape().to_json();
  provenance["inner_steps"] = source.steps().cost_of(rows, source.shape().block);
  if (!plan.records.varying_steps) return;
  provenance["steps"] = {plan.records.steps.low, plan.records.steps.high};
  provenance["own_steps"] = model.simulator.uses_step;
}

ProposalPtr Simulation::proposal_of(const Model& model, const SimulationPlan& plan,
                                    std::span<const Matrix> covariates) {
  if (plan.records.initial) {
    check::that(plan.proposal.is_null() && !plan.own_proposal, "simulate", "the proposal of initial states",
                plan.proposal.dump(), "left out: nothing comes before them");
    return nullptr;
  }
  if (plan.own_proposal) return plan.own_proposal;
  const nlohmann::json description = plan.proposal.is_null() ? default_proposal(model, plan.budget) : plan.proposal;
  return make_proposal("simulate", description, {model, Streams(plan.seed), plan.target, covariates});
}

void Simulation::check_invalid(std::uint64_t invalid) const {
  const double share = static_cast<double>(invalid) / static_cast<double>(rows);
  if (share <= max_invalid) return;
  if (const BlockFailures failed = failures(); failed.count > 0) {
    throw InputError(
        fmt::format("{} (so it was for {} blocks of {} transitions; more than a share of {} is lost, "
                    "max_invalid)",
                    failed.sentence, failed.count, source.block_rows(), max_invalid));
  }
  throw InputError(
      fmt::format("simulate: the share of transitions whose result is not finite is {:.3g} or more, but must be at "
                  "most {} (max_invalid): "
                  "narrow the prior or the proposal, or mend the simulator",
                  share, max_invalid));
}

void Simulation::make_blocks(std::size_t first_block, const TransitionRows& to, std::vector<std::size_t>& invalid,
                             std::size_t index, LanesPerThread& lanes) const {
  const std::size_t first = index * source.block_rows(), last = std::min(to.x_next.rows, first + source.block_rows());
  auto& mine = lanes[static_cast<std::size_t>(Parallel::worker())];
  if (!mine) mine = std::make_unique<TransitionLanes>(source.model(), source.lanes(), source.shape());
  const TransitionRows rows_of_block = slice(to, first, last);
  try {
    invalid[index] = source.make_block(first_block + index, *mine, rows_of_block);
  } catch (const InputError& error) {  // how simulators of plug-ins fail
    for (const MatrixView* part : rows_of_block.arrays()) {
      for (std::size_t r = 0; r < part->rows; ++r) std::ranges::fill(part->row(r), std::nan(""));
    }
    invalid[index] = last - first;
    add_failures({1, first_block + index, error.what()});
  }
}

BlockFailures Simulation::failures() const {
  const std::lock_guard lock(failures_mutex_);
  return failures_;
}

void Simulation::add_failures(const BlockFailures& others) const {
  const std::lock_guard lock(failures_mutex_);
  failures_.add(others);
}

bool row_is_finite(ConstMatrixView rows, std::size_t r) {
  return std::ranges::all_of(rows.row(r), [](double value) { return std::isfinite(value); });
}

std::size_t drop_invalid_rows(const TransitionRows& rows) {
  std::size_t kept = 0;
  for (std::size_t r = 0; r < rows.x_next.rows; ++r) {
    if (!row_is_finite(rows.x_next, r)) continue;
    if (kept != r) {
      for (const MatrixView* part : rows.arrays()) std::ranges::copy(part->row(r), part->row(kept).begin());
    }
    ++kept;
  }
  return kept;
}

RecordShape TransitionSet::shape() const {
  const std::size_t n = state_names.size();
  return {.states = n,
          .order = x.cols() / n,
          .block = x_next.cols() / n,
          .time = time.cols() > 0,
          .step = step.cols() > 0,
          .covariates = covariate_names.size()};
}

namespace {

/// The first rows of a matrix; the matrix itself if these are all.
Matrix first_rows(Matrix matrix, std::size_t rows) {
  if (matrix.rows() == rows) return matrix;
  Matrix result(rows, matrix.cols());
  std::copy_n(matrix.data(), rows * matrix.cols(), result.data());
  return result;
}

}  // namespace

TransitionSet simulate(const Model& model, const SimulationPlan& plan, const Parallel& parallel, Progress& progress) {
  const Simulation simulation(model, plan);
  Columns<Matrix> buffer = simulation.buffer(simulation.rows);
  const TransitionRows rows = view(buffer);
  const std::size_t block_rows = simulation.source.block_rows();
  std::vector<std::size_t> invalid((simulation.rows + block_rows - 1) / block_rows);
  LanesPerThread lanes(static_cast<std::size_t>(parallel.threads()));
  progress.start("simulate", "transitions", simulation.rows);
  parallel.for_each(invalid.size(), [&](std::size_t block) {
    simulation.make_blocks(0, rows, invalid, block, lanes);
    progress.advance(std::min(block_rows, simulation.rows - block * block_rows));
  });
  progress.finish();
  std::size_t dropped = 0;
  for (const std::size_t count : invalid) dropped += count;
  simulation.check_invalid(dropped);
  const std::size_t kept = dropped == 0 ? simulation.rows : drop_invalid_rows(rows);

  TransitionSet set;
  for_columns([&](const Column&, Matrix& to, Matrix& from) { to = first_rows(std::move(from), kept); }, set, buffer);
  set.prior = model.prior;
  set.state_names = model.simulator.state_names;
  if (simulation.source.shape().covariates > 0) set.covariate_names = model.simulator.covariate_names;
  set.provenance = simulation.provenance;
  set.provenance["invalid"] = dropped;
  if (const BlockFailures failed = simulation.failures(); failed.count > 0) {
    set.provenance["failed_blocks"] = failed.count;
    set.provenance["first_failure"] = failed.sentence;
  }
  return set;
}

}  // namespace catena::simulate
