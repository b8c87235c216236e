/// The results as a Markdown page: for the paper's tasks one table per budget, a row per task and method, a column per
/// length; corrected posteriors apart (results_corrected.h); what `notes.md` beside the rows says; times, figures, and
/// every metric of every cell.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "catena/experiment/rows.h"

namespace catena::experiment {

/// `directory` is where the rows are.
void write_results_page(const std::filesystem::path& path, const std::vector<Row>& rows,
                        const std::filesystem::path& directory,
                        const std::vector<std::filesystem::path>& pictures = {});

}  // namespace catena::experiment
