/// The results as a Markdown page: one table per budget, a row per task and method, a column per length.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "catena/experiment/rows.h"

namespace catena::experiment {

void write_results_page(const std::filesystem::path& path, const std::vector<Row>& rows, const std::string& directory);

}  // namespace catena::experiment
