// catena sample model.safetensors --observation series.csv -n 1000 -o posterior.nc: draws from the posterior of a
// series by a trained model.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <memory>
#include <optional>

#include "catena/core/stopwatch.h"
#include "catena/sample/draws.h"
#include "catena/sample/judgement/judge.h"
#include "catena/sample/posterior.h"
#include "common.h"
#include "findings.h"
#include "observation.h"
#include "sampler_flags.h"
#include "task_flags.h"
#include "verb.h"

namespace catena::cli {

namespace {

constexpr std::string_view sample_function = "catena sample";

struct SampleOptions {
  Common common;
  SamplerFlags settings;
  ObservationFlags observation;
  TaskFlags task;
  std::string output, state;
  int n = 1000;
};

/// The simulator that the draws are judged with, if one is named.
std::optional<tasks::Task> judging_simulator(const SampleOptions& options, const model::TrainedModel& model) {
  if (options.task.task.empty() && options.task.plugin.empty()) return std::nullopt;
  tasks::Task task = chosen_task(sample_function, options.task);
  sample::check_simulator(sample_function, task, model);
  return task;
}

int run_sample(const SampleOptions& options) {
  const Stopwatch watch;
  const Observed observed(sample_function, options.observation);
  const model::TrainedModel& model = observed.model();
  sample::PosteriorRequest request = observed.request();
  request.draws = static_cast<std::size_t>(options.n);
  request.settings = options.settings.values(sample_function, model.method);
  request.state = options.state;
  const std::optional<tasks::Task> simulator = judging_simulator(options, model);
  const auto progress = options.common.make_progress();
  const Streams streams(options.common.seed);
  sample::PosteriorDraws draws = sample::draw_posterior(request, streams, options.common.parallel(), *progress);
  sample::judge_draws(request, draws, streams.child("judgement"), options.common.parallel(),
                      {.simulator = {simulator ? &*simulator : nullptr}}, *progress);
  const std::string warning = sample::extrapolation_warning(draws.observed);
  if (!warning.empty() && !says_outside(draws) && !options.common.quiet) {
    fmt::print(stderr, "{}: {}\n", sample_function, warning);
  }

  const std::string refusal = draws.refusal();
  std::size_t written = 0;
  if (refusal.empty()) {
    sample::Draws kept = sample::draws_of(request, draws, options.common.seed);
    sample::add_companion_groups(kept, request, Streams(options.common.seed), options.common.parallel());
    kept.record["observation"] = fmt::format("{}", fmt::join(options.observation.files, ", "));
    written = sample::finite_draws(kept);
    sample::write_draws(options.output, kept);
  }

  if (options.common.json) {
    nlohmann::json report = draws.info;
    report["output"] = refusal.empty() ? nlohmann::json(options.output) : nlohmann::json();
    report["n"] = written;
    report["warning"] = warning;
    report["seconds"]["all"] = watch.seconds();
    print_json(report);
  } else if (!options.common.quiet && refusal.empty()) {
    fmt::print("{}: {} draws from the posterior of {} transitions by {} in {:.2f} s\n", options.output, written,
               draws.info["transitions"].get<std::uint64_t>(), model.method, watch.seconds());
  }
  if (!refusal.empty()) fmt::print(stderr, "{}: {} is not written: {}\n", sample_function, options.output, refusal);
  return report_findings(sample_function, draws);
}

Run set_up_sample(CLI::App& app) {
  const auto options = std::make_shared<SampleOptions>();
  add_observation_flags(app, options->observation);
  add_flag(app, options->n, "-n", "number of draws", at_least(1));
  app.add_option("-o,--output", options->output, "netCDF file to write")->required()->type_name("FILE");
  app.add_option("--state", options->state,
                 "file of what is known so far: the observation goes on where it stopped, and is added to it")
      ->type_name("FILE");
  add_simulator_flags(app, options->task);
  options->settings.add_to(app);
  add_common(app, options->common, Seeded::yes);
  return [options] { return run_sample(*options); };
}

}  // namespace

Verb sample_verb() { return {"sample", "draw from the posterior of a series by a trained model", set_up_sample}; }

}  // namespace catena::cli
