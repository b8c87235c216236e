// Replays the seeds of the fuzz targets and every input that once crashed a reader (or the library below it): each is
// read, or refused with a FileError.
#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "catena/files/csv.h"
#include "catena/files/json.h"
#include "catena/files/netcdf/netcdf.h"
#include "catena/files/safetensors.h"
#include "data_path.h"
#include "files/support.h"

namespace catena::files::regression_test {
namespace {

const std::map<std::string, std::function<void(const std::filesystem::path&)>> readers = {
    {"csv", [](const auto& path) { read_csv(path); }},
    {"json", [](const auto& path) { read_json(path); }},
    {"netcdf", [](const auto& path) { read_netcdf(path, {.max_bytes = 64U << 20, .max_seconds = 30}); }},
    {"safetensors", [](const auto& path) { read_safetensors(path); }},
};

std::vector<std::filesystem::path> inputs(const std::string& kind, const std::string& reader) {
  const std::filesystem::path folder = std::filesystem::path(CATENA_TEST_DATA) / "../fuzz" / kind / reader;
  std::vector<std::filesystem::path> result;
  if (!std::filesystem::exists(folder)) return result;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) result.push_back(entry.path());
  std::ranges::sort(result);
  return result;
}

}  // namespace

TEST(Regression, EverySeedIsRead) {
  for (const auto& [name, read] : readers) {
    const auto seeds = inputs("corpus", name);
    EXPECT_FALSE(seeds.empty()) << name;
    for (const auto& path : seeds) EXPECT_NO_THROW(read(path)) << path;
  }
}

TEST(Regression, InputsThatOnceCrashedAreReadOrRefused) {
  for (const auto& [name, read] : readers) {
    for (const auto& path : inputs("regression", name)) {
      try {
        read(path);
      } catch (const FileError& error) {
        EXPECT_NE(std::string(error.what()).find(path.filename().string()), std::string::npos) << error.what();
      }
    }
  }
}

}  // namespace catena::files::regression_test
