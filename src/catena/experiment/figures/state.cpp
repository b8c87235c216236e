#include "catena/experiment/figures/state.h"

#include <fmt/format.h>

#include "catena/experiment/row_plan.h"
#include "catena/files/json.h"

namespace catena::experiment {

std::vector<FigureSweep> sweeps_of(const PaperFigure& figure, const std::filesystem::path& directory) {
  std::vector<FigureSweep> sweeps;
  for (const std::string_view name : figure.sweeps) {
    const std::filesystem::path file = directory / name;
    sweeps.push_back({std::string(name), Sweep::from_json(file.string(), files::read_json(file))});
  }
  return sweeps;
}

FigureState state_of(const std::vector<FigureSweep>& sweeps, const std::vector<Row>& rows,
                     const std::filesystem::path& results, const Parallel& parallel) {
  const RowSeconds seconds(rows);
  FigureState state;
  for (const auto& [file, sweep] : sweeps) {
    const std::vector<RowPlan> missing = missing_rows(sweep, rows);
    const std::size_t all = row_plans(sweep, {}).size();
    state.all += all;
    state.there += all - missing.size();
    state.missing += estimate(sweep, missing, seconds, results, parallel);
  }
  return state;
}

std::string in_words(const FigureState& state) {
  return fmt::format("{} of {} rows{}", state.there, state.all,
                     state.missing.rows == 0 ? "" : "; " + in_words(state.missing));
}

}  // namespace catena::experiment
