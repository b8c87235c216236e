#include "catena/report/results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "catena/core/check.h"
#include "catena/core/quantile.h"
#include "catena/files/json.h"
#include "catena/files/netcdf/netcdf.h"
#include "catena/files/safetensors.h"
#include "catena/report/summary.h"
#include "catena/sample/draws.h"
#include "catena/simulate/covariates.h"
#include "catena/simulate/dates.h"

namespace catena::report {

namespace {

using files::Group;
using files::Variable;
using nlohmann::json;
using std::filesystem::path;

constexpr std::string_view results_function = "catena report";
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

const Group* find_group(const Group& root, std::string_view name) {
  const auto found = std::ranges::find(root.groups, name, &Group::name);
  return found == root.groups.end() ? nullptr : &*found;
}

const Variable* find_variable(const Group& group, std::string_view name) {
  const auto found = std::ranges::find(group.variables, name, &Variable::name);
  return found == group.variables.end() ? nullptr : &*found;
}

std::vector<double> numbers(const Variable& variable) {
  return std::visit(
      [](const auto& values) {
        std::vector<double> result;
        if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(values)>, std::vector<std::string>>) {
          for (const auto v : values) result.push_back(static_cast<double>(v));
        }
        return result;
      },
      variable.values);
}

/// Attributes that hold JSON are shown as what they hold.
json record_of(const files::Attributes& attributes) {
  json record = json::object();
  for (const auto& [key, value] : attributes) {
    if (value.is_string() && value.get_ref<const std::string&>().starts_with('{')) {
      json parsed = json::parse(value.get_ref<const std::string&>(), nullptr, /*allow_exceptions=*/false);
      record[key] = parsed.is_discarded() ? value : parsed;
    } else {
      record[key] = value;
    }
  }
  return record;
}

/// What the writer of the file measured; otherwise computed from the chains, which must then be whole, and of 20 draws
/// or more: shorter ones tell nothing.
std::vector<sample::ChainHealth> health_of(const sample::Draws& draws) {
  if (!draws.health.empty()) return draws.health;
  const std::size_t length = draws.chains == 0 ? 0 : draws.values.rows() / draws.chains;
  const auto finite = [](double v) { return std::isfinite(v); };
  if (length < 20 || draws.dropped > 0 || !std::ranges::all_of(draws.values.values(), finite)) return {};
  std::vector<sample::ChainHealth> computed;
  for (std::size_t p = 0; p < draws.values.cols(); ++p) {
    Matrix chain(draws.chains, length);
    for (std::size_t k = 0; k < draws.chains * length; ++k) chain(k / length, k % length) = draws.values(k, p);
    computed.push_back(sample::chain_health(chain));
  }
  return computed;
}

std::optional<Outcome> outcome_of(const files::Attributes& attributes) {
  const auto found = attributes.find("outcome");
  if (found == attributes.end() || !found->second.is_string()) return std::nullopt;
  return outcome_named(found->second.get_ref<const std::string&>());
}

/// The findings of the draws' own judgement, with their advice; none in files that do not have them.
std::vector<std::string> findings_of(const files::Attributes& attributes) {
  const auto info = attributes.find("info");
  if (info == attributes.end() || !info->second.is_string()) return {};
  const json parsed = json::parse(info->second.get_ref<const std::string&>(), nullptr, false);
  const json list = parsed.is_object() ? parsed.value("findings", json::array()) : json::array();
  std::vector<std::string> sentences;
  for (const json& one : list.is_array() ? list : json::array()) {
    if (!one.is_object()) continue;
    const auto text = [&one](const char* key) {
      const auto found = one.find(key);
      return found != one.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    sentences.push_back(fmt::format("{}: {}; {}", text("outcome"), text("sentence"), text("advice")));
  }
  return sentences;
}

DrawSet draw_set(const path& file, sample::Draws draws) {
  DrawSet set;
  set.chains = draws.chains;
  set.health = health_of(draws);
  set.outcome = outcome_of(draws.record);
  set.findings = findings_of(draws.record);
  std::vector<std::size_t> kept;
  for (std::size_t r = 0; r < draws.values.rows(); ++r) {
    if (std::ranges::all_of(draws.values.row(r), [](double v) { return std::isfinite(v); })) kept.push_back(r);
  }
  set.dropped = draws.dropped + draws.values.rows() - kept.size();
  check::that(kept.size() >= 2, results_function, fmt::format("the number of finite draws in {}", file.string()),
              kept.size(), "at least 2");
  set.parameters = std::move(draws.parameters);
  set.values = Matrix(kept.size(), draws.values.cols());
  for (std::size_t k = 0; k < kept.size(); ++k) {
    std::ranges::copy(draws.values.row(kept[k]), set.values.row(k).begin());
  }
  return set;
}

/// How the series were read, if the file says so.
simulate::PathSettings paths_of(const json& record) {
  const auto found = record.find("paths");
  if (found == record.end() || !found->is_object()) return {};
  return from_json<simulate::PathSettings>(results_function, *found);
}

/// A variable over (chain, draw, time, state) of ArviZ's group `posterior_predictive` or `predictions`.
std::optional<Predictive> predictive_in(const Group& root, const char* in, std::string_view name, double interval) {
  const Group* group = find_group(root, in);
  const Variable* variable = group == nullptr ? nullptr : find_variable(*group, name);
  if (variable == nullptr || variable->dimensions.size() != 4) return std::nullopt;
  const std::size_t rows = group->dimension(variable->dimensions[2]), cols = group->dimension(variable->dimensions[3]);
  const std::vector<double> values = numbers(*variable);
  if (rows * cols == 0 || values.empty() || values.size() % (rows * cols) != 0) return std::nullopt;
  const std::size_t draws = values.size() / (rows * cols);
  Predictive result{Matrix(rows, cols), Matrix(rows, cols), Matrix(rows, cols)};
  std::vector<double> column;
  for (std::size_t cell = 0; cell < rows * cols; ++cell) {
    column.clear();
    for (std::size_t k = 0; k < draws; ++k) {
      const double v = values[k * rows * cols + cell];
      if (std::isfinite(v)) column.push_back(v);
    }
    const auto quantile = [&](double q) { return column.empty() ? nan : catena::quantile(column, q); };
    result.low.values()[cell] = quantile((1 - interval) / 2);
    result.median.values()[cell] = quantile(0.5);
    result.high.values()[cell] = quantile((1 + interval) / 2);
  }
  result.times = sample::times_in(*group, variable->dimensions[2]).times;
  return result;
}

/// `rank` (parameter, series) with the attribute `draws`: each true value's rank among that many draws.
Calibration read_calibration(const path& file, const Group& root) {
  const Variable& rank = root.variable("rank");
  const auto draws = rank.attributes.find("draws");
  const std::string name = fmt::format("the variable `rank` of {}", file.string());
  check::that(rank.dimensions.size() == 2, results_function, name,
              fmt::format("of {} dimensions", rank.dimensions.size()), "of the dimensions (parameter, series)");
  check::that(draws != rank.attributes.end() && draws->second.is_number_integer() && draws->second > 0,
              results_function, name, "without the attribute `draws`", "with it: the number of draws per series");
  const std::size_t parameters = root.dimension(rank.dimensions[0]), series = root.dimension(rank.dimensions[1]);
  const std::vector<double> values = numbers(rank);
  check::that(values.size() == parameters * series && series >= 5, results_function, name,
              fmt::format("for {} series", series), "for 5 series or more");
  const auto most = draws->second.get<std::size_t>();
  Calibration result;
  const Variable* names = find_variable(root, rank.dimensions[0]);
  const auto* texts = names == nullptr ? nullptr : std::get_if<std::vector<std::string>>(&names->values);
  for (std::size_t p = 0; p < parameters; ++p) {
    result.parameters.push_back(texts != nullptr ? (*texts)[p] : fmt::format("{}", p));
    evaluate::Ranks ranks{most, {}};
    for (std::size_t s = 0; s < series; ++s) {
      const double value = values[p * series + s];
      check::that(value >= 0 && value <= static_cast<double>(most), results_function,
                  fmt::format("a rank in {}", file.string()), value, fmt::format("between 0 and {}", most));
      ranks.values.push_back(static_cast<std::size_t>(value));
    }
    result.ranks.push_back(std::move(ranks));
  }
  return result;
}

/// The curve of the model's main network (model/trained_model.h). Lists that are missing or no lists stay empty; a
/// model without a learning curve has none.
std::optional<model::LearningCurve> learning_curve_in(const json& metadata) {
  if (!metadata.is_object() || !metadata.value("main_network", json()).is_string()) return std::nullopt;
  const json networks = metadata.value("networks", json::object());
  if (!networks.is_object()) return std::nullopt;
  const auto network = networks.find(metadata.at("main_network").get<std::string>());
  if (network == networks.end() || !network->is_object()) return std::nullopt;
  const auto found = network->find("learning_curve");
  if (found == network->end() || !found->is_object()) return std::nullopt;
  model::LearningCurve curve = model::curve_from(*found);
  for (auto* values : {&curve.train_loss, &curve.held_out_loss, &curve.seconds}) {
    if (!values->empty()) values->resize(curve.step.size(), nan);
  }
  const bool drawable = curve.step.size() >= 2 && !(curve.train_loss.empty() && curve.held_out_loss.empty());
  return drawable ? std::optional(curve) : std::nullopt;
}

/// True values by parameter, as `catena observe` writes them.
struct Truth {
  std::vector<std::string> parameters;
  std::vector<double> theta;
};

std::optional<Truth> truth_in(const json& record) {
  if (!record.is_object() || !record.contains("parameters") || !record.contains("theta")) return std::nullopt;
  const json &names = record.at("parameters"), &values = record.at("theta");
  if (!names.is_array() || !values.is_array() || names.size() != values.size()) return std::nullopt;
  Truth truth;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i].is_string() || !values[i].is_number()) return std::nullopt;
    truth.parameters.push_back(names[i].get<std::string>());
    truth.theta.push_back(values[i].get<double>());
  }
  return truth;
}

