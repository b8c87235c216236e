// Any bytes are either tensors whose values fill their shapes, or a FileError.
#include <cstdint>
#include <cstdlib>

#include "catena/core/errors.h"
#include "catena/files/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace catena::files;
  try {
    const TensorFile file = parse_safetensors({reinterpret_cast<const char*>(data), size}, "input");
    for (const Tensor& tensor : file.tensors) {
      std::size_t count = 1;
      for (const std::size_t extent : tensor.shape) count *= extent;
      if (std::visit([](const auto& values) { return values.size(); }, tensor.values) != count) std::abort();
    }
  } catch (const catena::FileError&) {
  }
  return 0;
}
