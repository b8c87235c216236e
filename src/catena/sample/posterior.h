/// From a trained model and a series to draws of θ: what `catena sample` and Python call, whatever the method.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "catena/compose/observed_series.h"
#include "catena/core/config.h"
#include "catena/core/registry.h"
#include "catena/sample/diffusion_sample.h"
#include "catena/train/model.h"

namespace catena::sample {

struct PosteriorRequest {
  const train::TrainedModel& model;
  ConstMatrixView series;         // one state a row
  std::span<const double> times;  // of the states, for models that use time
  std::size_t draws = 1000;
  nlohmann::json settings = nlohmann::json::object();  // of the method's sampler; what is not named keeps its default
  /// A file with what is known of the series so far: `series` goes on where it stopped, and the file takes it in.
  /// Empty: `series` is all there is.
  std::filesystem::path state = {};
};

struct PosteriorDraws {
  Outcome outcome = Outcome::ok;
  Matrix z, theta;  // one draw a row
  std::size_t chains = 1;
  compose::ObservedSeries observed;
  nlohmann::json info;  // evaluations, settings, seconds of each phase, transitions outside the training range, …
};

/// How draws are made from the models of one method.
struct PosteriorSampler {
  std::string_view name;  // the method's
  std::vector<FieldInfo> settings;
  PosteriorDraws (*draw)(const PosteriorRequest& request, const compose::ObservedSeries& observed,
                         const Streams& streams, const Parallel& parallel, Progress& progress);
  /// The same for the series of a state file and what `request.series` adds to it; null if the method cannot.
  PosteriorDraws (*draw_stream)(const PosteriorRequest& request, const Streams& streams, const Parallel& parallel,
                                Progress& progress) = nullptr;
};

const Registry<PosteriorSampler>& posterior_samplers();

/// Throws InputError for a series that does not fit the model.
PosteriorDraws draw_posterior(const PosteriorRequest& request, const Streams& streams, const Parallel& parallel,
                              Progress& progress = silent_progress());

/// The sentence of warning for a series that leaves the training range; empty if it does not.
std::string extrapolation_warning(const compose::ObservedSeries& observed);

}  // namespace catena::sample