/// Beyond what a CSV file rounds; what is missing in both is the same.
bool differ(const Matrix& a, const Matrix& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return true;
  return !std::ranges::equal(a.values(), b.values(), [](double x, double y) {
    return std::isnan(x) ? std::isnan(y) : std::abs(x - y) <= 1e-6 * std::max(std::abs(x), std::abs(y));
  });
}

/// Reads one file after the other; the parts that depend on each other are put together at the end.
class Reader {
 public:
  explicit Reader(const Style& style) { results_.style = style; }

  void read(const path& file) {
    const std::string extension = file.extension().string();
    if (extension == ".safetensors") {
      read_model(file);
    } else if (extension == ".csv" || extension == ".tsv" || extension == ".txt") {
      read_series(file);
    } else if (extension == ".json") {
      take_truth(file, /*must_hold=*/true);
    } else {
      read_netcdf(file);
    }
  }

  Results finish() {
    check_model();
    tell_columns_apart();
    number_dates();
    if (results_.posterior && truth_) {
      const std::vector<std::string>& parameters = results_.posterior->parameters;
      std::vector<double> values(parameters.size(), nan);
      bool known = false;
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        const auto found = std::ranges::find(truth_->parameters, parameters[i]);
        if (found == truth_->parameters.end()) continue;
        values[i] = truth_->theta[static_cast<std::size_t>(found - truth_->parameters.begin())];
        known = true;
      }
      if (known) results_.truth = std::move(values);
    }
    if (results_.observed && observed_beside_draws_) {
      results_.other_series = differ(results_.observed->values, observed_beside_draws_->values);
      if (results_.other_series) results_.more_series.clear();
    }
    if (!results_.observed) results_.observed = std::move(observed_beside_draws_);
    return std::move(results_);
  }

 private:
  /// A model and draws belong together if they are of the same parameters and of the same simulator.
  void check_model() const {
    if (!results_.posterior || !model_metadata_.is_object()) return;
    const auto found = std::ranges::find(results_.sources, "posterior", &Source::kind);
    const auto simulator = [](const json& record) -> std::string {
      const json transitions = record.is_object() ? record.value("transitions", json()) : json();
      const json name = transitions.is_object() ? transitions.value("model", json()) : json();
      return name.is_string() ? name.get<std::string>() : "";
    };
    const std::string of_model = simulator(model_metadata_), of_draws = simulator(found->record);
    if (!of_model.empty() && !of_draws.empty()) {
      check::that(of_model == of_draws, results_function, fmt::format("the simulator of {}", results_.model.string()),
                  of_model, fmt::format("that of the draws in {}, {}", found->file, of_draws));
    }
    const json prior = model_metadata_.value("prior", json());
    const json factors = prior.is_object() ? prior.value("factors", json()) : json();
    if (!factors.is_array() || results_.posterior->parameters.empty()) return;
    std::vector<std::string> wanted = results_.posterior->parameters, has;
    for (const json& factor : factors) {
      const json names = factor.is_object() ? factor.value("names", json()) : json();
      if (!names.is_array()) return;
      for (const json& name : names) has.push_back(name.is_string() ? name.get<std::string>() : "");
    }
    check::that(std::ranges::is_permutation(has, wanted), results_function,
                fmt::format("the list of parameters of {}", results_.model.string()),
                fmt::format("{}", fmt::join(has, ", ")),
                fmt::format("that of the draws in {}, {}", found->file, fmt::join(wanted, ", ")));
  }

  /// A series that was read from a table has its covariates among its columns: the draws' series or the model has their
  /// names.
  void tell_columns_apart() {
    if (!results_.observed || results_.observed->names.empty()) return;
    const json model = model_metadata_.is_object() ? model_metadata_ : json::object();
    auto states = model.value("state_names", std::vector<std::string>());
    auto covariates = model.value("covariate_names", std::vector<std::string>());
    if (observed_beside_draws_ && !observed_beside_draws_->covariate_names.empty()) {
      states = observed_beside_draws_->names;
      covariates = observed_beside_draws_->covariate_names;
    }
    if (covariates.empty()) return;
    simulate::tell_columns_apart(results_function, "the series", states, covariates, *results_.observed);
  }

  /// A series that was read from a table has its dates in seconds: on the scale of the draws, if that is known.
  void number_dates() {
    if (!results_.observed || !results_.observed->calendar) return;
    std::vector<files::Series> one{std::move(*results_.observed)};
    if (observed_beside_draws_ && observed_beside_draws_->calendar) {
      for (double& time : one[0].times) time = observed_beside_draws_->calendar->number(one[0].calendar->seconds(time));
      one[0].calendar = observed_beside_draws_->calendar;
    } else {
      simulate::number_dates(results_function, one, results_.paths, false);
    }
    results_.observed = std::move(one.front());
  }

  void add(const path& file, std::string kind, json record) {
    results_.sources.push_back({file.filename().string(), std::move(kind), std::move(record)});
  }

  void read_model(const path& file) {
    files::TensorFile model = files::read_safetensors(file);
    results_.model = file;
    model_metadata_ = model.metadata;
    results_.learning_curve = learning_curve_in(model.metadata);
    json record = json::object();  // what a reader asks for; curves and ranges would fill pages
    for (const char* key :
         {"catena_version", "method", "settings", "training", "seed", "covariate_names", "transitions", "notes"}) {
      if (model.metadata.is_object() && model.metadata.contains(key)) record[key] = model.metadata.at(key);
    }
    add(file, "model", std::move(record));
  }

  void read_series(const path& file) {
    check::that(!results_.observed, results_function, "a second series", file.string(),
                "left out: a report is about one");
    results_.observed = files::read_csv(file);
    add(file, "series", {{"times", results_.observed->values.rows()}, {"states", results_.observed->values.cols()}});
    path beside = file;
    beside.replace_extension(".json");
    if (!truth_ && std::filesystem::is_regular_file(beside)) take_truth(beside, /*must_hold=*/false);
  }

  void take_truth(const path& file, bool must_hold) {
    json record;
    try {
      record = files::read_json(file);
    } catch (const FileError&) {
      if (must_hold) throw;
      return;
    }
    std::optional<Truth> truth = truth_in(record);
    if (!truth) {
      check::that(!must_hold, results_function, file.string(), "without the lists `parameters` and `theta`",
                  "a file of true values as `catena observe` writes it");
      return;
    }
    truth_ = std::move(truth);
    add(file, "true values", std::move(record));
  }

  /// A report shows one series, the first, and says how many it does not show.
  void take_observed(std::vector<files::Series> series) {
    if (observed_beside_draws_ || series.empty()) return;
    observed_beside_draws_ = std::move(series.front());
    results_.more_series.assign(std::move_iterator(series.begin() + 1), std::move_iterator(series.end()));
  }

  void take_predictive(const Group& root) {
    const double interval = results_.style.interval;
    const char* predictive = "posterior_predictive";
    if (auto run = predictive_in(root, predictive, "series", interval)) results_.predictive = std::move(run);
    if (auto ahead = predictive_in(root, predictive, "one_step", interval)) results_.one_step = std::move(ahead);
    if (auto beyond = predictive_in(root, "predictions", "series", interval)) results_.forecast = std::move(beyond);
  }

  void read_netcdf(const path& file) {
    const Group root = files::read_netcdf(file);
    if (find_group(root, "posterior") != nullptr) {
      check::that(!results_.reference, results_function, "a third file of draws", file.string(),
                  "left out: the first is the posterior, the second the reference");
      sample::Draws draws = sample::draws_in(root, file.string());
      const bool first = !results_.posterior;
      const json record = record_of(root.attributes);
      take_observed(draws.series);
      if (first) {
        results_.correction = correction_of(record, draws.parameters, draws.learned);
        results_.prior = std::move(draws.prior);
        results_.posterior = draw_set(file, std::move(draws));
        results_.paths = paths_of(record);
        take_predictive(root);
      } else {
        results_.reference = draw_set(file, sample::in_order_of(results_.posterior->parameters, std::move(draws)));
      }
      add(file, first ? "posterior" : "reference", record);
    } else if (find_group(root, "posterior_predictive") != nullptr) {
      take_predictive(root);
      take_observed(sample::observed_in(root));
      add(file, "predictive", record_of(root.attributes));
    } else if (find_variable(root, "rank") != nullptr) {
      results_.calibration = read_calibration(file, root);
      add(file, "calibration", record_of(root.attributes));
    } else {
      check::fail(results_function, file.string(),
                  "a netCDF file with neither a group `posterior` or `posterior_predictive` nor a "
                  "variable `rank`",
                  "draws, predictive series or a calibration");
    }
  }

  Results results_;
  json model_metadata_;
  std::optional<Truth> truth_;
  std::optional<files::Series> observed_beside_draws_;
};

}  // namespace

