/// With E_a = I + σ² J_t(θ_a), J_t the symmetrised Jacobian of s_t, and r = m²/σ² (Tweedie's formulas, as in
/// rules/jac.cpp),
///
///   μ_t = (θ_a + σ² s_t)/m,   C_t = r (E_a⁻¹ − I),
///
/// for a Gaussian local posterior at any θ_a and any level. Of a learned score both are known best where the noise is
/// about as wide as the posterior: under much wider noise E_a is next to zero, under much narrower noise next to I. So
/// levels are passed from wide to narrow, each at θ_a = m μ_t of the level before, and C_t is taken along each
/// direction at the first level where E_a ≥ ½ there, in the space that is left by the directions before it.
#include "catena/sample/diffusion/read_precisions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "catena/compose/precision.h"
#include "catena/core/check.h"

namespace catena::sample {
namespace {

constexpr double widest_eta = 4, eta_factor = 0.7071;
constexpr double enough = 0.45;          // ½, and the prior's own direction at η = 1 is not left out for an error of J
constexpr double largest_mean = 5;       // in deviations of the prior: networks have not been further out
constexpr double smallest_share = 1e-3;  // of E_a at the last level: narrower than that is beyond its noise

std::vector<double> levels_of(const diffusion::Schedule& schedule) {
  std::vector<double> levels;
  for (double eta = widest_eta; eta > schedule.eta(schedule.a_min); eta *= eta_factor) {
    levels.push_back(schedule.a_at(eta));
  }
  levels.push_back(schedule.a_min);
  return levels;
}

/// C_t of one transition; one without a finite score says nothing, as the prior does.
Eigen::MatrixXd read_precision(const compose::LocalScores& source, const diffusion::Schedule& schedule,
                               const std::vector<double>& levels, std::size_t t) {
  const std::size_t d = source.dimension();
  const auto size = static_cast<Eigen::Index>(d);
  Matrix theta_a(1, d), score(1, d), jacobian(1, d * d);
  Eigen::VectorXd mean = Eigen::VectorXd::Zero(size);
  Eigen::MatrixXd precision = Eigen::MatrixXd::Zero(size, size), left = Eigen::MatrixXd::Identity(size, size);
  for (std::size_t k = 0; k < levels.size() && left.cols() > 0; ++k) {
    const double m = schedule.m(levels[k]), sigma_squared = schedule.sigma_squared(levels[k]),
                 r = m * m / sigma_squared;
    const bool last = k + 1 == levels.size();
    for (std::size_t i = 0; i < d; ++i) theta_a(0, i) = m * mean(static_cast<Eigen::Index>(i));
    source.scores_and_jacobians(theta_a, levels[k], t, t + 1, score.view(), jacobian.view());
    const Eigen::Map<const Eigen::MatrixXd> j(jacobian.row(0).data(), size, size);
    const Eigen::Map<const Eigen::VectorXd> s(score.row(0).data(), size);
    if (!j.allFinite() || !s.allFinite()) return Eigen::MatrixXd::Identity(size, size);
    mean = (mean + sigma_squared / m * s).cwiseMax(-largest_mean).cwiseMin(largest_mean);

    Eigen::MatrixXd e = 0.5 * sigma_squared * (j + j.transpose());
    e.diagonal().array() += 1;
    const auto [axes, values] = compose::eigen(left.transpose() * e * left);
    Eigen::Index narrow = 0;  // ascending: those for a level with less noise stand first
    while (!last && narrow < values.size() && values(narrow) < enough) ++narrow;
    const Eigen::MatrixXd directions = left * axes;
    for (Eigen::Index i = narrow; i < values.size(); ++i) {
      const double c = r * (1 / std::clamp(values(i), smallest_share, 1.0) - 1);
      precision += c * directions.col(i) * directions.col(i).transpose();
    }
    left = directions.leftCols(narrow);
  }
  return precision;
}

}  // namespace

compose::LocalPrecisions read_precisions(const compose::LocalScores& source, const diffusion::Schedule& schedule,
                                         const Parallel& parallel) {
  const std::size_t T = source.transitions(), d = source.dimension();
  CATENA_ASSERT(source.has_jacobians());
  const std::vector<double> levels = levels_of(schedule);
  compose::LocalPrecisions precisions(T, d * d);
  const auto size = static_cast<Eigen::Index>(d);
  parallel.for_each(T, [&](std::size_t t) {
    compose::RowMajorMatrix::Map(precisions.row(t).data(), size, size) = read_precision(source, schedule, levels, t);
  });
  return precisions;
}

}  // namespace catena::sample
