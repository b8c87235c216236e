// Any bytes are either JSON, which then survives writing and reading, or a FileError.
#include <cstdint>
#include <cstdlib>

#include "catena/core/errors.h"
#include "catena/files/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace catena::files;
  try {
    const nlohmann::json value = parse_json({reinterpret_cast<const char*>(data), size}, "input");
    if (parse_json(dump_json(value), "copy") != value) std::abort();
  } catch (const catena::FileError&) {
  }
  return 0;
}
