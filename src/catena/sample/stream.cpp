#include "catena/sample/stream.h"

#include <filesystem>

#include "catena/core/check.h"

namespace catena::sample {
namespace {

/// The new rows with the last state of the stream before them.
Matrix continued(const std::vector<double>& last, ConstMatrixView rows) {
  Matrix series(rows.rows + (last.empty() ? 0 : 1), rows.cols);
  std::ranges::copy(last, series.values().begin());
  for (std::size_t r = 0; r < rows.rows; ++r) {
    std::ranges::copy(rows.row(r), series.row(series.rows() - rows.rows + r).begin());
  }
  return series;
}

}  // namespace

PosteriorDraws draw_stream(const PosteriorRequest& request, const PosteriorSampler& sampler, const Streams& streams,
                           const Parallel& parallel, Progress& progress) {
  const model::TrainedModel& model = request.model;
  check::that(sampler.draw_sums != nullptr, "sample", "the method of a state file", model.method,
              "one whose models can be separable (fnle, fnre, fnse)");
  check::that(request.series.size() == 1 && request.companions.empty(), "sample", "the request with a state file",
              "one with several series or models", "of one series and one model");
  compose::SeriesState state =
      std::filesystem::exists(request.state) ? compose::read_state(request.state, model) : compose::SeriesState(model);
  const simulate::SeriesView& added = request.series.front();  // there is one
  check::equal("sample", "the number of states of the series", added.states.cols, model.states());
  check::that(model.features.shape().plain(), "sample", "what the model of a state file was trained on",
              "longer records", "single transitions");
  compose::ObservedSeries observed;
  if (added.states.rows > 0 || state.transitions == 0) {  // else: more draws for what is known already
    const Matrix series = continued(state.last_state, added.states);
    std::vector<double> times(added.times.begin(), added.times.end());
    if (!times.empty() && !state.last_state.empty()) times.insert(times.begin(), state.last_time);
    const std::size_t k = model.features.shape().covariates;
    check::equal("sample", "the number of covariates of the series", added.covariates.cols, k);
    const Matrix covariates = k > 0 ? continued(state.last_covariates, added.covariates) : Matrix();
    const simulate::SeriesView whole{
        .states = series, .times = times, .covariates = covariates, .covariate_names = model.covariate_names};
    observed = compose::observed_series("sample", model, {}, {&whole, 1});
    if (k > 0) {
      const auto last = covariates.row(covariates.rows() - 1);
      check::all_finite("sample", "the covariates of the last row, from which the state file goes on", last);
      state.last_covariates.assign(last.begin(), last.end());
    }
    state.add(model, observed);
    state.last_state.assign(series.row(series.rows() - 1).begin(), series.row(series.rows() - 1).end());
    if (!times.empty()) state.last_time = times.back();
  }
  PosteriorDraws result = sampler.draw_sums(request, state, streams, parallel, progress);
  result.info["transitions"] = state.transitions;
  result.info["new_transitions"] = observed.transitions();
  result.observed = std::move(observed);
  compose::write_state(request.state, model, state);
  return result;
}

}  // namespace catena::sample
