/// JAC (docs/theory/jac.md, eq. 1 and 2; docs/refs.bib: linhart2024, boys2024): GAUSS's formula with precisions from
/// the local scores' own Jacobians J_t (symmetrised), anew at every particle, by Tweedie's second formula,
///
///   Σ_{a,t} = (I + σ² J_t)/r,   r = m²/σ²,   so that   C_t(θ_a) := Σ_{a,t}⁻¹ − r I = r [(I + σ² J_t)⁻¹ − I],
///   ∇ log p(θ_a | x^{0:T}) ≈ Λ⁻¹ ( Σ_t (C_t + r I) s_t + (T−1) θ_a/σ² ),   Λ = Σ_t C_t − (T−1) I + r I.
///
/// A true Σ_{a,t} is positive definite. Where an estimate is not, its precision is unknown: those directions get the
/// prior's, C_t = 1, which makes them say nothing. Λ's eigenvalues are lifted to the nugget, per particle.
#include <Eigen/Cholesky>
#include <algorithm>
#include <atomic>
#include <limits>

#include "catena/compose/precision.h"
#include "catena/compose/rule.h"

namespace catena::compose {
namespace {

/// Local posteriors narrower than 1e-4 prior deviations are beyond any estimate: 1 + σ² J below this is an error of J.
constexpr double largest_precision = 1e8;

/// C_t = r [(I + σ² J)⁻¹ − I] of a symmetrised J, with unknown directions set to 1; returns how many there are. `work`
/// is I + σ² J on entry.
std::size_t local_precision(Eigen::MatrixXd& work, double r, Eigen::LLT<Eigen::MatrixXd>& cholesky,
                            Eigen::MatrixXd& c) {
  const double floor = r / (r + largest_precision);
  const Eigen::Index d = work.rows();
  if (!work.allFinite()) {
    c.setConstant(std::numeric_limits<double>::quiet_NaN());
    return 0;
  }
  if (d == 1) {
    const bool known = work(0, 0) > floor;
    c(0, 0) = known ? r * (1 / work(0, 0) - 1) : 1;
    return known ? 0 : 1;
  }
  cholesky.compute(work);
  // The product of the pivots' squares may still hide one small eigenvalue, which then shows as a huge C_t; the floor
  // on the smallest pivot bounds it.
  if (cholesky.info() == Eigen::Success && cholesky.matrixLLT().diagonal().array().square().minCoeff() > floor) {
    c.setIdentity();
    cholesky.solveInPlace(c);
    c.diagonal().array() -= 1;
    c *= r;
    return 0;
  }
  const auto [axes, eigenvalues] = eigen(work);
  const Eigen::VectorXd values = eigenvalues.unaryExpr([&](double e) { return e > floor ? r * (1 / e - 1) : 1.0; });
  c = axes * values.asDiagonal() * axes.transpose();
  return static_cast<std::size_t>((eigenvalues.array() <= floor).count());
}

class Jac final : public SeriesScore {
 public:
  explicit Jac(RuleInput input) : input_(std::move(input)) {
    const auto d = static_cast<Eigen::Index>(dimension());
    Eigen::MatrixXd lambda;
    if (input_.precisions.rows() > 0) {
      lambda = series_precision(input_.precisions, dimension());
    } else {
      // Without local precisions the width is read off at θ_a = 0 where the noise is as wide as the prior, η = 1.
      const Matrix origin(1, dimension());
      Sums sums(1, d);
      add_up(origin, schedule().a_at(1), sums);
      lambda = sums.precision[0] - (transitions() - 1) * Eigen::MatrixXd::Identity(d, d);
    }
    const Repair shape = repair(lambda, input_.settings.nugget);
    shape_ = shape.outcome == Outcome::ok
                 ? shape.repaired
                 : PosteriorShape{Eigen::MatrixXd::Identity(d, d), Eigen::VectorXd::Constant(d, transitions() + 1)};
  }

  const diffusion::Schedule& schedule() const override { return input_.schedule; }
  std::size_t dimension() const override { return input_.source->dimension(); }
  const PosteriorShape& shape() const override { return shape_; }
  Unknown unknown() const override { return {unknown_, covariances_}; }

