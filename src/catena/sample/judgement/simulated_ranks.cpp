#include "catena/sample/judgement/simulated_ranks.h"

#include <algorithm>

#include "catena/sample/finite_rows.h"

namespace catena::sample {
namespace {

constexpr std::size_t most_simulated_records = 600, most_draws = 3, most_simulations = 38, fewest_simulations = 10;

}  // namespace

RankPlan rank_plan(std::uint64_t most_steps, std::size_t records, double steps_per_record) {
  RankPlan plan{std::min(records, most_simulated_records), most_draws, most_simulations};
  if (most_steps == 0) return plan;
  const auto affordable = static_cast<std::size_t>(static_cast<double>(most_steps) / steps_per_record);
  if (affordable < most_draws * plan.records * fewest_simulations) plan.draws = 1;
  plan.records = std::min(plan.records, affordable / (plan.draws * fewest_simulations));
  if (plan.records == 0) return {};
  plan.simulations = std::min(most_simulations, affordable / (plan.draws * plan.records) / 2 * 2);
  return plan;
}

compose::ObservedSeries some_records(const compose::ObservedSeries& observed, const Looked& looked) {
  compose::ObservedSeries some;
  const auto take = [&](const Matrix& from) {
    return from.rows() == observed.transitions() ? rows_of(from, looked.records) : Matrix();
  };
  some.c = take(observed.c);
  some.x = take(observed.x);
  some.time = take(observed.time);
  some.step = take(observed.step);
  some.u = take(observed.u);
  some.follows = looked.follows;
  return some;
}

Matrix ranks_by_simulator(RecordSource& source, const model::TrainedModel& model,
                          const compose::ObservedSeries& observed, std::span<const double> z, std::size_t simulations,
                          const Streams& streams, Progress& progress) {
  const std::size_t records = observed.transitions(), first = model.features.condition();
  const std::vector<std::size_t> chosen = rank_coordinates(model.features.target());
  const auto made = source.simulate({z.data(), 1, z.size()}, records * simulations / 2, progress);
  Matrix below(records, chosen.size()), equal(records, chosen.size());
  std::vector<double> finite(records, 0.0);
  for (const PairRecords& part : made) {
    for (std::size_t r = 0; r < part.record.size(); ++r) {
      const std::size_t t = part.record[r];
      finite[t] += 2;
      for (const Matrix* twin : {&part.first, &part.second}) {
        for (std::size_t j = 0; j < chosen.size(); ++j) {
          const double value = (*twin)(r, first + chosen[j]), mine = observed.c(t, first + chosen[j]);
          below(t, j) += value < mine ? 1 : 0;
          equal(t, j) += value == mine ? 1 : 0;
        }
      }
    }
  }
  Matrix u(records, chosen.size());
  Stream noise = streams.stream("places");
  for (std::size_t t = 0; t < records; ++t) {
    for (std::size_t j = 0; j < chosen.size(); ++j) {
      u(t, j) = (below(t, j) + noise.uniform() * (equal(t, j) + 1)) / (finite[t] + 1);
    }
  }
  return u;
}

}  // namespace catena::sample
