/// One training set from several files of records or of whole series: the rounds of a refinement, or more data of the
/// same kind.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "catena/simulate/transitions/transitions.h"
#include "catena/simulate/whole_series/series_set.h"
#include "catena/train/method.h"

namespace catena::train {

/// All records, in a random order that depends on nothing but their number, so that every part of the set has some of
/// every file. With `any_prior`, z is brought to the prior that all files go back to (prior/around.h), which is
/// right for likelihoods; otherwise all files must have the same prior. Throws InputError if files do not go together.
simulate::TransitionSet joined_transitions(const std::vector<std::filesystem::path>& paths, bool any_prior);

/// The same for sets in memory; `names` say in errors which one does not fit.
simulate::TransitionSet joined_transitions(std::vector<simulate::TransitionSet> sets,
                                           const std::vector<std::string>& names, bool any_prior);

/// Whether one file is more than its rows: made around a posterior, for a method that must go back to the prior.
bool needs_joining(const std::vector<std::filesystem::path>& paths, bool any_prior);

/// All series of these sets, in a random order as above; all must have the same prior and the same states.
simulate::SeriesSet joined_series(const std::vector<simulate::SeriesSet>& sets, const std::vector<std::string>& names);

/// What a method learns from, of these files: transitions, which may be more than memory holds, or whole series.
TrainingData training_data(const Method& method, const std::vector<std::filesystem::path>& paths, const Split& split);

}  // namespace catena::train
