#include "catena/sample/draws_file.h"

#include "catena/core/check.h"
#include "catena/core/version.h"

namespace catena::sample {
namespace {

std::vector<std::int64_t> count_to(std::size_t n) {
  std::vector<std::int64_t> numbers(n);
  for (std::size_t k = 0; k < n; ++k) numbers[k] = static_cast<std::int64_t>(k);
  return numbers;
}

}  // namespace

files::Group draws_group(const std::vector<std::string>& parameter_names, ConstMatrixView theta, std::size_t chains,
                         const std::vector<std::string>& state_names, ConstMatrixView series) {
  CATENA_ASSERT(chains > 0 && theta.rows % chains == 0 && theta.cols == parameter_names.size());
  const std::size_t draws = theta.rows / chains;
  files::Group posterior{.name = "posterior", .dimensions = {{"chain", chains}, {"draw", draws}}};
  posterior.variables.push_back({"chain", {"chain"}, count_to(chains)});
  posterior.variables.push_back({"draw", {"draw"}, count_to(draws)});
  for (std::size_t i = 0; i < theta.cols; ++i) {
    std::vector<double> values(theta.rows);
    for (std::size_t k = 0; k < theta.rows; ++k) values[k] = theta(k, i);
    posterior.variables.push_back({parameter_names[i], {"chain", "draw"}, std::move(values)});
  }
  posterior.attributes = {{"inference_library", "catena"}, {"inference_library_version", std::string(version())}};

  files::Group observed{.name = "observed_data", .dimensions = {{"time", series.rows}, {"state", series.cols}}};
  std::vector<double> values;
  for (std::size_t t = 0; t < series.rows; ++t) values.insert(values.end(), series.row(t).begin(), series.row(t).end());
  observed.variables.push_back({"state", {"state"}, state_names});
  observed.variables.push_back({"series", {"time", "state"}, std::move(values)});
  return {.name = "", .groups = {std::move(posterior), std::move(observed)}};
}

}  // namespace catena::sample
