// catena sample model.safetensors --observation series.csv -n 1000 -o posterior.nc: draws from the posterior of a
// series by a trained model.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "catena/core/stopwatch.h"
#include "catena/sample/draws.h"
#include "catena/sample/judgement/judge.h"
#include "catena/sample/posterior.h"
#include "common.h"
#include "observation.h"
#include "sampler_flags.h"
#include "verb.h"

namespace catena::cli {

namespace {

constexpr std::string_view sample_function = "catena sample";

struct SampleOptions {
  Common common;
  SamplerFlags settings;
  ObservationFlags observation;
  std::string output, state;
  int n = 1000;
};

int run_sample(const SampleOptions& options) {
  const Stopwatch watch;
  const Observed observed(sample_function, options.observation);
  const model::TrainedModel& model = observed.model();
  sample::PosteriorRequest request = observed.request();
  request.draws = static_cast<std::size_t>(options.n);
  request.settings = options.settings.values(sample_function, model.method);
  request.state = options.state;
  const auto progress = options.common.make_progress();
  const Streams streams(options.common.seed);
  sample::PosteriorDraws draws = sample::draw_posterior(request, streams, options.common.parallel(), *progress);
  sample::judge_draws(request, draws, streams.child("judgement"), options.common.parallel());
  const std::string warning = sample::extrapolation_warning(draws.observed);
  const bool outside = std::ranges::any_of(draws.findings, [](const sample::DrawFinding& finding) {
    return finding.outcome == Outcome::outside_training;  // says it in stronger words
  });
  if (!warning.empty() && !outside && !options.common.quiet) fmt::print(stderr, "{}: {}\n", sample_function, warning);

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
  // What is wrong is said in quiet mode, too: nobody should read draws as right because a flag was set.
  if (!refusal.empty()) fmt::print(stderr, "{}: {} is not written: {}\n", sample_function, options.output, refusal);
  for (const sample::DrawFinding& finding : draws.findings) {
    fmt::print(stderr, "{}: {}: {}; {}\n", sample_function, name(finding.outcome), finding.sentence,
               advice(finding.outcome, sample_function));
  }
  const bool said = !draws.findings.empty() && draws.findings.front().outcome == draws.outcome;
  return said ? not_achieved : exit_code(sample_function, draws.outcome);
}

Run set_up_sample(CLI::App& app) {
  const auto options = std::make_shared<SampleOptions>();
  add_observation_flags(app, options->observation);
  add_flag(app, options->n, "-n", "number of draws", at_least(1));
  app.add_option("-o,--output", options->output, "netCDF file to write")->required()->type_name("FILE");
  app.add_option("--state", options->state,
                 "file of what is known so far: the observation goes on where it stopped, and is added to it")
      ->type_name("FILE");
  options->settings.add_to(app);
  add_common(app, options->common, Seeded::yes);
  return [options] { return run_sample(*options); };
}

}  // namespace

Verb sample_verb() { return {"sample", "draw from the posterior of a series by a trained model", set_up_sample}; }

}  // namespace catena::cli
