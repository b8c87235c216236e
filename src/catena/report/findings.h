/// What the numbers of a report mean, in words and with advice: one sentence or two for each finding.
#pragma once

#include <string>
#include <vector>

#include "catena/core/random.h"
#include "catena/report/results.h"
#include "catena/report/summary.h"

namespace catena::report {

enum class Severity { good, note, warning };

struct Finding {
  Severity severity = Severity::note;
  std::string text;
};

/// "good", "note" or "warning".
std::string_view name(Severity severity);

/// Warnings first, then notes, then what is well.
std::vector<Finding> findings(const Results& results, const Summary& summary, const Streams& streams);

}  // namespace catena::report
