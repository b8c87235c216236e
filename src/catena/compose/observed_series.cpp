#include "catena/compose/observed_series.h"

#include <vector>

#include "catena/core/check.h"

namespace catena::compose {

ObservedSeries observed_series(std::string_view function, const train::TrainedModel& model, ConstMatrixView series,
                               std::span<const double> times) {
  const train::Features& features = model.features;
  check::equal(function, "the number of states of the series", series.cols, features.states());
  check::at_least(function, "the number of rows of the series", series.rows, std::size_t{2});
  for (std::size_t t = 0; t < series.rows; ++t) {
    check::all_finite(function, fmt::format("row {} of the series", t + 1), series.row(t));
  }
  if (features.uses_time()) {
    check::equal(function, "the number of times of the series", times.size(), series.rows);
    check::all_finite(function, "the times of the series", times);
  }
  ObservedSeries observed{Matrix(series.rows - 1, features.size())};
  std::vector<float> c(observed.c.values().size());
  for (std::size_t t = 0; t + 1 < series.rows; ++t) {
    const double time = features.uses_time() ? times[t] : 0;
    features.apply(series.row(t), series.row(t + 1), time, std::span(c).subspan(t * features.size(), features.size()));
    const double excess = features.excess(series.row(t), series.row(t + 1), time);
    if (excess > 0) ++observed.outside;
    if (excess > observed.worst_excess) {
      observed.worst_excess = excess;
      observed.worst_transition = t;
    }
  }
  model.whiten(c);
  std::ranges::copy(c, observed.c.values().begin());
  return observed;
}

}  // namespace catena::compose
