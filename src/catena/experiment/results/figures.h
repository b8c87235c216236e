/// The results as figures (Vega-Lite, drawn by report/render.h): a metric against T and against the budget, seconds of
/// sampling against T; a view per task, a colour per method, the paper's numbers dashed.
#pragma once

#include <vector>

#include "catena/experiment/rows.h"
#include "catena/report/figure.h"

namespace catena::experiment {

/// Those that the rows have something for.
std::vector<report::DrawnFigure> results_figures(const std::vector<Row>& rows);

}  // namespace catena::experiment
