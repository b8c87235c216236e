#include "catena/sample/draws.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <variant>

#include "catena/core/check.h"
#include "catena/core/errors.h"
#include "catena/core/version.h"
#include "catena/files/json.h"
#include "catena/sample/finite_rows.h"

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
      for (const std::string& label : labels) {
        longer.push_back(name.empty() ? label : fmt::format("{}, {}", name, label));
      }
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

/// The draws of another group of the same parameters; none if it is missing or lacks one.
Matrix parameters_in(const Group& root, const char* name, const std::vector<std::string>& parameters) {
  const Group* group = find_group(root, name);
  if (group == nullptr) return {};
  Matrix values(dimension_size(root, *group, "chain") * dimension_size(root, *group, "draw"), parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto variable = std::ranges::find(group->variables, parameters[i], &Variable::name);
    if (variable == group->variables.end() || !holds_draws(*variable) || size_of(*variable) != values.rows()) return {};
    for (std::size_t r = 0; r < values.rows(); ++r) values(r, i) = value_at(*variable, r);
  }
  return values;
}

/// Times that were written as dates, back on their scale.
void take_calendar(const Variable& time, files::Series& series) {
  const auto calendar = time.attributes.find("catena_calendar"), units = time.attributes.find("units");
  if (calendar == time.attributes.end() || !calendar->second.is_string()) return;
  series.calendar = calendar_from("read_draws", files::parse_json(calendar->second.get<std::string>(), "read_draws"));
  const std::string since =
      units != time.attributes.end() && units->second.is_string() ? units->second.get<std::string>() : "";
  const std::size_t space = since.find(" since ");
  const std::string unit = since.substr(0, space == std::string::npos || space == 0 ? 0 : space - 1);  // without its s
  const auto origin = space == std::string::npos ? std::nullopt : seconds_of_date(since.substr(space + 7));
  check::that(origin && std::ranges::find(calendar_units(), unit) != calendar_units().end(), "read_draws",
              "the unit of the times", files::detail::in_quotes(since), "seconds, minutes, hours or days since a date");
  const Calendar written{unit, *origin};
  for (double& value : series.times) value = series.calendar->number(written.seconds(value));
}

}  // namespace

files::Series times_in(const Group& group, const std::string& name) {
  files::Series series;
  if (!group.contains(name)) return series;
  series.times = numbers_in(group.variable(name));
  take_calendar(group.variable(name), series);
  return series;
}

namespace {

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
  files::Series times = times_in(observed, time);
  if (times.times.size() == series.values.rows()) {
    series.times = std::move(times.times);
    series.calendar = times.calendar;
  }
  return series;
}

/// The covariates of series s, where the file has them: as many rows as it has states.
void take_covariates(const Group& constant, std::size_t s, files::Series& series) {
  const std::string name = numbered("covariates", s);
  if (!constant.contains(name) || constant.variable(name).dimensions.size() != 2 || !constant.contains("covariate")) {
    return;
  }
  const std::vector<double> values = numbers_in(constant.variable(name));
  const auto* names = std::get_if<std::vector<std::string>>(&constant.variable("covariate").values);
  if (names == nullptr || values.size() != names->size() * series.values.rows()) return;
  series.covariate_names = *names;
  series.covariates = Matrix(series.values.rows(), names->size());
  std::ranges::copy(values, series.covariates.data());
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
  result.health = std::move(draws.health);
  for (const simulate::SeriesView& view : request.series) {
    files::Series& series = result.series.emplace_back();
    series.calendar = view.calendar;
    series.names = request.model.state_names;
    series.values = Matrix(view.states.rows, view.states.cols);
    for (std::size_t r = 0; r < view.states.rows; ++r) {
      std::ranges::copy(view.states.row(r), series.values.row(r).begin());
    }
    series.times.assign(view.times.begin(), view.times.end());
    if (view.covariates.cols == 0) continue;
    series.covariate_names = request.model.covariate_names;
    series.covariates = Matrix(view.covariates.rows, view.covariates.cols);
    for (std::size_t r = 0; r < view.covariates.rows; ++r) {
      std::ranges::copy(view.covariates.row(r), series.covariates.row(r).begin());
    }
  }
  return result;
}

