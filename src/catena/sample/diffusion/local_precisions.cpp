#include <Eigen/Cholesky>
#include <cmath>
#include <vector>

#include "catena/compose/precision.h"
#include "catena/compose/rule.h"
#include "catena/core/check.h"
#include "catena/sample/diffusion/sample.h"

namespace catena::sample {
namespace {

/// One transition of a source, as a source of its own.
class OneTransition final : public compose::LocalScores {
 public:
  OneTransition(const compose::LocalScores& source, std::size_t t) : source_(source), t_(t) {}
  std::size_t transitions() const override { return 1; }
  std::size_t dimension() const override { return source_.dimension(); }
  void scores(ConstMatrixView theta_a, double a, std::size_t, std::size_t, MatrixView out) const override {
    source_.scores(theta_a, a, t_, t_ + 1, out);
  }

 private:
  const compose::LocalScores& source_;
  std::size_t t_;
};

}  // namespace

LocalPrecisionResult local_precisions(const compose::LocalScores& source, const diffusion::Schedule& schedule,
                                      const LocalPrecisionSettings& settings, const Streams& streams,
                                      const Parallel& parallel, Progress& progress) {
  check_config("local_precisions", settings);
  const std::size_t T = source.transitions(), d = source.dimension(),
                    n = static_cast<std::size_t>(settings.draws_per_dimension) * d;
  check::that(n > d + 2, "local_precisions", "draws_per_dimension", settings.draws_per_dimension,
              "large enough for more draws than dimensions + 2");
  LocalPrecisionResult result{Matrix(T, settings.diagonal ? d : d * d), {}};
  std::vector<SampleInfo> infos(T);
  const Parallel alone(1);
  progress.start("local covariances", "transitions", T);
  parallel.for_each(T, [&](std::size_t t) {
    const OneTransition local(source, t);
    // For T = 1 every rule is the local score itself; the prior's precision serves as a first guess of the width.
    compose::RuleInput input{.source = &local, .schedule = schedule};
    input.precisions = Matrix(1, d);
    std::ranges::fill(input.precisions.values(), 1.0);
    const auto score = compose::compose("gauss", std::move(input));
    const DiffusionDraws draws = diffusion_sample(
        *score, n, {.sampler = settings.sampler, .steps = settings.steps, .block = static_cast<int>(n)},
        streams.child("local", t), alone);
    infos[t] = draws.info;

    const auto z = compose::map(draws.z.view());
    const Eigen::MatrixXd centred = z.rowwise() - z.colwise().mean();
    const double unbiased = static_cast<double>(n - d - 2) / static_cast<double>(n - 1);
    if (settings.diagonal) {
      const double unbiased_1d = static_cast<double>(n - 3) / static_cast<double>(n - 1);
      for (std::size_t i = 0; i < d; ++i) {
        const double variance = centred.col(static_cast<Eigen::Index>(i)).squaredNorm() / static_cast<double>(n - 1);
        result.precisions(t, i) = unbiased_1d / variance;
      }
    } else {
      const Eigen::MatrixXd covariance = centred.transpose() * centred / static_cast<double>(n - 1);
      const Eigen::LLT<Eigen::MatrixXd> cholesky(covariance);
      if (cholesky.info() != Eigen::Success) infos[t].outcome = Outcome::not_positive_definite;
      const auto size = static_cast<Eigen::Index>(d);
      const Eigen::MatrixXd inverse = unbiased * cholesky.solve(Eigen::MatrixXd::Identity(size, size));
      compose::RowMajorMatrix::Map(result.precisions.row(t).data(), size, size) = inverse;
    }
    progress.advance(1);
  });
  progress.finish();
  for (const SampleInfo& info : infos) {
    if (result.info.outcome == Outcome::ok) result.info.outcome = info.outcome;
    result.info.evaluations = std::max(result.info.evaluations, info.evaluations);
    result.info.diverged += info.diverged;
    result.info.a_end = info.a_end;
  }
  return result;
}

}  // namespace catena::sample
