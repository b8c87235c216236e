// catena experiment benchmark … -o results/: a sweep over tasks, methods, budgets, lengths and seeds, resumable.
// catena experiment show results/: its table beside the paper's numbers, as a page and as figures.
// catena experiment paper: the paper's figures (experiment/paper.cpp).
// catena experiment decompose: the error that composition and sampling make with exact local scores.

#include "catena/experiment/benchmark.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <sstream>

#include "catena/experiment/decompose.h"
#include "catena/experiment/figures/figure.h"
#include "catena/experiment/figures/state.h"
#include "catena/experiment/results/figures.h"
#include "catena/experiment/results/page.h"
#include "catena/experiment/summary.h"
#include "catena/files/json.h"
#include "catena/tasks/likelihood.h"
#include "catena/tasks/task.h"
#include "catena/train/method.h"
#include "common.h"
#include "experiment/paper.h"
#include "figure_files.h"
#include "ranks.h"
#include "verb.h"

namespace catena::cli {

namespace {

constexpr std::string_view experiment_function = "catena experiment";

std::vector<std::string> items(const std::string& list) {
  std::vector<std::string> result;
  std::istringstream stream(list);
  for (std::string item; std::getline(stream, item, ',');) result.push_back(item);
  return result;
}

template <class T>
std::vector<T> numbers(const char* flag, const std::string& list) {
  std::vector<T> result;
  for (const std::string& item : items(list)) {
    result.push_back(static_cast<T>(parse_unsigned(experiment_function, flag, item, std::uint64_t{1} << 53)));
  }
  return result;
}

struct BenchmarkOptions {
  Common common;
  std::string sweep, tasks = "all", methods = train::default_method, budgets = "10000", transitions = "1,10,100",
                     output;
  int observations = 10, seeds = 1;
  std::string shard;
  bool retry_failed = false;
  double time_limit = 0;
};

experiment::Sweep sweep_of(const BenchmarkOptions& options) {
  if (!options.sweep.empty()) {
    return experiment::Sweep::from_json(options.sweep, files::read_json(options.sweep));
  }
  nlohmann::json json = {{"budgets", numbers<std::uint64_t>("--budgets", options.budgets)},
                         {"transitions", numbers<std::size_t>("--transitions", options.transitions)},
                         {"observations", options.observations}};
  for (int seed = 1; seed <= options.seeds; ++seed) json["seeds"].push_back(seed);
  if (options.tasks == "all") {
    for (const tasks::TaskEntry& entry : tasks::registry()) {
      if (tasks::has_likelihood(entry.name)) json["tasks"].push_back({{"name", entry.name}});
    }
  } else {
    for (const std::string& name : items(options.tasks)) json["tasks"].push_back({{"name", name}});
  }
  for (const std::string& name : options.methods == "all" ? train::methods().names() : items(options.methods)) {
    json["methods"].push_back({{"method", name}});
  }
  return experiment::Sweep::from_json(std::string(experiment_function), json);
}

int run_benchmark(const BenchmarkOptions& options) {
  const experiment::Sweep sweep = sweep_of(options);
  const auto progress = options.common.make_progress();
  experiment::SweepRun run;
  if (options.retry_failed) run.failed = experiment::FailedRows::retry;
  if (!options.shard.empty()) run.shard = Shard::parse(experiment_function, "--shard", options.shard);
  if (options.time_limit > 0) run.time_limit = 60 * options.time_limit;
  const Shard& shard = run.shard;
  const auto [failed, left] = experiment::run_sweep(sweep, options.output, run, options.common.parallel(), *progress);
  if (!options.common.writes()) return success;
  if (options.common.json) {
    print_json({{"output", options.output}, {"failed", failed}, {"left", left}, {"sweep", sweep.to_json()}});
  } else if (!options.common.quiet) {
    if (left > 0) {
      fmt::print("{}: {} rows are left for another time; the same command goes on with them\n", options.output, left);
    } else if (shard.whole()) {
      fmt::print("{}: done; catena experiment show {} prints its table\n", options.output, options.output);
    } else {
      fmt::print("{}: shard {} is done; catena merge {} puts all of them together\n", options.output, shard.text(),
                 options.output);
    }
  }
  if (failed == 0) return success;
  fmt::print(
      stderr,
      "{}: {} of the sweep's rows failed; the column error of rows.csv says why, --retry-failed runs them again\n",
      experiment_function, failed);
  return not_achieved;
}

struct ShowOptions {
  Common common;
  std::string directory, metric, page, figures, sweeps = "benchmarks/sweeps", format = "svg";
};

/// The paper's figures, each with its words for the page; without rows of any, what there is against T and the budget.
std::vector<experiment::PageFigure> draw_figures(const ShowOptions& options, const std::vector<experiment::Row>& rows) {
  const FigureFiles files{experiment_function, options.format};
  std::vector<experiment::PageFigure> drawn;
  for (const experiment::PaperFigure& figure : experiment::paper_figures()) {
    const std::vector<report::DrawnFigure> pictures = figure.draw(rows);
    if (pictures.empty()) continue;
    std::string rows_of_it;
    if (std::filesystem::is_directory(options.sweeps)) {
      const auto state = experiment::state_of(experiment::sweeps_of(figure, options.sweeps), rows, options.directory,
                                              options.common.parallel());
      rows_of_it = fmt::format(" ({})", experiment::in_words(state));
    }
    drawn.push_back({fmt::format("Figure {}: {}", figure.name, figure.title),
                     fmt::format("{} {}\n\n`catena experiment paper --figure {}`{}.", figure.shows,
                                 figure.finding(rows), figure.name, rows_of_it),
                     write_figures(files, pictures, options.figures)});
  }
  if (drawn.empty()) {
    drawn.push_back({"", "", write_figures(files, experiment::results_figures(rows), options.figures)});
  }
  return drawn;
}

int run_show(const ShowOptions& options) {
  const auto rows = experiment::read_rows(std::filesystem::path(options.directory) / "rows.csv");
  std::vector<std::string> metrics = items(options.metric);
  std::vector<experiment::PageFigure> figures;
  if (!options.figures.empty()) figures = draw_figures(options, rows);
  if (!options.page.empty()) experiment::write_results_page(options.page, rows, options.directory, figures);
  if (options.common.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const std::string& metric : metrics) {
      for (const experiment::Cell& cell : experiment::summarise(rows, metric)) {
        list.push_back({{"task", cell.task},
                        {"method", cell.method},
                        {"budget", cell.budget},
                        {"transitions", cell.transitions},
                        {"metric", cell.metric},
                        {"mean", cell.rows > 0 ? nlohmann::json(cell.mean) : nlohmann::json()},
                        {"se", cell.rows > 0 ? nlohmann::json(cell.standard_error) : nlohmann::json()},
                        {"n", cell.rows},
                        {"failed", cell.failed},
                        {"paper", cell.paper ? nlohmann::json(*cell.paper) : nlohmann::json()}});
      }
    }
    print_json(list);
    return success;
  }
  for (const std::string& metric : metrics) {
    const std::vector<experiment::Cell> cells = experiment::summarise(rows, metric);
    std::size_t width = 14, wide = 8;
    for (const experiment::Cell& cell : cells) {
      width = std::max(width, cell.task.size());
      wide = std::max(wide, cell.method.size());
    }
    fmt::print("{:<{}} {:<{}} {:>7} {:>6}  {:>6} {:>6} {:>4} {:>6}\n", "task", width, "method", wide, "budget", "T",
               metric, "±", "n", "paper");
    for (const experiment::Cell& cell : cells) {
      fmt::print("{:<{}} {:<{}} {:>7} {:>6}  {:>6.3f} {:>6.3f} {:>4} {:>6}{}{}\n", cell.task, width, cell.method, wide,
                 cell.budget, cell.transitions, cell.mean, cell.standard_error, cell.rows,
                 cell.paper ? fmt::format("{:.2f}", *cell.paper) : "",
                 cell.paper && cell.mean > *cell.paper + 0.005 ? "  above" : "",
                 cell.failed > 0 ? fmt::format("  {} failed", cell.failed) : "");
    }
  }
  return success;
}

struct DecomposeOptions {
  Common common;
  std::string tasks = "gaussian_rw,mixture_rw", rules = "gauss,jac", transitions = "1,10,100";
  int observations = 3;
};

int run_decompose(const DecomposeOptions& options) {
  experiment::Decomposition plan;
  plan.tasks = items(options.tasks);
  plan.rules = items(options.rules);
  plan.transitions = numbers<std::size_t>("--transitions", options.transitions);
  plan.observations = static_cast<std::size_t>(options.observations);
  const auto progress = options.common.make_progress();
  const auto cells = experiment::decompose(plan, options.common.parallel(), *progress);
  nlohmann::json list = nlohmann::json::array();
  if (!options.common.json) {
    fmt::print("| task | rule | T | sampler | evaluations | c2st |\n|---|---|---|---|---|---|\n");
  }
  for (const experiment::DecomposedCell& cell : cells) {
    list.push_back({{"task", cell.task},
                    {"rule", cell.rule},
                    {"transitions", cell.transitions},
                    {"sampler", cell.sampler},
                    {"evaluations", cell.evaluations},
                    {"c2st", cell.c2st},
                    {"se", cell.standard_error}});
    if (options.common.json) continue;
    fmt::print("| {} | {} | {} | {} | {} | {:.3f} ± {:.3f} |\n", cell.task, cell.rule, cell.transitions,
               cell.sampler.at("sampler").get<std::string>(), cell.evaluations, cell.c2st, cell.standard_error);
  }
  if (options.common.json) print_json(list);
  return success;
}

Run set_up_experiment(CLI::App& app) {
  app.require_subcommand(1);
  CLI::App& benchmark =
      *app.add_subcommand("benchmark", "train, sample and compare over a sweep; goes on where it was");
  const auto options = std::make_shared<BenchmarkOptions>();
  benchmark.add_option("--sweep", options->sweep, "the sweep as a JSON file, instead of the flags below")
      ->type_name("FILE");
  benchmark.add_option("--tasks", options->tasks, "names with commas between them, or all")->capture_default_str();
  benchmark.add_option("--methods", options->methods, "names with commas between them, or all")->capture_default_str();
  benchmark.add_option("--budgets", options->budgets, "numbers with commas between them")->capture_default_str();
  benchmark.add_option("--transitions", options->transitions, "numbers with commas between them")
      ->capture_default_str();
  add_flag(benchmark, options->observations, "--observations", "series per task and length", at_least(1));
  add_flag(benchmark, options->seeds, "--seeds", "repetitions with other transitions and weights", at_least(1));
  add_flag(benchmark, options->time_limit, "--time-limit",
           "minutes: what says most comes first, and no row begins that would end later (0: none)", not_negative());
  benchmark.add_flag("--retry-failed", options->retry_failed, "run the rows again that failed before");
  benchmark
      .add_option("--shard", options->shard,
                  "one of n parts of the rows, 3/16, to a table of its own; catena merge puts them together")
      ->type_name("I/N");
  benchmark.add_option("-o,--output", options->output, "directory of the results")->required()->type_name("DIRECTORY");
  add_rank_flags(benchmark);
  add_common(benchmark, options->common, Seeded::no);

  CLI::App& show = *app.add_subcommand("show", "print the table of a directory of results beside the paper's numbers");
  const auto shown = std::make_shared<ShowOptions>();
  shown->metric = "c2st";
  show.add_option("results", shown->directory, "directory of the results")->required()->type_name("DIRECTORY");
  show.add_option("--metric", shown->metric, "names with commas between them")->capture_default_str();
  show.add_option("--page", shown->page, "also write the results as a Markdown page")->type_name("FILE");
  show.add_option("--figures", shown->figures, "also draw the results, one file per figure in this directory")
      ->type_name("DIRECTORY");
  show.add_option("--sweeps", shown->sweeps,
                  "where the sweeps of the paper's figures are, to say what is missing of them")
      ->type_name("DIRECTORY")
      ->capture_default_str();
  add_flag(show, shown->format, "--format", "of the figures", one_of({"svg", "png", "json"}));
  add_common(show, shown->common, Seeded::no);

  CLI::App& paper = *app.add_subcommand("paper", "the paper's figures: run what is missing of one, and draw it");
  const Run run_paper = set_up_paper(paper);

  CLI::App& decompose =
      *app.add_subcommand("decompose", "the error of rules and samplers alone: exact local scores, no network");
  const auto parts = std::make_shared<DecomposeOptions>();
  decompose.add_option("--tasks", parts->tasks, "names with commas between them")->capture_default_str();
  decompose.add_option("--rules", parts->rules, "names with commas between them")->capture_default_str();
  decompose.add_option("--transitions", parts->transitions, "numbers with commas between them")->capture_default_str();
  add_flag(decompose, parts->observations, "--observations", "series per task and length", at_least(1));
  add_common(decompose, parts->common, Seeded::no);
  return [options, shown, parts, run_paper, &benchmark, &paper, &decompose] {
    if (benchmark.parsed()) return run_benchmark(*options);
    if (const Launch launched = launch(); launched.tasks > 1) {
      throw InputError(fmt::format("{}: {} has started {} tasks, but only the verb benchmark works on several",
                                   experiment_function, launched.by, launched.tasks));
    }
    if (paper.parsed()) return run_paper();
    return decompose.parsed() ? run_decompose(*parts) : run_show(*shown);
  };
}

}  // namespace

Verb experiment_verb() {
  return {"experiment", "run a sweep, or show its results beside the paper's", set_up_experiment, /*on_ranks=*/true};
}

}  // namespace catena::cli
