#include "catena/evaluate/draws.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <variant>

#include "catena/core/check.h"
#include "catena/core/errors.h"
#include "catena/files/csv.h"
#include "catena/files/netcdf/netcdf.h"

namespace catena::evaluate {

namespace {

using files::Group;
using files::Variable;

bool holds_draws(const Variable& variable) {
  return variable.dimensions.size() >= 2 && variable.dimensions[0] == "chain" && variable.dimensions[1] == "draw" &&
         !std::holds_alternative<std::vector<std::string>>(variable.values);
}

std::size_t size_of(const Variable& variable) {
  return std::visit([](const auto& values) { return values.size(); }, variable.values);
}

double value_at(const Variable& variable, std::size_t i) {
  return std::visit(
      [i](const auto& values) -> double {
        if constexpr (std::is_convertible_v<decltype(values[i]), double>) return static_cast<double>(values[i]);
        throw InternalError("read_draws: a text where a number was expected");
      },
      variable.values);
}

/// Dimensions of the group itself or, as netCDF allows, of the file's root.
std::size_t dimension_size(const Group& root, const Group& posterior, const std::string& name) {
  const bool own = std::ranges::find(posterior.dimensions, name, &files::Dimension::name) != posterior.dimensions.end();
  return (own ? posterior : root).dimension(name);
}

/// The texts that a dimension's coordinates consist of; its positions if there are none.
std::vector<std::string> labels_of(const Group& posterior, const std::string& dimension, std::size_t size,
                                   bool& texts) {
  texts = false;
  for (const Variable& variable : posterior.variables) {
    if (variable.name != dimension) continue;
    const auto* values = std::get_if<std::vector<std::string>>(&variable.values);
    if (values != nullptr && values->size() == size) {
      texts = true;
      return *values;
    }
  }
  std::vector<std::string> result;
  for (std::size_t i = 0; i < size; ++i) result.push_back(fmt::format("{}", i));
  return result;
}

/// alpha; theta[0], theta[1]; theta[0, a], …, in the order in which they lie in memory.
std::vector<std::string> names_of(const Group& root, const Group& posterior, const Variable& variable, bool only_one) {
  std::vector<std::string> inner{""};
  bool texts = false;
  for (std::size_t d = 2; d < variable.dimensions.size(); ++d) {
    const std::string& dimension = variable.dimensions[d];
    const std::size_t size = dimension_size(root, posterior, dimension);
    const std::vector<std::string> labels = labels_of(posterior, dimension, size, texts);
    std::vector<std::string> longer;
    for (const std::string& name : inner) {
      for (const std::string& label : labels) longer.push_back(name.empty() ? label : name + ", " + label);
    }
    inner = std::move(longer);
  }
  if (variable.dimensions.size() == 2) return {variable.name};
  if (only_one && texts && variable.dimensions.size() == 3) return inner;
  for (std::string& name : inner) name = fmt::format("{}[{}]", variable.name, name);
  return inner;
}

Draws read_posterior(const std::filesystem::path& path) {
  const Group root = files::read_netcdf(path);
  const auto found = std::ranges::find(root.groups, "posterior", &Group::name);
  if (found == root.groups.end()) {
    throw FileError(fmt::format("{}: the file has no group `posterior`, but must have one", path.string()));
  }
  std::vector<const Variable*> variables;
  for (const Variable& variable : found->variables) {
    if (holds_draws(variable)) variables.push_back(&variable);
  }
  if (variables.empty()) {
    throw FileError(
        fmt::format("{}: no variable of the group `posterior` has the dimensions chain and draw, but at "
                    "least one must have them",
                    path.string()));
  }
  Draws result;
  for (const Variable* variable : variables) {
    const std::vector<std::string> names = names_of(root, *found, *variable, variables.size() == 1);
    result.parameters.insert(result.parameters.end(), names.begin(), names.end());
  }
  const std::size_t draws = dimension_size(root, *found, "chain") * dimension_size(root, *found, "draw");
  result.values = Matrix(draws, result.parameters.size());
  std::size_t first = 0;
  for (const Variable* variable : variables) {
    const std::size_t width = draws == 0 ? 0 : size_of(*variable) / draws;
    for (std::size_t r = 0; r < draws; ++r) {
      for (std::size_t c = 0; c < width; ++c) result.values(r, first + c) = value_at(*variable, r * width + c);
    }
    first += width;
  }
  return result;
}

Draws read_table(const std::filesystem::path& path) {
  files::Series table = files::read_csv(path);
  if (!table.times.empty()) {
    throw FileError(fmt::format("{}: the file has a column of times, but draws must not have one", path.string()));
  }
  return {std::move(table.names), std::move(table.values)};
}

}  // namespace

Draws read_draws(const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  const bool table = extension == ".csv" || extension == ".tsv" || extension == ".txt";
  return table ? read_table(path) : read_posterior(path);
}

Draws in_order_of(const Draws& a, Draws b) {
  if (a.parameters.empty() || b.parameters.empty() || a.parameters == b.parameters) return b;
  std::vector<std::string> sorted_a = a.parameters, sorted_b = b.parameters;
  std::ranges::sort(sorted_a);
  std::ranges::sort(sorted_b);
  if (sorted_a != sorted_b) {
    check::fail("evaluate", "the list of parameters of B", fmt::format("({})", fmt::join(b.parameters, ", ")),
                fmt::format("that of A ({})", fmt::join(a.parameters, ", ")));
  }
  Matrix values(b.values.rows(), b.values.cols());
  for (std::size_t c = 0; c < a.parameters.size(); ++c) {
    const auto from = static_cast<std::size_t>(std::ranges::find(b.parameters, a.parameters[c]) - b.parameters.begin());
    for (std::size_t r = 0; r < values.rows(); ++r) values(r, c) = b.values(r, from);
  }
  return {a.parameters, std::move(values)};
}

}  // namespace catena::evaluate
