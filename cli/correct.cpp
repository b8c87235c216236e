// catena correct model.safetensors --observation series.csv --task TASK --budget 100000 -o corrected.nc: a posterior
// that is right whatever the network learned, by simulating from the observed states.
// catena check: only how good the learned posterior is.

#include "catena/sample/correct/correct.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>

#include "catena/core/stopwatch.h"
#include "catena/sample/draws.h"
#include "common.h"
#include "findings.h"
#include "observation.h"
#include "sampler_flags.h"
#include "task_flags.h"
#include "verb.h"

namespace catena::cli {

namespace {

struct CorrectOptions {
  Common common;
  SamplerFlags sampler;
  ObservationFlags observation;
  TaskFlags task;
  sample::CorrectionSettings settings;
  std::string output;
  bool resume = false;
  int n = 1000;
};

/// The simulator that the flags name, or else the task that the model was trained on.
tasks::Task simulator_for(std::string_view function, const TaskFlags& flags, const model::TrainedModel& model) {
  if (!flags.task.empty() || !flags.plugin.empty()) return chosen_task(function, flags);
  const nlohmann::json& made_by = model.provenance;
  const std::string name =
      made_by.is_object() && made_by.value("model", nlohmann::json()).is_string() ? made_by["model"] : "";
  if (tasks::registry().find(name) == nullptr) {
    throw InputError(
        fmt::format("{}: --task and --plugin are missing, but one must name the simulator: {} was not trained on a "
                    "task of catena",
                    function, model.source));
  }
  return tasks::make_task(name, made_by.value("options", nlohmann::json::object()));
}

/// All that both verbs do before they begin.
struct Prepared {
  Prepared(std::string_view function, const CorrectOptions& options)
      : observed(function, options.observation),
        simulator(simulator_for(function, options.task, observed.model())),
        request{observed.request(), simulator, options.settings} {
    request.posterior.draws = static_cast<std::size_t>(options.n);
    request.posterior.settings = options.sampler.values(function, observed.model().method);
  }
  Observed observed;
  tasks::Task simulator;
  sample::CorrectionRequest request;
};

void print_certificate(const sample::Certificate& certificate) {
  std::size_t widest = 9;
  for (const auto& each : certificate.parameters) widest = std::max(widest, each.name.size());
  fmt::print("  {:<{}}  {:>18}  {:>18}\n", "parameter", widest, "truth − learned", "right/learned width");
  for (const auto& each : certificate.parameters) {
    fmt::print("  {:<{}}  {:>+9.2f} ± {:<6.2f}  {:>9.2f} ± {:<6.2f}\n", each.name, widest, each.shift, each.shift_error,
               each.width, each.width_error);
  }
  for (const std::string& sentence : certificate.sentences()) fmt::print("  {}\n", sentence);
}

void warn(std::string_view function, const CorrectOptions& options, const sample::PosteriorDraws& draws) {
  const std::string warning = sample::extrapolation_warning(draws.observed);
  if (!warning.empty() && !says_outside(draws) && !options.common.quiet) {
    fmt::print(stderr, "{}: {}\n", function, warning);
  }
}

int run_correct(const CorrectOptions& options) {
  constexpr std::string_view function = "catena correct";
  const Stopwatch watch;
  Prepared prepared(function, options);
  prepared.request.answers = {.path = options.output + ".partial", .resume = options.resume};
  const auto progress = options.common.make_progress();
  const sample::Correction found =
      sample::correct_posterior(prepared.request, Streams(options.common.seed), options.common.parallel(), *progress);
  if (!options.common.writes()) return success;
  warn(function, options, found.corrected);
  sample::Draws kept = sample::corrected_draws(prepared.request, found, options.common.seed);
  kept.record["observation"] = fmt::format("{}", fmt::join(options.observation.files, ", "));
  sample::write_draws(options.output, kept);
  std::filesystem::remove(prepared.request.answers.path);
  if (options.common.json) {
    nlohmann::json report = found.info;
    report["certificate"] = found.certificate.to_json();
    report["output"] = options.output;
    report["n"] = options.n;
    report["seconds"]["all"] = watch.seconds();
    print_json(report);
  } else if (!options.common.quiet) {
    fmt::print("{}: {} draws from the {} posterior of {} transitions by {}, {} simulated, in {:.2f} s\n",
               options.output, options.n, found.not_corrected.empty() ? "corrected" : "learned",
               found.info["transitions"].get<std::uint64_t>(), found.info["method"].get<std::string>(),
               found.info["spent"].get<std::uint64_t>(), watch.seconds());
    if (!found.not_corrected.empty()) fmt::print("  not corrected: {}\n", found.not_corrected);
    print_certificate(found.certificate);
  }
  return report_findings(function, found.corrected);
}

int run_check(const CorrectOptions& options) {
  constexpr std::string_view function = "catena check";
  const Stopwatch watch;
  const Prepared prepared(function, options);
  const auto progress = options.common.make_progress();
  const sample::Check found =
      sample::check_posterior(prepared.request, Streams(options.common.seed), options.common.parallel(), *progress);
  warn(function, options, found.learned);
  if (options.common.json) {
    nlohmann::json report = found.info;
    report["certificate"] = found.certificate.to_json();
    report["seconds"]["all"] = watch.seconds();
    print_json(report);
  } else if (!options.common.quiet) {
    fmt::print("the learned posterior of {} transitions by {}, checked with {} simulated ones in {:.2f} s\n",
               found.info["transitions"].get<std::uint64_t>(), found.info["method"].get<std::string>(),
               found.info["spent"].get<std::uint64_t>(), watch.seconds());
    print_certificate(found.certificate);
  }
  const int code = report_findings(function, found.learned);
  return found.certificate.alarm() ? not_achieved : code;
}

void add_shared_flags(CLI::App& app, CorrectOptions& options) {
  add_observation_flags(app, options.observation);
  add_simulator_flags(app, options.task);
  add_flags(app, options.settings);
  add_flag(app, options.n, "-n", "number of draws", at_least(10));
  options.sampler.add_to(app);
  add_common(app, options.common, Seeded::yes);
}

Run set_up_correct(CLI::App& app) {
  const auto options = std::make_shared<CorrectOptions>();
  add_shared_flags(app, *options);
  app.add_option("-o,--output", options->output, "netCDF file to write")->required()->type_name("FILE");
  app.add_flag("--resume", options->resume, "go on with OUTPUT.partial of an interrupted run of the same settings");
  add_rank_flags(app);
  return [options] { return run_correct(*options); };
}

Run set_up_check(CLI::App& app) {
  const auto options = std::make_shared<CorrectOptions>();
  options->settings.budget = 5000;
  add_shared_flags(app, *options);
  return [options] { return run_check(*options); };
}

}  // namespace

Verb correct_verb() {
  return {"correct", "make a learned posterior right by simulating from the observed states", set_up_correct,
          /*on_ranks=*/true};
}
Verb check_verb() { return {"check", "how far a learned posterior is off, by simulation", set_up_check}; }

}  // namespace catena::cli
