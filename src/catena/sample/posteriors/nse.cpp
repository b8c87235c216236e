#include "catena/sample/posteriors/nse.h"

#include <Eigen/Eigenvalues>

#include "catena/core/stopwatch.h"
#include "catena/model/posterior/series_score_model.h"
#include "catena/nn/workspace_pool.h"
#include "catena/sample/finite_rows.h"
#include "catena/sample/posterior_map.h"
#include "catena/sample/posteriors/summarised_density.h"

namespace catena::sample {
namespace {

constexpr std::size_t score_lanes = 128;  // as in nn/rows.h
constexpr std::size_t pilot_draws = 256;  // whose covariance says how narrow the posterior is

/// s(z_a, a) for the summaries of one series. Its shape is that of the prior until somebody knows better.
class SummarisedScore final : public compose::SeriesScore {
 public:
  SummarisedScore(const model::SeriesScoreModel& model, std::vector<float> summaries)
      : schedule_(model.schedule),
        score_(model::record_score_of_summaries(model.settings, model.model->prior.size())),
        weights_(model::flat_weights(score_.graph, model.weights(), model.model->source)),
        summaries_(std::move(summaries)),
        pool_(score_.graph, score_lanes, nn::Purpose::inference()) {
    const auto d = static_cast<Eigen::Index>(dimension());
    shape_ = {Eigen::MatrixXd::Identity(d, d), Eigen::VectorXd::Ones(d)};
  }

  const diffusion::Schedule& schedule() const override { return schedule_; }
  std::size_t dimension() const override { return score_.graph.features(score_.variable); }
  const compose::PosteriorShape& shape() const override { return shape_; }
  void set_shape(compose::PosteriorShape shape) { shape_ = std::move(shape); }

  Outcome operator()(ConstMatrixView theta_a, double a, MatrixView out) const override {
    const model::Precondition p(schedule_, a, model::papers_prior_share);
    const auto workspace = pool_.borrow();
    for (std::size_t begin = 0; begin < theta_a.rows; begin += score_lanes) {
      const std::size_t lanes = std::min(score_lanes, theta_a.rows - begin);
      const Block variable = workspace->value(score_.variable, lanes);
      const Block condition = workspace->value(score_.condition, lanes);
      for (std::size_t f = 0; f < summaries_.size(); ++f) condition(f, 0) = summaries_[f];
      workspace->value(score_.level, lanes)(0, 0) = static_cast<float>(p.sigma);
      for (std::size_t f = 0; f < theta_a.cols; ++f) {
        for (std::size_t l = 0; l < lanes; ++l) variable(f, l) = static_cast<float>(p.c_in * theta_a(begin + l, f));
      }
      workspace->forward(weights_, lanes);
      const Block y = workspace->value(score_.y, lanes);
      for (std::size_t f = 0; f < theta_a.cols; ++f) {
        for (std::size_t l = 0; l < lanes; ++l) out(begin + l, f) = (p.m * y(f, l) - theta_a(begin + l, f)) / p.v;
      }
    }
    return Outcome::ok;
  }

 private:
  diffusion::Schedule schedule_;
  model::ScoreGraph score_;
  AlignedVector<float> weights_;
  std::vector<float> summaries_;
  compose::PosteriorShape shape_;
  mutable nn::WorkspacePool pool_;
};

/// The Gaussian of some draws; that of the prior if they are not finite.
compose::PosteriorShape shape_of(const Matrix& z) {
  const auto d = static_cast<Eigen::Index>(z.cols());
  const std::vector<std::size_t> rows = finite_rows(z);
  if (rows.size() <= z.cols() + 1) return {Eigen::MatrixXd::Identity(d, d), Eigen::VectorXd::Ones(d)};
  Eigen::MatrixXd values(static_cast<Eigen::Index>(rows.size()), d);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    for (Eigen::Index i = 0; i < d; ++i) {
      values(static_cast<Eigen::Index>(k), i) = z(rows[k], static_cast<std::size_t>(i));
    }
  }
  values.rowwise() -= values.colwise().mean().eval();
  const Eigen::MatrixXd covariance = values.transpose() * values / static_cast<double>(rows.size() - 1);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> found(covariance);
  constexpr double least = 1e-8;  // of a variance: draws that are all the same
  // Precisions ascending are variances descending.
  return {found.eigenvectors().rowwise().reverse(),
          found.eigenvalues().reverse().cwiseMax(least).cwiseInverse().eval()};
}

/// The score of the request's series, with the shape that draws of a first, coarse pass have.
SummarisedScore score_of(const model::SeriesScoreModel& model, const PosteriorRequest& request,
                         const compose::ObservedSeries& observed) {
  check_one_series(request, model.embedding());
  return SummarisedScore(model, model.summaries(observed.c));
}

void find_shape(SummarisedScore& score, const SampleSettings& settings, const Streams& streams,
                const Parallel& parallel) {
  score.set_shape(
      shape_of(diffusion_sample(score, pilot_draws, settings, streams.child("pilot"), parallel, silent_progress()).z));
}

PosteriorDraws draw_nse(const PosteriorRequest& request, const compose::ObservedSeries& observed,
                        const Streams& streams, const Parallel& parallel, Progress& progress) {
  const Stopwatch watch;
  const auto settings = from_json<SampleSettings>("sample", request.settings);
  const model::SeriesScoreModel model(request.model);
  SummarisedScore score = score_of(model, request, observed);
  find_shape(score, settings, streams, parallel);
  DiffusionDraws draws = diffusion_sample(score, request.draws, settings, streams, parallel, progress);
  PosteriorDraws result;
  result.outcome = draws.info.outcome;
  result.z = std::move(draws.z);
  result.info = {{"longest", model.longest},
                 {"settings", to_json(settings)},
                 {"evaluations", draws.info.evaluations},
                 {"diverged", draws.info.diverged},
                 {"cuts", draws.info.cuts},
                 {"a_end", draws.info.a_end},
                 {"seconds", {{"sample", watch.seconds()}}}};
  return result;
}

MapEstimate nse_map(const PosteriorRequest& request, const compose::ObservedSeries& observed, const Streams& streams,
                    const Parallel& parallel, Progress& progress) {
  const auto settings = from_json<SampleSettings>("map", request.settings);
  const model::SeriesScoreModel model(request.model);
  SummarisedScore score = score_of(model, request, observed);
  find_shape(score, settings, streams, parallel);
  return map_of_score(score, settings, request.model.true_prior(), streams, parallel, progress);
}

}  // namespace

PosteriorSampler nse_posterior_sampler() {
  return {.name = "nse",
          .settings = describe_fields<SampleSettings>(),
          .draw = draw_nse,
          .map = nse_map,
          .whole_series = true,
          .leaves_out_gaps = [](const model::TrainedModel& model) {
            return model::SeriesScoreModel(model).embedding().sums;
          }};
}

}  // namespace catena::sample
