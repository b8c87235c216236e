#include "observation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "catena/core/errors.h"

namespace catena::cli {

files::Series read_observation(std::string_view function, const std::string& path, const train::TrainedModel& model) {
  files::Series series = files::read_csv(path);
  if (!series.names.empty() && series.names != model.state_names) {
    throw InputError(fmt::format("{}: the columns of {} are {}, but must be those of the model, {}", function, path,
                                 fmt::join(series.names, ", "), fmt::join(model.state_names, ", ")));
  }
  return series;
}

}  // namespace catena::cli
