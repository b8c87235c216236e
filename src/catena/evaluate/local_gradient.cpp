#include "catena/evaluate/local_gradient.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <memory>

#include "catena/compose/precision.h"
#include "catena/compose/scores/score_source.h"
#include "catena/sample/posterior.h"

namespace catena::evaluate {
namespace {

/// The density of a series of one transition is the prior times its likelihood, so g_t = ∇log density + z.
LocalGradient from_target(const model::TrainedModel& model, const compose::ObservedSeries& observed) {
  const sample::PosteriorSampler& sampler = sample::posterior_samplers().at("information", model.method);
  return [&model, &observed, &sampler](std::size_t t, ConstMatrixView z, MatrixView out) {
    compose::ObservedSeries one{Matrix(1, observed.c.cols())};
    std::ranges::copy(observed.c.row(t), one.c.row(0).begin());
    const sample::PosteriorRequest request{.model = model, .series = {}};
    const auto target = sampler.target(request, one, Parallel(1));
    std::vector<double> density(z.rows);
    target->log_density_and_gradient(z, density, out);
    for (std::size_t k = 0; k < z.rows; ++k) {
      for (std::size_t i = 0; i < z.cols; ++i) out(k, i) += z(k, i);
    }
  };
}

LocalGradient from_scores(const model::TrainedModel& model, const compose::ObservedSeries& observed, double eta) {
  const compose::ScoreSource& scores = compose::score_sources().at("information", model.method);
  const diffusion::Schedule& schedule = diffusion::schedules().at("information", scores.schedule(model)).schedule;
  const double a = schedule.a_at(eta), m = schedule.m(a);
  const double prior = m * m / (m * m + schedule.sigma_squared(a));
  const std::shared_ptr<const compose::LocalScores> source = scores.scores(model, observed);
  return [source, a, m, prior](std::size_t t, ConstMatrixView z, MatrixView out) {
    Matrix theta_a(z.rows, z.cols);
    for (std::size_t k = 0; k < z.rows; ++k) {
      std::ranges::transform(z.row(k), theta_a.row(k).begin(), [m](double value) { return m * value; });
    }
    source->scores(theta_a, a, t, t + 1, out);
    for (std::size_t k = 0; k < z.rows; ++k) {
      for (std::size_t i = 0; i < z.cols; ++i) out(k, i) = m * out(k, i) + prior * z(k, i);
    }
  };
}

/// The smallest standard deviation over all directions.
double narrowest(ConstMatrixView z) {
  const auto draws = compose::map(z);
  const Eigen::MatrixXd centred = draws.rowwise() - draws.colwise().mean();
  const Eigen::MatrixXd covariance = centred.transpose() * centred / static_cast<double>(z.rows - 1);
  const double least = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(covariance).eigenvalues()(0);
  return std::sqrt(std::max(least, 0.0));
}

}  // namespace

LocalGradient local_gradient(const model::TrainedModel& model, const compose::ObservedSeries& observed, double eta) {
  const sample::PosteriorSampler& sampler = sample::posterior_samplers().at("information", model.method);
  return sampler.target != nullptr ? from_target(model, observed) : from_scores(model, observed, eta);
}

Information information(const model::TrainedModel& model, const compose::ObservedSeries& observed, ConstMatrixView z,
                        const Parallel& parallel) {
  constexpr double end_width = 0.05;  // as SampleSettings::end_width, for the same reason
  const prior::TruePrior prior = model.true_prior();
  const auto to_w = [&](ConstMatrixView rows) {
    Matrix w(rows.rows, rows.cols);
    for (std::size_t k = 0; k < rows.rows; ++k) prior.to_w(rows.row(k), w.row(k));
    return w;
  };
  const LocalGradient local = local_gradient(model, observed, end_width * narrowest(to_w(z)));
  const LocalGradient gradient = [&](std::size_t t, ConstMatrixView rows, MatrixView out) {
    const Matrix w = to_w(rows);
    local(t, w, out);
    for (std::size_t k = 0; k < rows.rows; ++k) prior.gradient_to_z(w.row(k), out.row(k));
  };
  return information(z, observed.transitions(), prior.around() ? gradient : local, parallel);
}

}  // namespace catena::evaluate
