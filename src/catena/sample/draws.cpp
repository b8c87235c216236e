#include "catena/sample/draws.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <variant>

#include "catena/core/check.h"
#include "catena/core/errors.h"
#include "catena/core/version.h"

namespace catena::sample {

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

const Group* find_group(const Group& root, std::string_view name) {
  const auto found = std::ranges::find(root.groups, name, &Group::name);
  return found == root.groups.end() ? nullptr : &*found;
}

std::vector<std::int64_t> count_to(std::size_t n) {
  std::vector<std::int64_t> numbers(n);
  for (std::size_t k = 0; k < n; ++k) numbers[k] = static_cast<std::int64_t>(k);
  return numbers;
}

/// series, series_2, …; time, time_2, …
std::string numbered(std::string_view name, std::size_t s) {
  return s == 0 ? std::string(name) : fmt::format("{}_{}", name, s + 1);
}

std::vector<std::size_t> finite_rows(const Matrix& values) {
  std::vector<std::size_t> rows;
  for (std::size_t r = 0; r < values.rows(); ++r) {
    if (std::ranges::all_of(values.row(r), [](double v) { return std::isfinite(v); })) rows.push_back(r);
  }
  return rows;
}

/// Numbers of any type as doubles; none if they are texts.
std::vector<double> numbers_in(const Variable& variable) {
  if (std::holds_alternative<std::vector<std::string>>(variable.values)) return {};
  std::vector<double> numbers(size_of(variable));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = value_at(variable, i);
  return numbers;
}

/// The health that stands at each parameter's variable; none unless all have it.
std::vector<ChainHealth> health_in(const Group& posterior, const std::vector<std::string>& parameters) {
  std::vector<ChainHealth> health;
  for (const std::string& parameter : parameters) {
    const auto variable = std::ranges::find(posterior.variables, parameter, &Variable::name);
    if (variable == posterior.variables.end()) return {};
    const auto attribute = [&](const char* key) {
      const auto found = variable->attributes.find(key);
      return found != variable->attributes.end() && found->second.is_number() ? found->second.get<double>()
                                                                              : std::nan("");
    };
    health.push_back({attribute("r_hat"), attribute("bulk_ess"), attribute("tail_ess")});
    if (!std::isfinite(health.back().r_hat) || !std::isfinite(health.back().bulk_ess)) return {};
  }
  return health;
}

Draws read_table(const std::filesystem::path& path) {
  files::Series table = files::read_csv(path);
  if (!table.times.empty()) {
    throw FileError(fmt::format("{}: the file has a column of times, but draws must not have one", path.string()));
  }
  return {std::move(table.names), std::move(table.values)};
}

/// A stored series over (time, state); none if there is no such variable.
std::optional<files::Series> series_in(const Group& observed, std::size_t s) {
  const std::string name = numbered("series", s);
  if (!observed.contains(name)) return std::nullopt;
  const Variable& variable = observed.variable(name);
  if (variable.dimensions.size() != 2) return std::nullopt;
  const std::string &time = variable.dimensions[0], &state = variable.dimensions[1];
  const std::vector<double> values = numbers_in(variable);
  files::Series series{{}, Matrix(observed.dimension(time), observed.dimension(state))};
  if (values.size() != series.values.values().size()) return std::nullopt;
  std::ranges::copy(values, series.values.data());
  if (observed.contains(state)) {
    const Variable& names = observed.variable(state);
    if (const auto* texts = std::get_if<std::vector<std::string>>(&names.values)) series.names = *texts;
  }
  if (observed.contains(time)) {
    series.times = numbers_in(observed.variable(time));
    if (series.times.size() != series.values.rows()) series.times.clear();
  }
  return series;
}

}  // namespace

files::Attributes draws_record(const PosteriorRequest& request, const PosteriorDraws& draws, std::uint64_t seed) {
  std::string models = request.model.source;
  nlohmann::json companions = nlohmann::json::array();
  for (const model::TrainedModel* companion : request.companions) {
    models += ", " + companion->source;
    companions.push_back(companion->provenance);
  }
  files::Attributes record = {{"catena_version", std::string(version())},
                              {"method", request.model.method},
                              {"model", models},
                              {"seed", seed},
                              {"info", draws.info.dump()},
                              {"transitions", request.model.provenance.dump()},
                              {"paths", to_json(request.paths).dump()},
                              {"outcome", std::string(name(draws.outcome))},
                              {"warning", extrapolation_warning(draws.observed)}};
  if (!companions.empty()) record["companions"] = companions.dump();
  return record;
}

