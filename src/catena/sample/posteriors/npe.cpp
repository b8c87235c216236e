#include "catena/sample/posteriors/npe.h"

#include <cmath>
#include <numbers>

#include "catena/core/check.h"
#include "catena/core/stopwatch.h"
#include "catena/model/posterior/posterior_model.h"
#include "catena/nn/workspace_pool.h"
#include "catena/sample/posterior_map.h"

namespace catena::sample {
namespace {

constexpr std::size_t flow_block_lanes = 128;  // as in nn/rows.h
constexpr std::size_t map_draws = 200;         // that the mode is climbed to from

/// log q(z | s) for the summaries s of one series. Targets are densities up to the constant of the normal, which is
/// added here for log_prob to take it off again: what it then gives is normalised.
class FlowTarget final : public Target {
 public:
  FlowTarget(const model::PosteriorModel& posterior, std::vector<float> summaries, const Parallel& parallel)
      : flow_(model::record_posterior_flow(posterior.settings, posterior.model->prior.size())),
        weights_(model::flat_weights(flow_.graph, posterior.weights(), posterior.model->source)),
        summaries_(std::move(summaries)),
        parallel_(parallel),
        plain_(flow_.graph, flow_block_lanes, nn::Purpose::inference()),
        with_gradient_(flow_.graph, flow_block_lanes, {.keep_values = true, .input_gradients = {flow_.z}}) {}

  std::size_t dimension() const override { return flow_.graph.features(flow_.z); }
  bool has_gradient() const override { return true; }
  void log_density(ConstMatrixView z, std::span<double> out) const override { evaluate(z, out, {}); }
  void log_density_and_gradient(ConstMatrixView z, std::span<double> out, MatrixView gradient) const override {
    evaluate(z, out, gradient);
  }

 private:
  void evaluate(ConstMatrixView z, std::span<double> out, MatrixView gradient) const {
    parallel_.for_blocks(z.rows, flow_block_lanes, [&](std::size_t begin, std::size_t end, std::size_t) {
      const std::size_t lanes = end - begin;
      const bool wants_gradient = gradient.rows > 0;
      const auto workspace = (wants_gradient ? with_gradient_ : plain_).borrow();
      const Block context = workspace->value(flow_.summaries, lanes), point = workspace->value(flow_.z, lanes);
      for (std::size_t f = 0; f < summaries_.size(); ++f) context(f, 0) = summaries_[f];
      for (std::size_t l = 0; l < lanes; ++l) {
        for (std::size_t f = 0; f < z.cols; ++f) point(f, l) = static_cast<float>(z(begin + l, f));
      }
      workspace->forward(weights_, lanes);
      const Block loss = workspace->value(flow_.loss, lanes);
      for (std::size_t l = 0; l < lanes; ++l) out[begin + l] = -loss(0, l);
      if (!wants_gradient) return;
      const Block slope = workspace->gradient(flow_.loss, lanes);
      for (std::size_t l = 0; l < lanes; ++l) slope(0, l) = -1;
      workspace->reverse(weights_, lanes, flow_.loss, {});
      const Block found = workspace->gradient(flow_.z, lanes);
      for (std::size_t l = 0; l < lanes; ++l) {
        for (std::size_t f = 0; f < z.cols; ++f) gradient(begin + l, f) = found(f, l);
      }
    });
  }

  model::PosteriorFlowGraph flow_;
  AlignedVector<float> weights_;
  std::vector<float> summaries_;
  Parallel parallel_;
  mutable nn::WorkspacePool plain_, with_gradient_;
};

/// What the network makes of the request's series.
std::vector<float> summaries_of(const model::PosteriorModel& posterior, const PosteriorRequest& request,
                                const compose::ObservedSeries& observed) {
  check::that(request.series.size() == 1 || posterior.embedding().sums, "sample", "the number of series of one theta",
              request.series.size(),
              "1: a recurrent embedding reads one series (npe_windows adds series up, fnle and fnse compose them)");
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

}  // namespace catena::sample