namespace {

constexpr std::size_t most_likelihoods = 1'000'000;  // of draws and transitions; more would be most of the file

/// Rows of `values` over (chain, draw, …): those of `rows` alone.
std::vector<double> values_of_rows(const Matrix& values, const std::vector<std::size_t>& rows) {
  std::vector<double> result;
  result.reserve(rows.size() * values.cols());
  for (const std::size_t row : rows) result.insert(result.end(), values.row(row).begin(), values.row(row).end());
  return result;
}

Group draws_of_parameters(const char* name, const std::vector<std::string>& parameters, const Matrix& values) {
  Group group{.name = name, .dimensions = {{"chain", 1}, {"draw", values.rows()}}};
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    std::vector<double> column(values.rows());
    for (std::size_t k = 0; k < column.size(); ++k) column[k] = values(k, i);
    group.variables.push_back({parameters[i], {"chain", "draw"}, std::move(column)});
  }
  return group;
}

/// log_likelihood, sample_stats and prior, as far as they are known.
void add_known_groups(const Draws& draws, const std::vector<std::size_t>& rows, std::size_t chains, Group& root) {
  const std::vector<files::Dimension> dimensions = {{"chain", chains}, {"draw", rows.size() / chains}};
  if (draws.log_likelihood.rows() == draws.values.rows()) {
    Group group{.name = "log_likelihood", .dimensions = dimensions};
    group.dimensions.push_back({"transition", draws.log_likelihood.cols()});
    group.variables.push_back({"transition", {"transition"}, count_to(draws.log_likelihood.cols())});
    group.variables.push_back(
        {"transitions", {"chain", "draw", "transition"}, values_of_rows(draws.log_likelihood, rows)});
    root.groups.push_back(std::move(group));
  }
  if (draws.log_density.size() == draws.values.rows()) {
    Group group{.name = "sample_stats", .dimensions = dimensions};
    std::vector<double> values;
    for (const std::size_t row : rows) values.push_back(draws.log_density[row]);
    group.variables.push_back({"lp", {"chain", "draw"}, std::move(values)});
    root.groups.push_back(std::move(group));
  }
  if (draws.prior.rows() > 0) root.groups.push_back(draws_of_parameters("prior", draws.parameters, draws.prior));
}

const Variable* known_variable(const Group& root, const char* group, const char* name, std::size_t draws) {
  const Group* found = find_group(root, group);
  if (found == nullptr) return nullptr;
  const auto variable = std::ranges::find(found->variables, name, &Variable::name);
  const bool fits = variable != found->variables.end() && holds_draws(*variable) && draws > 0 &&
                    size_of(*variable) % draws == 0 && size_of(*variable) > 0;
  return fits ? &*variable : nullptr;
}

void read_known_groups(const Group& root, Draws& draws) {
  const std::size_t rows = draws.values.rows();
  if (const Variable* found = known_variable(root, "log_likelihood", "transitions", rows)) {
    draws.log_likelihood = Matrix(rows, size_of(*found) / rows);
    std::ranges::copy(numbers_in(*found), draws.log_likelihood.data());
  }
  if (const Variable* found = known_variable(root, "sample_stats", "lp", rows)) {
    if (size_of(*found) == rows) draws.log_density = numbers_in(*found);
  }
  draws.prior = parameters_in(root, "prior", draws.parameters);
}

}  // namespace

std::size_t finite_draws(const Draws& draws) { return finite_rows(draws.values).size(); }

