/// Correction by simulation: from a learned posterior to one that is right whatever the network learned, by simulating
/// transitions from the observed states themselves (docs/theory/correction.md). The learned score is a statistic of the
/// series; its law given z is learned by regression (law.h); rounds move to where the posterior is. A part of the
/// budget asks whether the simulator makes such a series at all (judgement/judge.h): a tenth of a correction's, a fifth
/// of a check's.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "catena/core/config.h"
#include "catena/sample/correct/answers.h"
#include "catena/sample/correct/certificate.h"
#include "catena/sample/correct/corrected_posterior.h"
#include "catena/sample/draws.h"
#include "catena/sample/posterior.h"
#include "catena/simulate/model.h"

namespace catena::sample {

struct CorrectionSettings {
  int budget = 100'000;
  double max_invalid = 0.1;
  int degree = 3;
  double false_alarms = 0.01;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.budget, "budget", "transitions to simulate from the observed states, in all", at_least(100));
    visit(c.max_invalid, "max_invalid", "largest share of simulated records that are not finite", between(0.0, 1.0));
    visit(c.degree, "degree", "highest degree of the polynomials that the statistic's mean may be", between(1, 3));
    visit(c.false_alarms, "false_alarms", "rate at which an exact posterior is accused of a shift", between(1e-6, 0.5));
  }
};

struct CorrectionRequest {
  PosteriorRequest posterior;  // with the settings of the learned posterior's sampler
  /// Its prior is not looked at, but its parameters must be those of the model, in their order.
  const simulate::Model& simulator;
  CorrectionSettings settings = {};
  AnswerPlan answers = {};  // the caller removes the file once the result is safe
};

struct Correction {
  PosteriorDraws learned;     // what catena sample gives
  PosteriorDraws corrected;   // the same draws if there was no correction; judged, with findings
  std::string not_corrected;  // why not; empty: it was
  Certificate certificate;
  std::shared_ptr<const CorrectedPosterior> posterior;  // null if there was no correction
  nlohmann::json info;
};

/// Throws InputError for a simulator that does not fit the model, or a budget that is not enough.
Correction correct_posterior(const CorrectionRequest& request, const Streams& streams, const Parallel& parallel,
                             Progress& progress = silent_progress());

/// Ready to be written: the corrected draws, the learned ones beside them, and what was found out (attributes
/// `correction` and `certificate`, as JSON).
Draws corrected_draws(const CorrectionRequest& request, const Correction& found, std::uint64_t seed);

struct Check {
  PosteriorDraws learned;  // judged, with findings
  Certificate certificate;
  nlohmann::json info;
};

/// The certificate alone, and what is wrong with the learned draws.
Check check_posterior(const CorrectionRequest& request, const Streams& streams, const Parallel& parallel,
                      Progress& progress = silent_progress());

}  // namespace catena::sample
