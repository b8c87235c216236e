#include "catena/sample/posteriors/npe.h"

#include "catena/core/stopwatch.h"
#include "catena/model/posterior/posterior_model.h"
#include "catena/sample/posterior_map.h"
#include "catena/sample/posteriors/summarised_density.h"

namespace catena::sample {
namespace {

constexpr std::size_t map_draws = 200;  // that the mode is climbed to from

/// log q(z | s) for the summaries s of one series. Targets are densities up to the constant of the normal, which
/// log_prob takes off: what it then gives is normalised.
class FlowTarget final : public Target {
 public:
  FlowTarget(const model::PosteriorModel& posterior, std::vector<float> summaries, const Parallel& parallel)
      : density_(model::record_posterior_flow(posterior.settings, posterior.model->prior.size()), posterior.weights(),
                 posterior.model->source, std::move(summaries), parallel) {}

  std::size_t dimension() const override { return density_.dimension(); }
  bool has_gradient() const override { return true; }
  void log_density(ConstMatrixView z, std::span<double> out) const override { density_.evaluate(z, out, {}); }
  void log_density_and_gradient(ConstMatrixView z, std::span<double> out, MatrixView gradient) const override {
    density_.evaluate(z, out, gradient);
  }

 private:
  SummarisedDensity density_;
};

/// What the network makes of the request's series.
std::vector<float> summaries_of(const model::PosteriorModel& posterior, const PosteriorRequest& request,
                                const compose::ObservedSeries& observed) {
  check_one_series(request, posterior.embedding());
  return posterior.summaries(observed.c);
}

PosteriorDraws draw_npe(const PosteriorRequest& request, const compose::ObservedSeries& observed,
                        const Streams& streams, const Parallel& /*parallel*/, Progress& /*progress*/) {
  const Stopwatch watch;
  const model::PosteriorModel posterior(request.model);
  PosteriorDraws result;
  result.z = Matrix(request.draws, request.model.prior.size());
  posterior.draw(summaries_of(posterior, request, observed), streams.stream("flow"), result.z);
  result.info = {{"longest", posterior.longest},
                 {"evaluations", request.draws},
                 {"settings", nlohmann::json::object()},
                 {"seconds", {{"sample", watch.seconds()}}}};
  return result;
}

std::unique_ptr<Target> npe_target(const PosteriorRequest& request, const compose::ObservedSeries& observed,
                                   const Parallel& parallel) {
  const model::PosteriorModel posterior(request.model);
  return std::make_unique<FlowTarget>(posterior, summaries_of(posterior, request, observed), parallel);
}

MapEstimate npe_map(const PosteriorRequest& request, const compose::ObservedSeries& observed, const Streams& streams,
                    const Parallel& parallel, Progress& /*progress*/) {
  const model::PosteriorModel posterior(request.model);
  std::vector<float> summaries = summaries_of(posterior, request, observed);
  Matrix points(map_draws, request.model.prior.size());
  posterior.draw(summaries, streams.stream("flow"), points);
  const FlowTarget target(posterior, std::move(summaries), parallel);
  return map_from_points(target, points, request.model.true_prior());
}

/// A sum over transitions does without those that are missing.
bool sums_transitions(const model::TrainedModel& model) { return model::PosteriorModel(model).embedding().sums; }

}  // namespace

PosteriorSampler npe_posterior_sampler() {
  return {.name = "npe",
          .settings = {},
          .draw = draw_npe,
          .target = npe_target,
          .map = npe_map,
          .whole_series = true,
          .leaves_out_gaps = sums_transitions};
}

PosteriorSampler npe_windows_posterior_sampler() {
  PosteriorSampler sampler = npe_posterior_sampler();
  sampler.name = "npe_windows";
  return sampler;
}

PosteriorSampler npe_summary_posterior_sampler() {
  PosteriorSampler sampler = npe_posterior_sampler();
  sampler.name = "npe_summary";
  return sampler;
}

}  // namespace catena::sample
