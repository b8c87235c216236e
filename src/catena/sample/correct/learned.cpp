#include "catena/sample/correct/learned.h"

#include <algorithm>
#include <cmath>

#include "catena/compose/scores/record_scores.h"
#include "catena/core/check.h"
#include "catena/sample/correct/statistic.h"
#include "catena/sample/finite_rows.h"

namespace catena::sample {
namespace {

constexpr std::pair<std::size_t, std::size_t> few_records{16, 50};
constexpr std::size_t most_sampled = 1000;  // records of a learned posterior that is drawn from

}  // namespace

LearnedPosterior::LearnedPosterior(const LearnedInput& input)
    : in_(input), few_(std::clamp(in_.observed.transitions() / 50, few_records.first, few_records.second)) {
  if (in_.observed.transitions() <= most_sampled) {
    draws_ = draw_posterior(in_.request, in_.streams.child("learned"), in_.parallel, in_.progress);
    z_ = rows_of(draws_.z, finite_rows(draws_.z));
    check::at_least(in_.function, "the number of finite draws of the learned posterior", z_.rows(), std::size_t{10});
    for (std::size_t r = 0; r < z_.rows(); ++r) {
      const std::vector<double> z(z_.row(r).begin(), z_.row(r).end());
      in_.prior.to_w(z, z_.row(r));
    }
  } else {
    climb();
  }
  modes_ = ordered_modes(z_);
}

const Matrix& LearnedPosterior::z_of_few() {
  if (z_of_few_.rows() > 0) return z_of_few_;
  PosteriorRequest request = in_.request;
  request.draws = 1000;
  request.settings = sampler_settings(in_.function, in_.request.model.method, request.settings);
  const PosteriorSampler& sampler = posterior_samplers().at(in_.function, in_.request.model.method);
  const compose::ObservedSeries some = compose::thinned(inside_range(), few_);
  const Matrix z = sampler.draw(request, some, in_.streams.child("few"), in_.parallel, in_.progress).z;
  z_of_few_ = rows_of(z, finite_rows(z));
  return z_of_few_;
}

/// The records that begin where the network has been, if there are enough of them.
compose::ObservedSeries LearnedPosterior::inside_range() const {
  std::vector<std::size_t> rows;
  for (std::size_t r = 0; r < in_.observed.transitions() && in_.leaves_range; ++r) {
    if (state_excess(in_.request.model.features, in_.observed.c.row(r)) <= 0) rows.push_back(r);
  }
  if (rows.size() < few_) return in_.observed;
  compose::ObservedSeries some;
  some.c = rows_of(in_.observed.c, rows);
  return some;
}

bool LearnedPosterior::any_lost(const Modes& modes) const {
  const double reach = std::sqrt(static_cast<double>(z_.cols())) + 3;
  return std::ranges::any_of(pieces_of(modes), [&](const Piece& piece) {
    for (std::size_t r = 0; r < z_.rows(); ++r) {
      if (piece.u(z_.row(r)).norm() < reach) return false;
    }
    return true;
  });
}

/// Σ_t ŝ(c_t; z) and the prior's share: the gradient of the learned log posterior; its value if log q is known.
GradientField LearnedPosterior::field() const {
  std::vector<std::shared_ptr<compose::RecordScores>> scores;
  for (const RecordPart& part : in_.parts) scores.push_back(compose::record_scores(in_.function, *part.model));
  return [this, scores](ConstMatrixView z, std::span<double> value, MatrixView gradient) {
    in_.parallel.for_each(z.rows, [&](std::size_t i) {
      value[i] = scores[0]->has_value() ? log_prior(z.row(i)) + in_.prior.log_weight(z.row(i)) : std::nan("");
      for (std::size_t f = 0; f < z.cols; ++f) gradient(i, f) = -z(i, f);
      in_.prior.add_log_weight_gradient(z.row(i), gradient.row(i));
      for (std::size_t k = 0; k < in_.parts.size(); ++k) {
        const Matrix& c = in_.parts[k].observed->c;
        Matrix score(c.rows(), z.cols);
        std::vector<double> values(scores[k]->has_value() ? c.rows() : 0);
        scores[k]->evaluate(c, z.row(i), score, values);
        for (std::size_t r = 0; r < c.rows(); ++r) {
          for (std::size_t f = 0; f < z.cols; ++f) gradient(i, f) += score(r, f);
          if (!values.empty()) value[i] += values[r];
        }
      }
    });
  };
}

/// Normal draws around the modes that are reached from the posterior of a few records.
void LearnedPosterior::climb() {
  z_of_few();
  check::at_least(in_.function, "the number of finite draws of the learned posterior", z_of_few_.rows(),
                  std::size_t{10});
  const Modes modes = ordered_modes(z_of_few_);
  std::vector<double> scale;
  const double narrower = std::sqrt(static_cast<double>(few_) / static_cast<double>(in_.observed.transitions()));
  const CloudShape shape(z_of_few_, 1);
  for (const double width : shape.lower.diagonal()) scale.push_back(width * narrower);
  const Matrix starts = anchors_of(z_of_few_, modes);
  std::vector<Maximum> maxima = maximise(field(), starts, {.scale = scale});
  std::erase_if(maxima, [](const Maximum& each) { return !each.converged; });
  draws_.outcome = maxima.empty() ? Outcome::step_limit : Outcome::ok;
  draws_.info = {{"method", in_.request.model.method}, {"approximation", maxima.empty() ? "few_records" : "laplace"}};
  z_ = maxima.empty() ? z_of_few_ : laplace_draws(maxima);
  draws_.observed = in_.observed;
  draws_.z = draws_.theta = z_;
  for (std::size_t r = 0; r < z_.rows(); ++r) {
    in_.prior.to_z(z_.row(r), draws_.z.row(r));
    in_.prior.prior().to_theta(draws_.z.row(r), draws_.theta.row(r));
  }
}

Matrix LearnedPosterior::laplace_draws(const std::vector<Maximum>& maxima) const {
  std::vector<Eigen::MatrixXd> roots;  // of the covariances
  std::vector<double> log_weight;
  for (const Maximum& each : maxima) {
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> axes(each.curvature);
    const Eigen::VectorXd precision = axes.eigenvalues().cwiseMax(1);  // no wider than the prior
    roots.emplace_back(axes.eigenvectors() * precision.cwiseSqrt().cwiseInverse().asDiagonal());
    const double value = std::isnan(each.value) ? 0 : each.value;
    log_weight.push_back(value - 0.5 * precision.array().log().sum());
  }
  const double highest = *std::ranges::max_element(log_weight);
  std::vector<double> until;  // sums of weights
  double sum = 0;
  for (const double each : log_weight) until.push_back(sum += std::exp(each - highest));
  Stream stream = in_.streams.stream("laplace");
  Matrix draws(in_.request.draws, in_.request.model.prior.size());
  Eigen::VectorXd normal(static_cast<Eigen::Index>(draws.cols()));
  for (std::size_t r = 0; r < draws.rows(); ++r) {
    const double u = stream.uniform() * sum;
    std::size_t k = 0;
    while (k + 1 < until.size() && until[k] < u) ++k;
    for (double& value : normal) value = stream.normal();
    const Eigen::VectorXd step = roots[k] * normal;
    for (std::size_t f = 0; f < draws.cols(); ++f) draws(r, f) = maxima[k].z[f] + step[static_cast<Eigen::Index>(f)];
  }
  return draws;
}

}  // namespace catena::sample
