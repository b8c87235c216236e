/// FNPE (docs/theory/fnpe.md, eq. 1; docs/refs.bib: geffner2023), adapted to transitions: a path of densities of its
/// own,
///
///   ∇ log q_a(θ_a | x^{0:T}) = Σ_t s_t(θ_a) + (1 − T)(1 − a) ∇ log p(θ_a),   ∇ log p(θ) = −θ for p = N(0, I).
///
/// Exact at a = 0, N(·, σ²/T I) at a = 1. In between q_a is not the diffused posterior, so the reverse diffusion does
/// not follow it, and the gap grows with T: Langevin steps must correct, and even they fail for long series.
#include <algorithm>

#include "catena/compose/precision.h"
#include "catena/compose/rule.h"

namespace catena::compose {
namespace {

class Fnpe final : public SeriesScore {
 public:
  explicit Fnpe(RuleInput input) : input_(std::move(input)), sums_(sums_of(*input_.source, no_precisions_)) {
    const auto d = static_cast<Eigen::Index>(dimension());
    if (input_.precisions.rows() > 0) {
      shape_ = repair(series_precision(input_.precisions, dimension()), input_.settings.nugget).repaired;
    } else {
      // Nothing is known of the width: as if every transition told as much as the prior.
      shape_ = {Eigen::MatrixXd::Identity(d, d), Eigen::VectorXd::Constant(d, transitions() + 1)};
    }
  }

  const diffusion::Schedule& schedule() const override { return input_.schedule; }
  std::size_t dimension() const override { return input_.source->dimension(); }
  const PosteriorShape& shape() const override { return shape_; }

  Outcome operator()(ConstMatrixView theta_a, double a, MatrixView out) const override {
    (*sums_)(theta_a, a, out, MatrixView());
    map(out) += (transitions() - 1) * (1 - a) * map(theta_a);
    return Outcome::ok;
  }

  bool follows_diffusion() const override { return transitions() == 1; }

  /// T local densities, each with noise η², narrow to η²/T.
  Eigen::VectorXd level_variances(double eta) const override {
    return shape_.precisions.cwiseInverse().array() + eta * eta / transitions();
  }

 private:
  double transitions() const { return static_cast<double>(input_.source->transitions()); }

  RuleInput input_;
  LocalPrecisions no_precisions_;
  PosteriorShape shape_;
  std::unique_ptr<SummedScores> sums_;
};

}  // namespace

Rule fnpe_rule() {
  return {
      .name = "fnpe",
      .help = "sum of the local scores with a linearly fading prior; for short series",
      .needs_precisions = false,
      .needs_jacobians = false,
      .make = [](RuleInput input) -> std::unique_ptr<SeriesScore> { return std::make_unique<Fnpe>(std::move(input)); }};
}

}  // namespace catena::compose
