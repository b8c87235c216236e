/// What sample.cpp and correct.cpp have in common: the series and settings of a posterior as Python gives them.
#pragma once

#include <string>
#include <vector>

#include "binding.h"
#include "catena/sample/posterior.h"

namespace catena::python {

using Models = std::vector<const model::TrainedModel*>;

/// Looks at what it is given: one series or more.
sample::PosteriorRequest request_of(const model::TrainedModel& model, const Models& companions,
                                    const std::vector<Rows>& series, const std::vector<Numbers>& times,
                                    const std::vector<Rows>& covariates, const std::string& settings,
                                    const std::string& paths);

}  // namespace catena::python
