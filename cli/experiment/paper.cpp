// catena experiment paper --figure 2b: says what is missing of a figure of the paper and how long it will take, runs
// it, and draws the figure from the rows. Without a figure: the list of them.

#include "experiment/paper.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "catena/core/stopwatch.h"
#include "catena/experiment/benchmark.h"
#include "catena/experiment/figures/figure.h"
#include "catena/experiment/figures/state.h"
#include "common.h"
#include "figure_files.h"

namespace catena::cli {

namespace {

constexpr std::string_view paper_function = "catena experiment paper";

struct PaperOptions {
  Common common;
  std::vector<std::string> figures;
  bool all = false, run = true;
  std::string results = "benchmarks/results", sweeps = "benchmarks/sweeps", pictures, format = "svg";
  double time_limit = 0;
};

std::vector<experiment::Row> rows_there(const PaperOptions& options) {
  const std::filesystem::path file = std::filesystem::path(options.results) / "rows.csv";
  return std::filesystem::exists(file) ? experiment::read_rows(file) : std::vector<experiment::Row>{};
}

/// What is asked for, in the registry's order; all of them for a list.
std::vector<const experiment::PaperFigure*> wanted_figures(const PaperOptions& options) {
  std::set<std::string_view> names;
  for (const std::string& name : options.figures) {
    names.insert(experiment::paper_figures().at(paper_function, name).name);
  }
  std::vector<const experiment::PaperFigure*> wanted;
  for (const experiment::PaperFigure& figure : experiment::paper_figures()) {
    if (names.empty() || names.contains(figure.name)) wanted.push_back(&figure);
  }
  return wanted;
}

/// Prints what there is of the figures and what their missing rows will take; the same as JSON.
nlohmann::json tell_states(const PaperOptions& options, const std::vector<const experiment::PaperFigure*>& figures) {
  const std::vector<experiment::Row> rows = rows_there(options);
  const bool prints = !options.common.json && !options.common.quiet;
  nlohmann::json list = nlohmann::json::array();
  experiment::Estimate all;
  for (const experiment::PaperFigure* figure : figures) {
    const auto sweeps = experiment::sweeps_of(*figure, options.sweeps);
    const experiment::FigureState state =
        experiment::state_of(sweeps, rows, options.results, options.common.parallel());
    all += state.missing;
    if (prints) {
      fmt::print("{:<18}  {}\n{:<18}  {}\n", figure->name, figure->title, "", experiment::in_words(state));
    }
    list.push_back({{"figure", figure->name},
                    {"title", figure->title},
                    {"sweeps", figure->sweeps},
                    {"rows", state.all},
                    {"missing", state.missing.rows},
                    {"models", state.missing.models},
                    {"seconds", state.missing.seconds},
                    {"unknown", state.missing.unknown}});
  }
  if (prints && all.rows > 0) fmt::print("({})\n", experiment::basis(all));
  return list;
}

/// Runs what is missing. Figures may share sweeps; each is run once.
experiment::SweepEnd run_missing(const PaperOptions& options,
                                 const std::vector<const experiment::PaperFigure*>& figures) {
  const Stopwatch watch;
  const auto progress = options.common.make_progress();
  experiment::SweepEnd end;
  std::set<std::string> done;
  for (const experiment::PaperFigure* figure : figures) {
    for (const auto& [file, sweep] : experiment::sweeps_of(*figure, options.sweeps)) {
      if (!done.insert(file).second || experiment::missing_rows(sweep, rows_there(options)).empty()) continue;
      experiment::SweepRun run;
      if (options.time_limit > 0) run.time_limit = std::max(0.0, 60 * options.time_limit - watch.seconds());
      const auto [failed, left] =
          experiment::run_sweep(sweep, options.results, run, options.common.parallel(), *progress);
      end.failed += failed;
      end.left += left;
    }
  }
  return end;
}

std::vector<std::filesystem::path> draw(const PaperOptions& options,
                                        const std::vector<const experiment::PaperFigure*>& figures) {
  const std::vector<experiment::Row> rows = rows_there(options);
  std::vector<report::DrawnFigure> pictures;
  for (const experiment::PaperFigure* figure : figures) {
    for (report::DrawnFigure& picture : figure->draw(rows)) pictures.push_back(std::move(picture));
  }
  if (pictures.empty()) return {};
  const std::filesystem::path directory = options.pictures.empty() ? std::filesystem::path(options.results) / "figures"
                                                                   : std::filesystem::path(options.pictures);
  return write_figures({paper_function, options.format}, pictures, directory);
}

int run_paper(const PaperOptions& options) {
  const auto figures = wanted_figures(options);
  nlohmann::json result = {{"figures", tell_states(options, figures)}};
  if (!options.all && options.figures.empty()) {
    if (options.common.json) print_json(result);
    return success;
  }
  const experiment::SweepEnd end = options.run ? run_missing(options, figures) : experiment::SweepEnd{};
  result["failed"] = end.failed;
  result["left"] = end.left;
  result["files"] = nlohmann::json::array();
  for (const std::filesystem::path& file : draw(options, figures)) {
    result["files"].push_back(file.string());
    if (!options.common.json && !options.common.quiet) fmt::print("{}\n", file.string());
  }
  if (options.common.json) print_json(result);
  if (end.left > 0 && !options.common.quiet) {
    fmt::print(stderr, "{}: {} rows are left for another time; the same command goes on with them\n", paper_function,
               end.left);
  }
  if (result["files"].empty()) {
    fmt::print(stderr, "{}: {} has no rows of it yet, so that there is nothing to draw\n", paper_function,
               options.results);
    return not_achieved;
  }
  return end.failed > 0 ? not_achieved : success;
}

}  // namespace

Run set_up_paper(CLI::App& app) {
  const auto options = std::make_shared<PaperOptions>();
  CLI::Option* figure =
      app.add_option("--figure", options->figures, "which one; without it, and without --all, the list of them")
          ->type_name("NAME");
  app.add_flag("--all", options->all, "all of them")->excludes(figure);
  app.add_option("--results", options->results, "directory of the rows; those that are missing are added")
      ->type_name("DIRECTORY")
      ->capture_default_str();
  app.add_option("--sweeps", options->sweeps, "directory of the sweeps that the figures are made by")
      ->type_name("DIRECTORY")
      ->capture_default_str();
  app.add_option("--figures", options->pictures, "directory of the pictures (default: figures, where the rows are)")
      ->type_name("DIRECTORY");
  add_flag(app, options->format, "--format", "of the pictures", one_of({"svg", "png", "pdf", "json"}));
  add_flag(app, options->run, "--run", "run what is missing, and do not only draw what is there", anything());
  add_flag(app, options->time_limit, "--time-limit",
           "minutes: what says most comes first, and no row begins that would end later (0: none)", not_negative());
  add_common(app, options->common, Seeded::no);
  return [options] { return run_paper(*options); };
}

}  // namespace catena::cli
