#include "catena/compose/density/density_rows.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace catena::compose {

DensityRows density_rows(const model::DensityMap& map, const model::DensityShape& shape, const ObservedSeries& series) {
  const std::size_t transitions = series.transitions();
  DensityRows rows{Matrix(transitions, shape.state_inputs), Matrix(transitions, shape.states),
                   Matrix(transitions, shape.atoms), Matrix(transitions, shape.atoms > 0 ? shape.states : 0)};
  std::vector<float> c(series.c.cols()), state(rows.state.cols()), v(rows.v.cols()), atom(rows.atom.cols()),
      keep(rows.keep.cols());
  for (std::size_t t = 0; t < transitions; ++t) {
    std::ranges::transform(series.c.row(t), c.begin(), [](double value) { return static_cast<float>(value); });
    map.state(c.data(), state);
    map.increment(c.data(), {}, v, atom, keep);
    std::ranges::copy(state, rows.state.row(t).begin());
    std::ranges::copy(v, rows.v.row(t).begin());
    std::ranges::copy(atom, rows.atom.row(t).begin());
    std::ranges::copy(keep, rows.keep.row(t).begin());
    rows.log_jacobian.push_back(map.log_jacobian(c.data(), keep));
  }
  return rows;
}

std::vector<double> density_constants(const model::DensityShape& shape, const DensityRows& rows) {
  std::vector<double> constants = rows.log_jacobian;
  for (std::size_t t = 0; t < constants.size(); ++t) {
    const auto dropped = static_cast<std::size_t>(std::ranges::count(rows.keep.row(t), 0.0));
    constants[t] -= 0.5 * static_cast<double>(shape.states - dropped) * std::log(2 * std::numbers::pi);
  }
  return constants;
}

RatioRows::RatioRows(const model::RatioModel& model, const ObservedSeries& series)
    : state(series.transitions(), model.shape.state), increment(series.transitions(), model.shape.increment) {
  std::vector<float> c(series.c.cols()), s(state.cols()), t(increment.cols());
  for (std::size_t row = 0; row < series.transitions(); ++row) {
    std::ranges::transform(series.c.row(row), c.begin(), [](double value) { return static_cast<float>(value); });
    model.map.state(c.data(), s);
    model.map.increment(c.data(), t);
    std::ranges::copy(s, state.row(row).begin());
    std::ranges::copy(t, increment.row(row).begin());
  }
}

}  // namespace catena::compose
