/// Residuals of a series by the simulator itself, where it is at hand: no network has a say in them, so that they see
/// data of another noise, and posteriors that are off, whatever was learned. For the tests of residual_tests.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "catena/sample/correct/simulated.h"
#include "catena/sample/judgement/residuals.h"
#include "catena/simulate/model.h"

namespace catena::sample {

/// A simulator to judge with, and how many steps of it that may cost.
struct JudgeSimulator {
  const simulate::Model* model = nullptr;  // null: there is none
  std::uint64_t most_steps = 0;            // 0: as many as the best of plans costs
};

/// So many records, draws of the posterior, and simulations of each record at each draw, an even number. Ranks are
/// uniform for any number of simulations; few only see less.
struct RankPlan {
  std::size_t records = 0, draws = 0, simulations = 0;
};
/// The plan for a series of so many records of `steps_per_record` steps; few steps go to ten simulations at one draw of
/// as many records as there are steps for, many to 38 at three.
RankPlan rank_plan(std::uint64_t most_steps, std::size_t records, double steps_per_record);

/// These records of a series as a series of its own.
compose::ObservedSeries some_records(const compose::ObservedSeries& observed, const Looked& looked);

/// u_ti: where coordinate i of record t lies among simulations that start where it does, with the networks' z:
/// (number below + a uniform number for its own place)/(simulations + 1); uniform and independent if the simulator made
/// the series with this z. Simulations that are not finite do not count. `source` simulates from the records of
/// `observed` alone. Columns as rank_names.
Matrix ranks_by_simulator(RecordSource& source, const model::TrainedModel& model,
                          const compose::ObservedSeries& observed, std::span<const double> z, std::size_t simulations,
                          const Streams& streams, Progress& progress);

}  // namespace catena::sample
