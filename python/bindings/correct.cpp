// Correction by simulation and its certificate, with a task's or the user's simulator.

#include "catena/sample/correct/correct.h"

#include <filesystem>
#include <memory>
#include <utility>

#include "binding.h"
#include "catena/core/errors.h"
#include "catena/core/parallel.h"
#include "posterior_request.h"
#include "python_model.h"

namespace catena::python {
namespace {

/// What Python keeps of a correction: the density, ready to be drawn from.
struct CorrectedDensity {
  std::shared_ptr<const sample::CorrectedPosterior> posterior;
};

/// The simulator, but a stop is seen before each batch of it: one of Python's may take its time.
simulate::Model stoppable(simulate::Model model, const Progress& progress) {
  model.simulator.step = [step = std::move(model.simulator.step), &progress](const simulate::StepInput& input,
                                                                             Stream& stream, StateBlock next) {
    if (progress.stop_requested()) throw Interrupted();
    step(input, stream, next);
  };
  return model;
}

/// θ, how many chains, and outcome of draws; those of the whole call stand beside them.
nb::dict draws_dict(sample::PosteriorDraws&& draws) {
  nb::dict result;
  result["outcome"] = std::string(name(draws.outcome));
  result["info"] = text(draws.info);
  result["chains"] = draws.chains;
  result["theta"] = to_numpy(std::move(draws.theta));
  return result;
}

nb::dict correct(const model::TrainedModel& model, const Models& companions, const std::vector<Rows>& series,
                 const std::vector<Numbers>& times, const std::vector<Rows>& covariates, const std::string& settings,
                 const std::string& paths, const simulate::Model& simulator, const std::string& correction,
                 std::size_t n, std::uint64_t seed, int threads, bool show_progress, const std::string& checkpoint,
                 bool resume) {
  sample::PosteriorRequest posterior = request_of(model, companions, series, times, covariates, settings, paths);
  posterior.draws = n;
  const auto chosen = from_json<sample::CorrectionSettings>("correct", parse(correction));
  sample::Correction found;
  files::Attributes record;
  run(show_progress, [&](Progress& progress) {
    const simulate::Model watched = stoppable(simulator, progress);
    const sample::CorrectionRequest request{posterior, watched, chosen, {.path = checkpoint, .resume = resume}};
    found = sample::correct_posterior(request, Streams(seed), Parallel(threads), progress);
    record = sample::corrected_draws(request, found, seed).record;
  });
  if (!checkpoint.empty()) std::filesystem::remove(checkpoint);
  nb::dict result;
  result["outcome"] = std::string(name(found.corrected.outcome));
  result["not_corrected"] = found.not_corrected;
  result["warning"] = sample::extrapolation_warning(found.learned.observed);
  result["certificate"] = text(found.certificate.to_json());
  result["info"] = text(found.info);
  result["record"] = text(record);
  result["learned_record"] = text(sample::draws_record(posterior, found.learned, seed));
  result["learned"] = draws_dict(std::move(found.learned));
  result["corrected"] = draws_dict(std::move(found.corrected));
  result["density"] = found.posterior ? nb::cast(CorrectedDensity{std::move(found.posterior)}) : nb::none();
  return result;
}

nb::dict check_learned(const model::TrainedModel& model, const Models& companions, const std::vector<Rows>& series,
                       const std::vector<Numbers>& times, const std::vector<Rows>& covariates,
                       const std::string& settings, const std::string& paths, const simulate::Model& simulator,
                       const std::string& correction, std::size_t n, std::uint64_t seed, int threads,
                       bool show_progress) {
  sample::PosteriorRequest posterior = request_of(model, companions, series, times, covariates, settings, paths);
  posterior.draws = n;
  const auto chosen = from_json<sample::CorrectionSettings>("check", parse(correction));
  sample::Check found;
  run(show_progress, [&](Progress& progress) {
    const simulate::Model watched = stoppable(simulator, progress);
    found = sample::check_posterior({posterior, watched, chosen}, Streams(seed), Parallel(threads), progress);
  });
  nb::dict result;
  result["outcome"] = std::string(name(found.learned.outcome));
  result["warning"] = sample::extrapolation_warning(found.learned.observed);
  result["certificate"] = text(found.certificate.to_json());
  result["info"] = text(found.info);
  return result;
}

}  // namespace

void bind_correct(nb::module_& m) {
  // The model borrows its callables: they live as long as it.
  m.def(
      "python_simulator",
      [](const std::string& name, const prior::Prior& prior, std::vector<std::string> state_names, nb::handle step,
         nb::handle initial_state, const std::string& declared) {
        return python_model(name, prior, std::move(state_names), step, initial_state, parse(declared));
      },
      "name"_a, "prior"_a, "state_names"_a, "step"_a, "initial_state"_a.none(), "declared"_a, nb::keep_alive<0, 4>(),
      nb::keep_alive<0, 5>());
  nb::class_<CorrectedDensity>(m, "CorrectedDensity")
      .def(
          "draw",
          [](const CorrectedDensity& density, std::size_t n, std::uint64_t seed, int threads, bool show_progress) {
            sample::PosteriorDraws draws;
            run(show_progress, [&](Progress& progress) {
              draws = density.posterior->draw(n, Streams(seed).child("posterior"), Parallel(threads), progress);
            });
            return draws_dict(std::move(draws));
          },
          "n"_a, "seed"_a, "threads"_a, "show_progress"_a)
      .def(
          "log_prob",
          [](const CorrectedDensity& density, const Rows& theta, int threads) {
            std::vector<double> result;
            run(false, [&](Progress&) { result = density.posterior->log_prob(view(theta), Parallel(threads)); });
            return to_numpy(std::move(result));
          },
          "theta"_a, "threads"_a)
      .def(
          "map",
          [](const CorrectedDensity& density, std::uint64_t seed, bool show_progress) {
            sample::MapEstimate found;
            run(show_progress, [&](Progress& progress) { found = density.posterior->map(Streams(seed), progress); });
            nb::dict result;
            result["outcome"] = std::string(name(found.outcome));
            result["theta"] = to_numpy(std::move(found.theta));
            return result;
          },
          "seed"_a, "show_progress"_a);
  const auto settings = [] {
    return text(to_json(std::span<const FieldInfo>(describe_fields<sample::CorrectionSettings>())));
  };
  m.def("correction_settings", settings);
  m.def("correct_posterior", &correct, "model"_a, "companions"_a, "series"_a, "times"_a, "covariates"_a, "settings"_a,
        "paths"_a, "simulator"_a, "correction"_a, "n"_a, "seed"_a, "threads"_a, "show_progress"_a, "checkpoint"_a,
        "resume"_a);
  m.def("check_posterior", &check_learned, "model"_a, "companions"_a, "series"_a, "times"_a, "covariates"_a,
        "settings"_a, "paths"_a, "simulator"_a, "correction"_a, "n"_a, "seed"_a, "threads"_a, "show_progress"_a);
}

}  // namespace catena::python
