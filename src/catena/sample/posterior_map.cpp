#include "catena/sample/posterior_map.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "catena/sample/mcmc/kernels/cloud_proposals.h"
#include "catena/sample/mcmc/start/maximise.h"
#include "catena/sample/mcmc/start/tempered_smc.h"

namespace catena::sample {
namespace {

constexpr std::size_t population = 200;  // draws to start from
constexpr std::size_t most_starts = 8;   // of them, that are climbed from
constexpr double starts_apart = 1;       // widths of the whole posterior: closer ones climb to the same mode
constexpr int moves = 3;                 // of the population at each temperature

/// Of ∂ log|dθ/dz|/∂z, which is smooth in z: error ~ width², rounding ~ 1e-15/width.
constexpr double jacobian_difference = 1e-4;

/// |z| beyond this: less than 0.14 % of the prior lies between the parameter and the edge of its support.
constexpr double edge = 3;

/// log weight − log |dθ/dz| at the networks' z: what turns the density that they know into that of θ.
double log_correction(const prior::TruePrior& prior, std::span<const double> z) {
  return prior.log_weight(z) - prior.trained().log_jacobian(z);
}

/// From a field in z-space to that of θ's density: adds log weight − log |dθ/dz| and its gradient.
GradientField in_theta_space(GradientField field, const prior::TruePrior& prior) {
  return [field = std::move(field), &prior](ConstMatrixView z, std::span<double> value, MatrixView gradient) {
    field(z, value, gradient);
    std::vector<double> point(z.cols);
    for (std::size_t r = 0; r < z.rows; ++r) {
      std::ranges::copy(z.row(r), point.begin());
      value[r] += log_correction(prior, point);
      prior.add_log_weight_gradient(point, gradient.row(r));
      for (std::size_t i = 0; i < z.cols; ++i) {
        point[i] = z(r, i) + jacobian_difference;
        const double above = prior.trained().log_jacobian(point);
        point[i] = z(r, i) - jacobian_difference;
        gradient(r, i) -= (above - prior.trained().log_jacobian(point)) / (2 * jacobian_difference);
        point[i] = z(r, i);
      }
    }
  };
}

/// The best of the maxima reached from `starts`, by `rank` of where they ended; those that came to rest come first.
/// `scale` is the width of the posterior in each coordinate of z.
MapEstimate best_maximum(const GradientField& theta_field, ConstMatrixView starts, std::vector<double> scale,
                         const std::function<double(const Maximum&)>& rank) {
  const MaximiseSettings settings{.scale = std::move(scale)};
  const std::vector<Maximum> maxima = maximise(theta_field, starts, settings);
  const Maximum* best = nullptr;
  double best_rank = 0;
  std::size_t at_rest = 0;
  for (const Maximum& maximum : maxima) {
    at_rest += maximum.converged;
    const double its_rank = rank(maximum);
    if (std::isnan(its_rank)) continue;
    const bool better =
        best == nullptr || std::pair(maximum.converged, its_rank) > std::pair(best->converged, best_rank);
    if (better) best = &maximum, best_rank = its_rank;
  }
  MapEstimate result;
  if (best == nullptr) {
    result.outcome = Outcome::diverged;
    return result;
  }
  result.outcome = best->converged ? Outcome::ok : Outcome::step_limit;
  result.z = best->z;
  result.log_prob = best->value;
  result.info = {{"starts", maxima.size()}, {"at_rest", at_rest}, {"steps", best->steps}};
  return result;
}

/// The standard deviation of each column, and at least 1e-6.
std::vector<double> column_widths(ConstMatrixView points) {
  const CloudShape shape(points, 1);
  std::vector<double> widths;
  for (const double value : shape.lower.diagonal()) widths.push_back(std::max(value, 1e-6));
  return widths;
}

/// For draws of a density that is not known: the logarithm of an estimate of it at `point` from the distance r of its
/// k-th nearest draw, −d log r, in units of `scale` (Loftsgaarden and Quesenberry 1965, docs/refs.bib:
/// loftsgaarden1965).
double nearest_log_density(ConstMatrixView draws, std::span<const double> point, std::span<const double> scale) {
  const auto k = static_cast<std::size_t>(std::sqrt(static_cast<double>(draws.rows)));
  std::vector<double> squares(draws.rows, 0);
  for (std::size_t r = 0; r < draws.rows; ++r) {
    for (std::size_t i = 0; i < draws.cols; ++i) {
      const double step = (draws(r, i) - point[i]) / scale[i];
      squares[r] += step * step;
    }
  }
  std::ranges::nth_element(squares, squares.begin() + static_cast<std::ptrdiff_t>(k));
  const double smallest = std::numeric_limits<double>::min();  // of draws that are all the same
  return -0.5 * static_cast<double>(draws.cols) * std::log(std::max(squares[k], smallest));
}

MapEstimate nowhere(Outcome outcome) {
  MapEstimate result;
  result.outcome = outcome;
  return result;
}

}  // namespace

MapEstimate map_of_target(const Target& target, const prior::TruePrior& prior, const Streams& streams,
                          Progress& progress) {
  const CountedTarget counted(target);
  const Start start = temper_start(counted, population, moves, streams.child("start"), progress);
  if (start.outcome != Outcome::ok) return nowhere(start.outcome);
  MapEstimate result = map_from_points(target, start.points.back(), prior);
  result.info["evaluations"] = counted.counts().evaluations + result.info["evaluations"].get<std::uint64_t>();
  return result;
}

MapEstimate map_from_points(const Target& target, ConstMatrixView points, const prior::TruePrior& prior) {
  CATENA_ASSERT(target.has_gradient());
  const CountedTarget counted(target);
  const GradientField field =
      in_theta_space([&](ConstMatrixView z, std::span<double> value,
                         MatrixView gradient) { counted.log_density_and_gradient(z, value, gradient); },
                     prior);
  std::vector<double> values(points.rows);
  counted.log_density(points, values);
  for (std::size_t r = 0; r < points.rows; ++r) values[r] += log_correction(prior, points.row(r));
  std::vector<double> scale = column_widths(points);
  const Matrix starts = best_apart(points, values, scale, starts_apart, most_starts);
  MapEstimate result =
      best_maximum(field, starts, std::move(scale), [](const Maximum& maximum) { return maximum.value; });
  const auto d = static_cast<double>(target.dimension());
  result.log_prob -= 0.5 * d * std::log(2 * std::numbers::pi);  // of log N(z; 0, I)
  result.info["evaluations"] = counted.counts().evaluations;
  return result;
}

MapEstimate map_of_score(const compose::SeriesScore& score, const SampleSettings& settings,
                         const prior::TruePrior& prior, const Streams& streams, const Parallel& parallel,
                         Progress& progress) {
  const DiffusionDraws draws = diffusion_sample(score, population, settings, streams, parallel, progress);
  if (draws.info.outcome != Outcome::ok) return nowhere(draws.info.outcome);
  const double a = draws.info.a_end, m = score.schedule().m(a);
  // θ_a = m θ + σ ε, so that ∇_θ log p(θ_a = m θ) = m s(m θ, a).
  const GradientField field = in_theta_space(
      [&](ConstMatrixView z, std::span<double>, MatrixView gradient) {
        Matrix theta_a(z.rows, z.cols);
        for (std::size_t r = 0; r < z.rows; ++r) {
          for (std::size_t i = 0; i < z.cols; ++i) theta_a(r, i) = m * z(r, i);
        }
        score(theta_a, a, gradient);
        for (std::size_t r = 0; r < z.rows; ++r) {
          for (double& value : gradient.row(r)) value *= m;
        }
      },
      prior);
  const std::vector<double> scale = column_widths(draws.z);
  const auto density = [&](std::span<const double> z) {
    return nearest_log_density(draws.z, z, scale) + log_correction(prior, z);
  };
  std::vector<double> densities;
  for (std::size_t r = 0; r < draws.z.rows(); ++r) densities.push_back(density(draws.z.row(r)));
  const Matrix starts = best_apart(draws.z, densities, scale, starts_apart, most_starts);
  MapEstimate result = best_maximum(field, starts, scale, [&](const Maximum& maximum) { return density(maximum.z); });
  result.log_prob = std::nan("");
  result.info["a"] = a;
  return result;
}

std::vector<double> log_prob_of_target(const Target& target, const prior::TruePrior& prior, ConstMatrixView theta) {
  check::equal("log_prob", "the number of parameters", theta.cols, prior.prior().size());
  std::vector<double> result(theta.rows, -std::numeric_limits<double>::infinity());
  Matrix z(theta.rows, theta.cols);
  std::vector<std::size_t> inside;
  for (std::size_t r = 0; r < theta.rows; ++r) {
    check::all_finite("log_prob", "theta", theta.row(r));
    if (!std::isfinite(prior.prior().log_density(theta.row(r)))) continue;
    prior.trained().to_z(theta.row(r), z.row(inside.size()));
    inside.push_back(r);
  }
  if (inside.empty()) return result;
  std::vector<double> values(inside.size());
  const ConstMatrixView possible = z.view().slice_rows(0, inside.size());
  target.log_density(possible, values);
  const double constant = 0.5 * static_cast<double>(theta.cols) * std::log(2 * std::numbers::pi);
  for (std::size_t k = 0; k < inside.size(); ++k) {
    result[inside[k]] = values[k] - constant + log_correction(prior, possible.row(k));
  }
  return result;
}

std::vector<double> posterior_log_prob(const PosteriorRequest& request, ConstMatrixView theta,
                                       const Parallel& parallel) {
  const model::TrainedModel& model = request.model;
  const PosteriorSampler& sampler = posterior_samplers().at("log_prob", model.method);
  check::that(sampler.target != nullptr, "log_prob", "the method", model.method,
              "one that learns a density (a score has none)");
  const compose::ObservedSeries observed = observed_series("log_prob", request);
  return log_prob_of_target(*sampler.target(request, observed, parallel), model.true_prior(), theta);
}

MapEstimate posterior_map(const PosteriorRequest& asked, const Streams& streams, const Parallel& parallel,
                          Progress& progress) {
  PosteriorRequest request = asked;
  request.settings = sampler_settings("map", asked.model.method, asked.settings);
  const model::TrainedModel& model = request.model;
  const PosteriorSampler& sampler = posterior_samplers().at("map", model.method);
  check::that(sampler.map != nullptr || sampler.target != nullptr, "map", "the method", model.method,
              "one that learns a density or a score");
  const prior::TruePrior prior = model.true_prior();
  compose::ObservedSeries observed = observed_series("map", request);
  MapEstimate result = sampler.map != nullptr
                           ? sampler.map(request, observed, streams, parallel, progress)
                           : map_of_target(*sampler.target(request, observed, parallel), prior, streams, progress);
  result.theta.resize(result.z.size());
  if (!result.z.empty()) {
    prior.to_z(std::vector(result.z), result.z);
    prior.prior().to_theta(result.z, result.theta);
    result.info["at_edge"] = nlohmann::json::array();
  }
  for (std::size_t i = 0; i < result.z.size(); ++i) {
    if (std::abs(result.z[i]) >= edge) result.info["at_edge"].push_back(prior.prior().names()[i]);
  }
  result.info["method"] = model.method;
  result.info["outcome"] = name(result.outcome);
  result.info["transitions"] = observed.all_transitions();
  result.info["outside_training_range"] = observed.all_outside();
  result.observed = std::move(observed);
  return result;
}

}  // namespace catena::sample
