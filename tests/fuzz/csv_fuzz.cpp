// Any bytes are either a series, with as many names and times as it has columns and rows, or a FileError.
#include <cstdint>
#include <cstdlib>

#include "catena/core/errors.h"
#include "catena/files/csv.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace catena::files;
  try {
    const Series series = parse_csv({reinterpret_cast<const char*>(data), size}, "input");
    if (!series.names.empty() && series.names.size() != series.values.cols()) std::abort();
    if (!series.times.empty() && series.times.size() != series.values.rows()) std::abort();
  } catch (const catena::FileError&) {
  }
  return 0;
}