void add_companion_groups(Draws& draws, const PosteriorRequest& request, const Streams& streams,
                          const Parallel& parallel) {
  const prior::TruePrior prior = request.model.true_prior();
  draws.prior = Matrix(draws.values.rows(), draws.values.cols());
  Stream stream = streams.stream("prior");
  std::vector<double> z(draws.values.cols());
  for (std::size_t k = 0; k < draws.prior.rows(); ++k) {
    for (double& value : z) value = stream.normal();
    prior.prior().to_theta(z, draws.prior.row(k));
  }
  if (!request.state.empty()) return;  // the series is not whole
  const std::vector<std::size_t> rows = finite_rows(draws.values);
  const PosteriorSampler& sampler = posterior_samplers().at("sample", request.model.method);
  const compose::ObservedSeries observed = observed_series("sample", request);
  if (sampler.target == nullptr || rows.size() != draws.values.rows() ||
      observed.all_transitions() * rows.size() > most_likelihoods) {
    return;
  }
  draws.log_density = posterior_log_prob(request, draws.values, parallel);
  if (request.model.method == "fnle" && request.companions.empty()) {
    draws.log_likelihood = transition_log_likelihood(request, draws.values, parallel);
  }
}

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
  if (draws.learned.rows() > 0) {
    root.groups.push_back(draws_of_parameters("learned_posterior", draws.parameters, draws.learned));
  }
  add_known_groups(draws, rows, chains, root);
  if (!draws.series.empty()) {
    const std::vector<simulate::SeriesView> series = simulate::views_of(draws.series);
    root.groups.push_back(observed_group(series));
    if (auto constant = constant_group(series)) root.groups.push_back(std::move(*constant));
  }
  if (dropped > 0) root.attributes["dropped_draws"] = dropped;
  return root;
}

void write_draws(const std::filesystem::path& path, const Draws& draws) {
  files::write_netcdf(path, draws_group(draws));
}

files::Variable time_variable(const std::string& name, std::span<const double> times,
                              const std::optional<Calendar>& calendar) {
  std::vector<double> values(times.begin(), times.end());
  if (!calendar) return {name, {name}, std::move(values)};
  for (double& value : values) value = calendar->seconds(value);
  return {name,
          {name},
          std::move(values),
          {{"units", "seconds since 1970-01-01"},
           {"calendar", "proleptic_gregorian"},
           {"catena_calendar", to_json(*calendar).dump()}}};
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
    if (!series[s].times.empty()) {
      observed.variables.push_back(time_variable(time, series[s].times, series[s].calendar));
    }
  }
  return observed;
}

std::optional<files::Group> constant_group(std::span<const simulate::SeriesView> series) {
  if (series.empty() || series.front().covariates.cols == 0) return std::nullopt;
  Group constant{.name = "constant_data"};
  const auto& names = series.front().covariate_names;
  for (std::size_t s = 0; s < series.size(); ++s) {
    const ConstMatrixView rows = series[s].covariates;
    const std::string time = numbered("time", s);
    constant.dimensions.push_back({time, rows.rows});
    if (s == 0) {
      constant.dimensions.push_back({"covariate", rows.cols});
      constant.variables.push_back({"covariate", {"covariate"}, std::vector<std::string>(names.begin(), names.end())});
    }
    std::vector<double> values;
    for (std::size_t r = 0; r < rows.rows; ++r) values.insert(values.end(), rows.row(r).begin(), rows.row(r).end());
    constant.variables.push_back({numbered("covariates", s), {time, "covariate"}, std::move(values)});
    if (!series[s].times.empty()) {
      constant.variables.push_back(time_variable(time, series[s].times, series[s].calendar));
    }
  }
  return constant;
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
  result.learned = parameters_in(root, "learned_posterior", result.parameters);
  read_known_groups(root, result);
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
    if (const Group* constant = find_group(root, "constant_data")) take_covariates(*constant, all.size(), *series);
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
  Matrix values(draws.values.rows(), draws.values.cols()), learned(draws.learned.rows(), draws.learned.cols()),
      prior(draws.prior.rows(), draws.prior.cols());
  std::vector<ChainHealth> health;
  for (std::size_t c = 0; c < parameters.size(); ++c) {
    const auto from =
        static_cast<std::size_t>(std::ranges::find(draws.parameters, parameters[c]) - draws.parameters.begin());
    for (std::size_t r = 0; r < values.rows(); ++r) values(r, c) = draws.values(r, from);
    for (std::size_t r = 0; r < learned.rows(); ++r) learned(r, c) = draws.learned(r, from);
    for (std::size_t r = 0; r < prior.rows(); ++r) prior(r, c) = draws.prior(r, from);
    if (!draws.health.empty()) health.push_back(draws.health[from]);
  }
  draws.parameters = parameters;
  draws.values = std::move(values);
  draws.learned = std::move(learned);
  draws.prior = std::move(prior);
  draws.health = std::move(health);
  return draws;
}

}  // namespace catena::sample
