/// What is wrong with draws, said the same way by all verbs that make them.
#pragma once

#include <string_view>

#include "catena/sample/posterior.h"

namespace catena::cli {

/// Prints every finding of the draws with its advice, in quiet mode, too: nobody should read draws as right because a
/// flag was set. Returns the exit code of their outcome, which it prints unless a finding has said it.
int report_findings(std::string_view function, const sample::PosteriorDraws& draws);

/// Whether one of the findings is that of a series outside the training range: it says in stronger words what the
/// warning of extrapolation does.
bool says_outside(const sample::PosteriorDraws& draws);

}  // namespace catena::cli
