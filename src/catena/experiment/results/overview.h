/// How the page of results opens: what is compared, who wins where, and what is still bad, for a reader who has a
/// minute. Every number is made from the rows.
#pragma once

#include <string>
#include <vector>

#include "catena/experiment/rows.h"

namespace catena::experiment {

/// In Markdown, with its heading, of rows without corrected ones; empty without any on a task of the paper.
std::string overview(const std::vector<Row>& rows);

}  // namespace catena::experiment