  Outcome operator()(ConstMatrixView theta_a, double a, MatrixView out) const override {
    const auto d = static_cast<Eigen::Index>(dimension());
    const double sigma_squared = schedule().sigma_squared(a);
    const double r = schedule().m(a) * schedule().m(a) / sigma_squared;
    Sums sums(theta_a.rows, d);
    add_up(theta_a, a, sums);
    Outcome outcome = Outcome::ok;
    for (std::size_t p = 0; p < theta_a.rows; ++p) {
      const auto row = static_cast<Eigen::Index>(p);
      Eigen::MatrixXd lambda = sums.precision[p];
      lambda.diagonal().array() += r - (transitions() - 1);
      const Repair fixed = repair(lambda, input_.settings.nugget);
      if (fixed.outcome != Outcome::ok) {
        outcome = fixed.outcome;
        std::ranges::fill(out.row(p), std::numeric_limits<double>::quiet_NaN());
        continue;
      }
      const Eigen::VectorXd sum = sums.score.row(row);
      const Eigen::VectorXd theta = map(theta_a).row(row);
      Eigen::VectorXd b = sums.weighted.row(row).transpose() + r * sum + (transitions() - 1) / sigma_squared * theta;
      if (fixed.largest > 0) b += fixed.adjustment * sum / transitions();
      const Eigen::MatrixXd& v = fixed.repaired.axes;
      map(out).row(row) = v * fixed.repaired.precisions.cwiseInverse().asDiagonal() * (v.transpose() * b);
    }
    return outcome;
  }

 private:
  /// Σ_t C_t, Σ_t s_t and Σ_t C_t s_t at every particle.
  struct Sums {
    Sums(std::size_t n, Eigen::Index d)
        : precision(n, Eigen::MatrixXd::Zero(d, d)),
          score(RowMajorMatrix::Zero(static_cast<Eigen::Index>(n), d)),
          weighted(RowMajorMatrix::Zero(static_cast<Eigen::Index>(n), d)) {}
    std::vector<Eigen::MatrixXd> precision;
    RowMajorMatrix score, weighted;
  };

  void add_up(ConstMatrixView theta_a, double a, Sums& sums) const {
    const std::size_t n = theta_a.rows, d = dimension(), T = input_.source->transitions();
    const double sigma_squared = schedule().sigma_squared(a);
    const double r = schedule().m(a) * schedule().m(a) / sigma_squared;
    const std::size_t tile = transitions_per_tile(n, d + d * d);
    Matrix scores(std::min(tile, T) * n, d), jacobians(std::min(tile, T) * n, d * d);
    const auto size = static_cast<Eigen::Index>(d);
    Eigen::MatrixXd work(size, size), c(size, size);
    Eigen::LLT<Eigen::MatrixXd> cholesky(size);
    std::size_t unknown = 0;
    for (std::size_t begin = 0; begin < T; begin += tile) {
      const std::size_t end = std::min(begin + tile, T), rows = (end - begin) * n;
      input_.source->scores_and_jacobians(theta_a, a, begin, end, scores.view().slice_rows(0, rows),
                                          jacobians.view().slice_rows(0, rows));
      for (std::size_t row = 0; row < rows; ++row) {
        const std::size_t p = row % n;
        const Eigen::Map<const Eigen::MatrixXd> j(jacobians.row(row).data(), size, size);
        const Eigen::Map<const Eigen::VectorXd> s(scores.row(row).data(), size);
        work = 0.5 * sigma_squared * (j + j.transpose());
        work.diagonal().array() += 1;
        unknown += local_precision(work, r, cholesky, c);
        sums.precision[p] += c;
        sums.score.row(static_cast<Eigen::Index>(p)) += s.transpose();
        sums.weighted.row(static_cast<Eigen::Index>(p)).noalias() += s.transpose() * c;
      }
    }
    unknown_ += unknown;
    covariances_ += T * n;
  }

  double transitions() const { return static_cast<double>(input_.source->transitions()); }

  RuleInput input_;
  PosteriorShape shape_;
  mutable std::atomic<std::size_t> unknown_ = 0, covariances_ = 0;
};

}  // namespace

Rule jac_rule() {
  return {
      .name = "jac",
      .help = "local scores weighted with precisions from their Jacobians",
      .needs_precisions = false,
      .needs_jacobians = true,
      .make = [](RuleInput input) -> std::unique_ptr<SeriesScore> { return std::make_unique<Jac>(std::move(input)); }};
}

}  // namespace catena::compose
