/// Posteriors corrected by simulation, as a section of the page of results: what they gain, beside what can be had with
/// so many transitions.
#pragma once

#include <string>
#include <vector>

#include "catena/experiment/rows.h"

namespace catena::experiment {

/// The rows of corrected posteriors, those that failed among them, and all others.
struct RowsByCorrection {
  std::vector<Row> corrected, learned;
};
RowsByCorrection by_correction(const std::vector<Row>& rows);

/// In Markdown, with its heading; empty without such rows.
std::string corrected_section(const RowsByCorrection& rows);

}  // namespace catena::experiment
