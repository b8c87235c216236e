/// GAUSS (docs/theory/gauss.md, eq. 1 to 3; docs/refs.bib: linhart2024): local posteriors taken as Gaussian, with
/// precisions C_t,
///
///   ∇ log p(θ_a | x^{0:T}) ≈ Λ⁻¹ ( Σ_t Σ_{a,t}⁻¹ s_t + (1 − T) Σ_a⁻¹ ∇ log p(θ_a) ),
///   Σ_{a,t}⁻¹ = C_t + r I,   Σ_a⁻¹ = (1 + r) I,   r = m²/σ²,   Λ(a) = [Σ_t C_t − (T−1) I] + r I.
///
/// The prior N(0, I) has ∇ log p(θ_a) = −θ_a/(m² + σ²), so that its term is (T−1) θ_a/σ². The bracket, A, does not
/// depend on a: it is made positive definite once, C_t ← C_t + Λ₋/T, and its eigenvectors serve every step. As
/// Λ₋ only lifts eigenvalues of A below the nugget, nothing grows with T and a healthy A is left alone.
#include "catena/compose/precision.h"
#include "catena/compose/rule.h"

namespace catena::compose {
namespace {

class Gauss final : public SeriesScore {
 public:
  explicit Gauss(RuleInput input) : input_(std::move(input)), sums_(sums_of(*input_.source, input_.precisions)) {
    const Eigen::MatrixXd lambda =
        input_.series_precision ? *input_.series_precision : series_precision(input_.precisions, dimension());
    Repair repair_of_a = repair(lambda, input_.settings.nugget);
    CATENA_ASSERT(repair_of_a.outcome == Outcome::ok);  // compose() has checked that the precisions are finite
    shape_ = std::move(repair_of_a.repaired);
    spread_ = repair_of_a.adjustment / transitions();
    adjustment_ = repair_of_a.largest;
  }

  const diffusion::Schedule& schedule() const override { return input_.schedule; }
  std::size_t dimension() const override { return input_.source->dimension(); }
  const PosteriorShape& shape() const override { return shape_; }
  double adjustment() const override { return adjustment_; }

  Outcome operator()(ConstMatrixView theta_a, double a, MatrixView out) const override {
    const double sigma_squared = schedule().sigma_squared(a);
    const double r = schedule().m(a) * schedule().m(a) / sigma_squared;
    Matrix sum(theta_a.rows, theta_a.cols), weighted(theta_a.rows, theta_a.cols);
    (*sums_)(theta_a, a, sum, weighted);
    RowMajorMatrix b = map(weighted.view());
    b += r * map(sum.view()) + (transitions() - 1) / sigma_squared * map(theta_a);
    if (adjustment_ > 0) b += map(sum.view()) * spread_;
    const Eigen::VectorXd inverse = (shape_.precisions.array() + r).inverse();
    map(out) = b * shape_.axes * inverse.asDiagonal() * shape_.axes.transpose();
    return Outcome::ok;
  }

 private:
  double transitions() const { return static_cast<double>(input_.source->transitions()); }

  RuleInput input_;
  std::unique_ptr<SummedScores> sums_;
  PosteriorShape shape_;
  Eigen::MatrixXd spread_;  // Λ₋/T, what each C_t gets
  double adjustment_ = 0;
};

}  // namespace

Rule gauss_rule() {
  return {.name = "gauss",
          .help = "local scores weighted with precisions of Gaussian local posteriors",
          .needs_precisions = true,
          .needs_jacobians = false,
          .make = [](RuleInput input) -> std::unique_ptr<SeriesScore> {
            return std::make_unique<Gauss>(std::move(input));
          }};
}

}  // namespace catena::compose