Draws draws_of(const PosteriorRequest& request, PosteriorDraws draws, std::uint64_t seed) {
  Draws result;
  result.record = draws_record(request, draws, seed);
  result.parameters = request.model.prior.names();
  result.values = std::move(draws.theta);
  result.chains = draws.chains;
  for (const simulate::SeriesView& view : request.series) {
    files::Series& series = result.series.emplace_back();
    series.names = request.model.state_names;
    series.values = Matrix(view.states.rows, view.states.cols);
    for (std::size_t r = 0; r < view.states.rows; ++r) {
      std::ranges::copy(view.states.row(r), series.values.row(r).begin());
    }
    series.times.assign(view.times.begin(), view.times.end());
  }
  return result;
}

namespace {

Group learned_group(const Draws& draws) {
  Group group{.name = "learned_posterior", .dimensions = {{"chain", 1}, {"draw", draws.learned.rows()}}};
  for (std::size_t i = 0; i < draws.parameters.size(); ++i) {
    std::vector<double> values(draws.learned.rows());
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = draws.learned(k, i);
    group.variables.push_back({draws.parameters[i], {"chain", "draw"}, std::move(values)});
  }
  return group;
}

/// The draws of the group `learned_posterior`; none if it is missing or lacks a parameter.
Matrix learned_in(const Group& root, const std::vector<std::string>& parameters) {
  const Group* group = find_group(root, "learned_posterior");
  if (group == nullptr) return {};
  Matrix learned(dimension_size(root, *group, "chain") * dimension_size(root, *group, "draw"), parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto variable = std::ranges::find(group->variables, parameters[i], &Variable::name);
    if (variable == group->variables.end() || !holds_draws(*variable) || size_of(*variable) != learned.rows())
      return {};
    for (std::size_t r = 0; r < learned.rows(); ++r) learned(r, i) = value_at(*variable, r);
  }
  return learned;
}

}  // namespace

std::size_t finite_draws(const Draws& draws) { return finite_rows(draws.values).size(); }

files::Group draws_group(const Draws& draws) {
  const std::vector<std::size_t> rows = finite_rows(draws.values);
  const std::size_t dropped = draws.dropped + draws.values.rows() - rows.size();
  CATENA_ASSERT(draws.chains > 0 && draws.values.rows() % draws.chains == 0 &&
                draws.values.cols() == draws.parameters.size());
  check::at_least("write_draws", "the number of finite draws", rows.size(), std::size_t{1});
  const std::size_t chains = rows.size() == draws.values.rows() ? draws.chains : 1;  // what is left of chains is none
  Group posterior{.name = "posterior", .dimensions = {{"chain", chains}, {"draw", rows.size() / chains}}};
  posterior.variables.push_back({"chain", {"chain"}, count_to(chains)});
  posterior.variables.push_back({"draw", {"draw"}, count_to(rows.size() / chains)});
  for (std::size_t i = 0; i < draws.parameters.size(); ++i) {
    std::vector<double> values(rows.size());
    for (std::size_t k = 0; k < rows.size(); ++k) values[k] = draws.values(rows[k], i);
    Variable variable{draws.parameters[i], {"chain", "draw"}, std::move(values)};
    if (!draws.health.empty()) {
      const ChainHealth& health = draws.health[i];
      variable.attributes = {{"r_hat", health.r_hat}, {"bulk_ess", health.bulk_ess}, {"tail_ess", health.tail_ess}};
    }
    posterior.variables.push_back(std::move(variable));
  }
  posterior.attributes = {{"inference_library", "catena"}, {"inference_library_version", std::string(version())}};
  Group root{.name = "", .attributes = draws.record, .groups = {std::move(posterior)}};
  if (draws.learned.rows() > 0) root.groups.push_back(learned_group(draws));
  if (!draws.series.empty()) root.groups.push_back(observed_group(simulate::views_of(draws.series)));
  if (dropped > 0) root.attributes["dropped_draws"] = dropped;
  return root;
}

void write_draws(const std::filesystem::path& path, const Draws& draws) {
  files::write_netcdf(path, draws_group(draws));
}

