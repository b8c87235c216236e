// catena simulate: training data of a task or a plug-in, single transitions or whole series, to a netCDF file.

#include <algorithm>
#include <iterator>
#include <memory>

#include "catena/files/csv.h"
#include "catena/model/preset.h"
#include "catena/sample/draws.h"
#include "catena/sample/posteriors/around.h"
#include "catena/simulate/covariates.h"
#include "catena/simulate/proposal.h"
#include "catena/simulate/transitions/transitions.h"
#include "catena/simulate/whole_series/series_simulation.h"
#include "common.h"
#include "observation.h"
#include "task_flags.h"
#include "verb.h"

namespace catena::cli {

namespace {

constexpr std::string_view simulate_function = "catena simulate";

struct SimulateOptions {
  Common common;
  TaskFlags task;
  ChoiceFlags proposal_settings{proposal_flag_names};
  std::string proposal, preset;
  std::vector<std::string> target, covariates;
  std::string gaps, around;
  double widen = 2;
  int block = 1;
  bool initial = false;
  int series = 0;  // transitions of each; 0: single transitions
  bool from_initial = false;
  std::uint64_t budget = 10000;
  double max_invalid = 0.1;
  bool resume = false;
  std::string output, shard;
};

/// --proposal NAME with its flags, or a description in JSON; null = the model's default.
nlohmann::json chosen_proposal(const SimulateOptions& options) {
  if (options.proposal.starts_with('{')) {
    nlohmann::json description = nlohmann::json::parse(options.proposal, nullptr, /*allow_exceptions=*/false);
    check::that(!description.is_discarded(), simulate_function, "--proposal", options.proposal, "a name or JSON");
    static_cast<void>(options.proposal_settings.values(simulate_function, "a proposal in JSON", {}));
    return description;
  }
  if (options.proposal.empty() && (options.preset.empty() || options.initial || options.from_initial)) {
    static_cast<void>(options.proposal_settings.values(simulate_function, "the default proposal", {}));
    return nullptr;
  }
  const std::string name = options.proposal.empty() ? "fixed" : options.proposal;  // a preset's is the paper's
  const simulate::ProposalEntry& entry = simulate::proposals().at(simulate_function, name);
  nlohmann::json description =
      options.proposal_settings.values(simulate_function, fmt::format("the proposal {}", entry.name), entry.settings);
  description["proposal"] = entry.name;
  return description;
}

/// Whole series, in memory: a set of them is small beside what networks make of it.
int simulate_whole_series(const SimulateOptions& options, const tasks::Task& task,
                          const simulate::SimulationPlan& plan) {
  const auto progress = options.common.make_progress();
  const simulate::SeriesSet set =
      simulate::simulate_series_set(task, plan, {static_cast<std::size_t>(options.series), options.from_initial},
                                    options.common.parallel(), *progress);
  if (!options.common.writes()) return success;
  simulate::write_series_set(options.output, set);
  const auto invalid = set.provenance.value("invalid", std::uint64_t{0});
  const auto cost = set.provenance.value("proposal_cost", std::uint64_t{0});
  if (options.common.json) {
    nlohmann::json result = set.provenance;
    result["output"] = options.output;
    result["records"] = set.size();
    print_json(result);
  } else if (!options.common.quiet) {
    fmt::print("{}: {} series of {}, {} transitions each", options.output, set.size(), task.name, options.series);
    if (cost > 0) fmt::print(", {} more for the proposal", cost);
    if (invalid > 0) fmt::print(", {} series dropped because a state was not finite", invalid);
    fmt::print("\n");
  }
  return success;
}

int run_simulate(const SimulateOptions& options) {
  if (!options.preset.empty()) {
    const one_of known(model::preset_names());
    check::that(known.holds(options.preset), simulate_function, "--preset", options.preset, known.text());
  }
  tasks::Task task = chosen_task(simulate_function, options.task);
  if (!options.around.empty()) {
    const sample::Draws draws = sample::in_order_of(task.prior.names(), sample::read_draws(options.around));
    task.prior = sample::fit_around(simulate_function, task.prior, draws.values, options.widen).prior();
  }
  simulate::SimulationPlan plan;
  plan.proposal = chosen_proposal(options);
  if (!options.target.empty() && !(plan.proposal.is_object() && plan.proposal.value("proposal", "") == "target")) {
    throw InputError(fmt::format("{}: --target is given, but only --proposal target uses it", simulate_function));
  }
  std::vector<files::Series> target;
  for (const std::string& file : options.target) {
    std::ranges::move(files::split_series(files::read_csv(file)), std::back_inserter(target));
  }
  const std::vector<std::string>& covariate_names = task.simulator.covariate_names;
  for (files::Series& series : target) {
    if (covariate_names.empty()) break;
    simulate::tell_columns_apart(simulate_function, "--target", task.simulator.state_names, covariate_names, series);
  }
  const std::vector<Matrix> tables = read_covariates(simulate_function, options.covariates, covariate_names);
  const auto dated = [](const files::Series& series) { return series.calendar.has_value(); };
  if (task.simulator.uses_time && std::ranges::any_of(target, dated)) {
    throw InputError(fmt::format("{}: the times of --target are dates, but must be numbers, for {} depends on time",
                                 simulate_function, task.name));
  }
  plan.target = simulate::views_of(target);
  for (const Matrix& table : tables) plan.covariates.push_back(table);
  plan.records.block = static_cast<std::size_t>(options.block);
  plan.records.initial = options.initial;
  plan.records.varying_steps = !options.gaps.empty();
  if (!options.gaps.empty()) plan.records.steps = simulate::parse_steps(simulate_function, "--gaps", options.gaps);
  plan.budget = options.budget;
  plan.seed = options.common.seed;
  plan.max_invalid = options.max_invalid;
  plan.options = task.options;
  if (options.series > 0) return simulate_whole_series(options, task, plan);
  if (!options.shard.empty()) plan.shard = Shard::parse(simulate_function, "--shard", options.shard);
  const std::string output = plan.shard.name(options.output).string();
  const auto progress = options.common.make_progress();
  const simulate::SimulationInfo info =
      simulate::simulate_to_file(output, task, plan, options.common.parallel(), *progress, options.resume);
  if (!options.common.writes()) return success;
  if (info.failed_blocks > 0 && !options.common.quiet) {
    fmt::print(stderr,
               "{}: the simulator failed for {} blocks of transitions, which are left out; the first time: {}\n",
               simulate_function, info.failed_blocks, info.first_failure);
  }
  if (options.common.json) {
    nlohmann::json result = info.provenance;
    result["output"] = output;
    result["transitions"] = info.rows;
    result["resumed_transitions"] = info.resumed_rows;
    if (info.failed_blocks > 0) result["failed_blocks"] = info.failed_blocks;
    if (!plan.shard.whole()) result["shard"] = plan.shard.text();
    print_json(result);
  } else if (!options.common.quiet) {
    const nlohmann::json inner = info.provenance.value("inner_steps", nlohmann::json());
    if (inner.is_null()) {
      fmt::print("{}: {} transitions of {}", output, info.rows, task.name);
    } else {
      fmt::print("{}: {} records of {}, made by {} steps", output, info.rows, task.name, inner.get<std::uint64_t>());
    }
    if (info.proposal_cost > 0) fmt::print(", {} more for the proposal", info.proposal_cost);
    if (info.invalid > 0) fmt::print(", {} dropped because their result was not finite", info.invalid);
    fmt::print("\n");
  }
  return success;
}

Run set_up_simulate(CLI::App& app) {
  const auto options = std::make_shared<SimulateOptions>();
  add_task_flags(app, options->task, /*with_plugin=*/true);
  add_flag(app, options->budget, "--budget",
           "transitions to simulate in all, inner steps and what the proposal costs included", anything());
  app.add_option("-o,--output", options->output, "netCDF file to write")->required()->type_name("FILE");
  app.add_option(
         "--proposal", options->proposal,
         fmt::format(
             "where transitions start: {}, or JSON (default: states that the task's series reach, and some far away)",
             fmt::join(simulate::proposals().names(), ", ")))
      ->type_name("NAME");
  app.add_option("--preset", options->preset,
                 fmt::format("whose recipe to follow: {} (its proposal is fixed, which --proposal replaces)",
                             fmt::join(model::preset_names(), ", ")))
      ->type_name("NAME");
  app.add_option("--target", options->target, "CSV series for the target proposal")->type_name("FILE");
  app.add_option("--covariates", options->covariates,
                 "CSV tables of a simulator's covariates, to draw from (default: those of --target, or the task's own)")
      ->type_name("FILE");
  app.add_option("--gaps", options->gaps,
                 "steps that transitions take, LOW..HIGH: for missing states and irregular times")
      ->type_name("RANGE");
  add_flag(app, options->block, "--block", "transitions in a row that make one record", between(1, 100000));
  app.add_option("--around", options->around,
                 "draws of a posterior (netCDF or CSV): theta is drawn from a normal around each of their modes and "
                 "not from the prior")
      ->type_name("FILE");
  add_flag(app, options->widen, "--widen", "its standard deviations, in those of the draws", positive());
  app.add_flag("--initial", options->initial, "initial states in place of transitions, where they depend on theta");
  add_flag(app, options->series, "--series",
           "whole series of so many transitions in a row with one theta each, for npe (0: single transitions)",
           between(0, 100000));
  app.add_flag("--from-initial", options->from_initial,
               "with --series: they start from the task's initial states and not from the proposal");
  add_flag(app, options->max_invalid, "--max-invalid", "largest share of non-finite results that is not an error",
           between(0.0, 1.0));
  app.add_flag("--resume", options->resume, "go on with OUTPUT.partial of an interrupted run of the same settings");
  app.add_option("--shard", options->shard,
                 "one of n parts, 3/16, to a file of its own (OUTPUT.3-of-16.nc); catena merge puts them together")
      ->type_name("I/N");
  add_rank_flags(app);
  for (const simulate::ProposalEntry& entry : simulate::proposals()) {
    options->proposal_settings.add(entry.name, entry.settings);
  }
  options->proposal_settings.declare(app, "Proposal options");
  add_common(app, options->common, Seeded::yes);
  return [options, &app] {
    if (app.get_option("--widen")->count() > 0 && options->around.empty()) {
      throw InputError(fmt::format("{}: --widen is given, but only --around uses it", simulate_function));
    }
    if (options->series == 0 && options->from_initial) {
      throw InputError(fmt::format("{}: --from-initial is given, but only --series uses it", simulate_function));
    }
    for (const char* flag : {"--gaps", "--block", "--initial", "--resume", "--shard"}) {
      if (options->series == 0 || app.get_option(flag)->count() == 0) continue;
      throw InputError(fmt::format("{}: {} is given, but --series makes no use of it", simulate_function, flag));
    }
    return run_simulate(*options);
  };
}

}  // namespace

Verb simulate_verb() {
  return {"simulate", "simulate training data: transitions, or whole series", set_up_simulate, /*on_ranks=*/true};
}

}  // namespace catena::cli