void apply_labels(Results& results) {
  for (const auto& [name, label] : results.style.labels) {
    std::size_t found = 0;
    const auto rename = [&name = name, &label = label, &found](std::vector<std::string>& names) {
      for (std::string& each : names) {
        if (each != name) continue;
        each = label;
        ++found;
      }
    };
    std::vector<std::string> known;
    if (results.posterior) {
      known = results.posterior->parameters;
      rename(results.posterior->parameters);
    }
    if (results.reference) rename(results.reference->parameters);
    if (results.information) rename(results.information->parameters);
    if (results.calibration) rename(results.calibration->parameters);
    if (results.correction) {
      for (CertifiedParameter& each : results.correction->parameters) each.name = each.name == name ? label : each.name;
    }
    if (results.observed) {
      known.insert(known.end(), results.observed->names.begin(), results.observed->names.end());
      rename(results.observed->names);
      std::vector<std::string>& covariates = results.observed->covariate_names;
      known.insert(known.end(), covariates.begin(), covariates.end());
      rename(covariates);
    }
    check::that(found > 0, results_function, "the name of a label", name,
                fmt::format("that of a parameter or a state, {}", fmt::join(known, ", ")));
  }
}

Results read_results(const std::vector<path>& files, const Style& style) {
  check::at_least(results_function, "the number of files", files.size(), std::size_t{1});
  check::that(style.interval > 0 && style.interval < 1, results_function, "the interval", style.interval,
              "between 0 and 1");
  Reader reader(style);
  for (const path& file : files) reader.read(file);
  return reader.finish();
}

std::string task_name(const Results& results) {
  for (const Source& source : results.sources) {
    for (const json* record :
         {&source.record, source.record.contains("request") ? &source.record["request"] : nullptr}) {
      if (record == nullptr || !record->is_object()) continue;
      const auto found = record->find("task");
      if (found != record->end() && found->is_string()) return found->get<std::string>();
    }
  }
  return "";
}

}  // namespace catena::report