files::Group observed_group(std::span<const simulate::SeriesView> series) {
  CATENA_ASSERT(!series.empty());
  Group observed{.name = "observed_data"};
  const auto& names = series.front().names;
  for (std::size_t s = 0; s < series.size(); ++s) {
    const ConstMatrixView states = series[s].states;
    const std::string time = numbered("time", s);
    observed.dimensions.push_back({time, states.rows});
    if (s == 0) observed.dimensions.push_back({"state", states.cols});
    if (s == 0 && !names.empty()) {
      observed.variables.push_back({"state", {"state"}, std::vector<std::string>(names.begin(), names.end())});
    }
    std::vector<double> values;
    for (std::size_t r = 0; r < states.rows; ++r) {
      values.insert(values.end(), states.row(r).begin(), states.row(r).end());
    }
    observed.variables.push_back({numbered("series", s), {time, "state"}, std::move(values)});
    if (series[s].times.empty()) continue;
    observed.variables.push_back({time, {time}, std::vector<double>(series[s].times.begin(), series[s].times.end())});
  }
  return observed;
}

Draws draws_in(const Group& root, const std::string& source) {
  const Group* found = find_group(root, "posterior");
  if (found == nullptr) {
    throw FileError(fmt::format("{}: the file has no group `posterior`, but must have one", source));
  }
  std::vector<const Variable*> variables;
  for (const Variable& variable : found->variables) {
    if (holds_draws(variable)) variables.push_back(&variable);
  }
  if (variables.empty()) {
    throw FileError(
        fmt::format("{}: no variable of the group `posterior` has the dimensions chain and draw, but at "
                    "least one must have them",
                    source));
  }
  Draws result;
  for (const Variable* variable : variables) {
    const std::vector<std::string> names = names_of(root, *found, *variable, variables.size() == 1);
    result.parameters.insert(result.parameters.end(), names.begin(), names.end());
  }
  result.chains = dimension_size(root, *found, "chain");
  const std::size_t draws = result.chains * dimension_size(root, *found, "draw");
  result.values = Matrix(draws, result.parameters.size());
  std::size_t first = 0;
  for (const Variable* variable : variables) {
    const std::size_t width = draws == 0 ? 0 : size_of(*variable) / draws;
    for (std::size_t r = 0; r < draws; ++r) {
      for (std::size_t c = 0; c < width; ++c) result.values(r, first + c) = value_at(*variable, r * width + c);
    }
    first += width;
  }
  result.learned = learned_in(root, result.parameters);
  result.series = observed_in(root);
  result.record = root.attributes;
  result.health = health_in(*found, result.parameters);
  const auto dropped = root.attributes.find("dropped_draws");
  if (dropped != root.attributes.end() && dropped->second.is_number_integer()) {
    result.dropped = dropped->second.get<std::size_t>();
  }
  return result;
}

Draws read_draws(const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  const bool table = extension == ".csv" || extension == ".tsv" || extension == ".txt";
  return table ? read_table(path) : draws_in(files::read_netcdf(path), path.string());
}

std::vector<files::Series> observed_in(const Group& root) {
  std::vector<files::Series> all;
  const Group* observed = find_group(root, "observed_data");
  while (observed != nullptr) {
    std::optional<files::Series> series = series_in(*observed, all.size());
    if (!series) break;
    all.push_back(std::move(*series));
  }
  return all;
}

Draws in_order_of(const std::vector<std::string>& parameters, Draws draws) {
  if (parameters.empty() || draws.parameters.empty() || parameters == draws.parameters) return draws;
  std::vector<std::string> wanted = parameters, given = draws.parameters;
  std::ranges::sort(wanted);
  std::ranges::sort(given);
  if (wanted != given) {
    check::fail("evaluate", "the list of parameters of B", fmt::format("({})", fmt::join(draws.parameters, ", ")),
                fmt::format("that of A ({})", fmt::join(parameters, ", ")));
  }
  Matrix values(draws.values.rows(), draws.values.cols()), learned(draws.learned.rows(), draws.learned.cols());
  std::vector<ChainHealth> health;
  for (std::size_t c = 0; c < parameters.size(); ++c) {
    const auto from =
        static_cast<std::size_t>(std::ranges::find(draws.parameters, parameters[c]) - draws.parameters.begin());
    for (std::size_t r = 0; r < values.rows(); ++r) values(r, c) = draws.values(r, from);
    for (std::size_t r = 0; r < learned.rows(); ++r) learned(r, c) = draws.learned(r, from);
    if (!draws.health.empty()) health.push_back(draws.health[from]);
  }
  draws.parameters = parameters;
  draws.values = std::move(values);
  draws.learned = std::move(learned);
  draws.health = std::move(health);
  return draws;
}

}  // namespace catena::sample
