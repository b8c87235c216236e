#include "catena/evaluate/samples.h"

#include <cmath>

#include "catena/core/check.h"

namespace catena::evaluate {

void check_sample(std::string_view function, std::string_view name, ConstMatrixView sample, std::size_t least_rows) {
  check::at_least(function, fmt::format("the number of draws in {}", name), sample.rows, least_rows);
  check::at_least(function, fmt::format("the number of parameters in {}", name), sample.cols, std::size_t{1});
  for (std::size_t r = 0; r < sample.rows; ++r) {
    for (std::size_t c = 0; c < sample.cols; ++c) {
      const double value = sample(r, c);
      if (!std::isfinite(value)) check::fail(function, fmt::format("{}[{}, {}]", name, r, c), value, "finite");
    }
  }
}

void check_samples(std::string_view function, ConstMatrixView a, ConstMatrixView b, std::size_t least_rows) {
  check_sample(function, "A", a, least_rows);
  check_sample(function, "B", b, least_rows);
  if (a.cols != b.cols) {
    check::fail(function, "the number of parameters in B", b.cols, fmt::format("{}, as in A", a.cols));
  }
}

}  // namespace catena::evaluate
