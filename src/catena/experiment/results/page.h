/// The results as a Markdown page: an overview (overview.h); for the paper's tasks one table per budget, a row per task
/// and method, a column per length; the paper's figures (figures/), or others where there are no rows of those;
/// corrected posteriors apart (corrected.h); what `notes.md` beside the rows says; times, and every metric of every
/// cell.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "catena/experiment/rows.h"

namespace catena::experiment {

/// Pictures that were drawn, with what stands above them.
struct PageFigure {
  std::string heading;  // empty: no words
  std::string text;
  std::vector<std::filesystem::path> pictures;
};

/// `directory` is where the rows are.
void write_results_page(const std::filesystem::path& path, const std::vector<Row>& rows,
                        const std::filesystem::path& directory, const std::vector<PageFigure>& figures = {});

}  // namespace catena::experiment
