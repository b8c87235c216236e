/// flat: the sum of the local scores alone, Σ_t s_t(θ_a), for the test that CONTRIBUTING's table is true.
#include <memory>

#include "catena/compose/precision.h"
#include "catena/compose/rule.h"

namespace catena::compose {
namespace {

class Flat final : public SeriesScore {
 public:
  explicit Flat(RuleInput input) : input_(std::move(input)), sums_(sums_of(*input_.source, no_precisions_)) {
    const auto d = static_cast<Eigen::Index>(dimension());
    shape_ = {Eigen::MatrixXd::Identity(d, d), Eigen::VectorXd::Constant(d, 2)};
  }
  const diffusion::Schedule& schedule() const override { return input_.schedule; }
  std::size_t dimension() const override { return input_.source->dimension(); }
  const PosteriorShape& shape() const override { return shape_; }
  Outcome operator()(ConstMatrixView theta_a, double a, MatrixView out) const override {
    (*sums_)(theta_a, a, out, MatrixView());
    return Outcome::ok;
  }

 private:
  RuleInput input_;
  LocalPrecisions no_precisions_;
  std::unique_ptr<SummedScores> sums_;
  PosteriorShape shape_;
};

}  // namespace

Rule flat_rule() {
  return {
      .name = "flat",
      .help = "the sum of the local scores alone",
      .needs_precisions = false,
      .needs_jacobians = false,
      .make = [](RuleInput input) -> std::unique_ptr<SeriesScore> { return std::make_unique<Flat>(std::move(input)); }};
}

}  // namespace catena::compose
