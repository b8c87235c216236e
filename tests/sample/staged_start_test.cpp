// A population through posteriors of more and more terms, on targets whose widths follow from their number.
#include "catena/sample/mcmc/start/staged_start.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sample/mcmc_targets.h"

namespace catena::sample::staged_start_test {
namespace {

/// Two rings (mcmc_targets.h) as thin as n terms make them: width 0.8/√n, so 0.02 for 1,600.
class RingsOfTerms final : public Target {
 public:
  explicit RingsOfTerms(std::size_t terms)
      : terms_(terms), known_(two_rings(0.8 / std::sqrt(static_cast<double>(terms)))) {}
  std::size_t dimension() const override { return known_.dimension; }
  void log_density(ConstMatrixView z, std::span<double> out) const override {
    std::vector<double> gradient(z.cols);
    for (std::size_t i = 0; i < z.rows; ++i) out[i] = known_.density(z.row(i), gradient);
  }
  std::size_t terms() const override { return terms_; }
  bool costs_grow() const override { return true; }
  std::unique_ptr<Target> thinned(std::size_t terms) const override { return std::make_unique<RingsOfTerms>(terms); }
  const KnownTarget& known() const { return known_; }

 private:
  std::size_t terms_;
  KnownTarget known_;
};

/// Shares of 3,072 points, whose ancestors at each of some twenty temperatures are half as many; they move in between.
/// 5 standard errors of 100 independent draws leave room for what is left of common ancestors.
void expect_margins(const KnownTarget& known, const Matrix& points) {
  for (const KnownMargin& margin : known.margins) {
    for (const double q : {0.25, 0.5, 0.75}) {
      double share = 0;
      for (std::size_t r = 0; r < points.rows(); ++r) share += margin.of(points.row(r)) <= margin.quantile(q) ? 1 : 0;
      EXPECT_NEAR(share / static_cast<double>(points.rows()), q, 5 * std::sqrt(q * (1 - q) / 100)) << margin.name;
    }
  }
}

TEST(StagedStart, ComesToThinRingsThroughLegs) {
  const RingsOfTerms target(1600);
  const CountedTarget counted(target);
  const StagedStart staged = staged_start(counted, 64, 3072, 3, Streams(1), silent_progress());
  ASSERT_EQ(staged.start.outcome, Outcome::ok);
  expect_margins(target.known(), staged.start.points.back());
  // 64 and 256 terms on the way: most densities are of them.
  EXPECT_GT(staged.thinned_evaluations, counted.counts().evaluations);
}

TEST(StagedStart, GoesThereAtOnceWhereFewerTermsCostAsMuch) {
  const RingsOfTerms target(1600);
  const StagedStart staged = staged_start(target, target.terms(), 3072, 3, Streams(2), silent_progress());
  ASSERT_EQ(staged.start.outcome, Outcome::ok);
  EXPECT_EQ(staged.thinned_evaluations, 0U);
  expect_margins(target.known(), staged.start.points.back());
}

TEST(StagedStart, SaysSoWhereNoPointOfThePriorIsPossible) {
  const PointTarget target(6, [](std::span<const double>) { return std::nan(""); });
  const StagedStart staged = staged_start(CountedTarget(target), 64, 64, 1, Streams(3), silent_progress());
  EXPECT_EQ(staged.start.outcome, Outcome::diverged);
}

}  // namespace
}  // namespace catena::sample::staged_start_test
