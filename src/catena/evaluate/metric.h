/// The metrics that compare two sets of draws, by name: what `catena evaluate` prints. The file that computes one
/// returns its entry, which stands in the list of metric.cpp.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "catena/core/array.h"
#include "catena/core/parallel.h"
#include "catena/core/random.h"
#include "catena/core/registry.h"

namespace catena::evaluate {

struct Metric {
  std::string_view name;
  std::string_view help;  // one line
  /// A number, or an array with one number per parameter. B is the reference; one draw a row.
  nlohmann::json (*compute)(ConstMatrixView a, ConstMatrixView b, const Streams& streams, const Parallel& parallel);
};

const Registry<Metric>& metrics();

}  // namespace catena::evaluate
