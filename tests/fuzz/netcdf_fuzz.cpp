// Any bytes are either a netCDF file, read whole and by rows, or a FileError. HDF5 crashes on some of them; that must
// stay inside the child process of the reader. The bytes go through a file in memory (/dev/shm), since readers take
// paths. Because the child would hide a crash of our own code as well, inputs that end a child are kept in the folder
// that CATENA_FUZZ_KEEP names, to be looked at with a debugger.
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "catena/core/errors.h"
#include "catena/files/netcdf/rows.h"

extern "C" void __sanitizer_set_death_callback(void (*callback)());

namespace {

void keep(const std::uint8_t* data, std::size_t size) {
  static int kept = 0;
  const char* folder = std::getenv("CATENA_FUZZ_KEEP");
  if (folder == nullptr || kept == 1000) return;
  std::ofstream file(std::string(folder) + "/" + std::to_string(kept++) + ".nc", std::ios::binary);
  file.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace catena::files;
  // A crash in the child is expected and must not leave libFuzzer's crash file.
  static const int once = pthread_atfork(nullptr, nullptr, [] { __sanitizer_set_death_callback(nullptr); });
  static const std::string path = "/dev/shm/catena-fuzz-" + std::to_string(getpid()) + ".nc";
  static const int at_exit = std::atexit([] { unlink(path.c_str()); });
  if (once != 0 || at_exit != 0) std::abort();
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  const ReadLimits limits{.max_bytes = 4U << 20, .max_seconds = 2};
  try {
    const Group root = read_netcdf(path, limits);
    const NetcdfReader reader(path, limits);
    for (const VariableInfo& variable : reader.variables()) {
      if (variable.numeric && variable.dimensions.size() == 2 && variable.dimensions[1].size < 1000) {
        reader.read_rows(variable.name, 0, std::min<std::size_t>(variable.dimensions[0].size, 1000));
      }
    }
  } catch (const catena::FileError& error) {
    if (std::string(error.what()).find("is damaged") != std::string::npos) keep(data, size);
  }
  return 0;
}
