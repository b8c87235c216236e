#include "catena/sample/draws_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "catena/core/check.h"
#include "catena/core/version.h"

namespace catena::sample {
namespace {

std::vector<std::int64_t> count_to(std::size_t n) {
  std::vector<std::int64_t> numbers(n);
  for (std::size_t k = 0; k < n; ++k) numbers[k] = static_cast<std::int64_t>(k);
  return numbers;
}

std::vector<double> flat(ConstMatrixView matrix) {
  std::vector<double> values;
  for (std::size_t r = 0; r < matrix.rows; ++r) values.insert(values.end(), matrix.row(r).begin(), matrix.row(r).end());
  return values;
}

}  // namespace

files::Group draws_group(const std::vector<std::string>& parameter_names, ConstMatrixView theta, std::size_t chains,
                         const std::vector<std::string>& state_names, ConstMatrixView series,
                         std::span<const simulate::SeriesView> more_series) {
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
  return {.name = "", .groups = {std::move(posterior), observed_group(state_names, series, more_series)}};
}

files::Group observed_group(const std::vector<std::string>& state_names, ConstMatrixView series,
                            std::span<const simulate::SeriesView> more_series) {
  files::Group observed{.name = "observed_data", .dimensions = {{"time", series.rows}, {"state", series.cols}}};
  observed.variables.push_back({"state", {"state"}, state_names});
  observed.variables.push_back({"series", {"time", "state"}, flat(series)});
  for (std::size_t s = 0; s < more_series.size(); ++s) {
    const std::string number = fmt::format("_{}", s + 2);
    observed.dimensions.push_back({"time" + number, more_series[s].states.rows});
    observed.variables.push_back({"series" + number, {"time" + number, "state"}, flat(more_series[s].states)});
  }
  return observed;
}

std::optional<files::Series> observed_in(const files::Group& root) {
  const auto group = std::ranges::find(root.groups, "observed_data", &files::Group::name);
  if (group == root.groups.end() || !group->contains("series")) return std::nullopt;
  const files::Variable& variable = group->variable("series");
  if (variable.dimensions.size() != 2) return std::nullopt;
  const std::size_t rows = group->dimension(variable.dimensions[0]), cols = group->dimension(variable.dimensions[1]);
  files::Series series{{}, Matrix(rows, cols)};
  const bool numeric = std::visit(
      [&](const auto& values) {
        if constexpr (std::is_convertible_v<decltype(values[0]), double>) {
          if (values.size() != rows * cols) return false;
          std::ranges::transform(values, series.values.data(), [](auto v) { return static_cast<double>(v); });
          return true;
        }
        return false;
      },
      variable.values);
  if (!numeric) return std::nullopt;
  if (group->contains(variable.dimensions[1])) {
    const files::Variable& names = group->variable(variable.dimensions[1]);
    if (const auto* texts = std::get_if<std::vector<std::string>>(&names.values)) series.names = *texts;
  }
  return series;
}

}  // namespace catena::sample
