/// What the model says about single transitions at the draws of the report: fills Results::information.
#pragma once

#include "catena/core/parallel.h"
#include "catena/model/trained_model.h"
#include "catena/report/results.h"

namespace catena::report {

/// Nothing happens without a model, a posterior and a series; where they do not belong together or there are too many
/// transitions, InformationResult::trouble says so.
void add_information(Results& results, const Parallel& parallel);
/// The same with the model at hand.
void add_information(Results& results, const model::TrainedModel& model, const Parallel& parallel);

}  // namespace catena::report
