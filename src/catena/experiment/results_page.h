/// The results as a Markdown page: one table per budget, a row per task and method, a column per length.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "catena/experiment/rows.h"

namespace catena::experiment {

/// `pictures` are shown at the end; `directory` is where the rows are, for the sentence that says so.
void write_results_page(const std::filesystem::path& path, const std::vector<Row>& rows, const std::string& directory,
                        const std::vector<std::filesystem::path>& pictures = {});

}  // namespace catena::experiment
