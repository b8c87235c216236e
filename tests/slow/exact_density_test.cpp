// FNLE's chains with the exact density in place of the network: for every task whose density has a closed form they
// draw from the same posterior as the exact reference.
//
// Both sets are 1,000 near-independent draws; the share of one set at or below a quantile of the other has deviation
// √(2 q(1−q)/n), times 1.3 because draws of a chain are not quite independent. Checks at 5 of these, some 150 of them:
// a false alarm in 1e-4. Seeds are fixed.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "catena/evaluate/reference/reference.h"
#include "catena/sample/mcmc/chains.h"
#include "catena/simulate/model.h"
#include "catena/tasks/likelihood.h"

namespace catena::sample::exact_density_test {
namespace {

struct Case {
  std::string task;
  std::size_t transitions;
};

/// What ctest lists beside the name.
void PrintTo(const Case& one, std::ostream* out) { *out << one.task << ", T = " << one.transitions; }

std::vector<Case> cases() {
  std::vector<Case> result;
  for (const std::string& name : tasks::registry().names()) {
    if (!tasks::has_likelihood(name)) continue;
    for (const std::size_t transitions : {10, 100}) result.push_back({name, transitions});
  }
  return result;
}

class EveryExactDensity : public ::testing::TestWithParam<Case> {};

TEST_P(EveryExactDensity, GivesTheReferenceByFnlesChains) {
  const auto& [name, transitions] = GetParam();
  const tasks::Task task = tasks::make_task(name, tasks::registry().at("test", name).small);
  Stream stream = Streams(11).stream("observe");
  Matrix z(1, task.prior.size()), theta = z;
  stream.fill_normal(z.values());
  task.prior.to_theta(z.row(0), theta.row(0));
  const Matrix series = simulate::simulate_series(task, theta, transitions, stream).front();
  Matrix covariates(series.rows(), task.simulator.covariates());
  for (std::size_t r = 0; covariates.cols() > 0 && r < series.rows(); ++r) {
    std::ranges::copy(task.covariates.row(r % task.covariates.rows()), covariates.row(r).begin());
  }
  const auto likelihood = tasks::series_likelihood(task, series, covariates);
  if (likelihood->normals_per_transition() > 0) GTEST_SKIP() << "its density is estimated, not in closed form";
  ASSERT_TRUE(likelihood->pinned().empty());

  constexpr std::size_t n = 1000;
  const auto in_z = tasks::likelihood_in_z(*likelihood, task.prior);
  const PointTarget target(
      task.prior.size(),
      [&](std::span<const double> z_here) { return log_prior(z_here) + in_z->log_likelihood(z_here); }, Parallel());
  McmcDraws draws = mcmc_sample(target, n, {}, Streams(12), Parallel());
  ASSERT_EQ(draws.info.outcome, Outcome::ok);
  for (std::size_t r = 0; r < n; ++r) {
    const std::vector<double> drawn(draws.z.row(r).begin(), draws.z.row(r).end());
    task.prior.to_theta(drawn, draws.z.row(r));
  }
  const evaluate::Reference reference =
      evaluate::sample_reference(*likelihood, task.prior, n, {}, Streams(13), Parallel(), silent_progress());
  ASSERT_EQ(reference.outcome, Outcome::ok);
  fmt::print("{:16} T {:3}: {}, {} densities\n", name, transitions, draws.info.kernel, draws.info.evaluations);
  for (std::size_t i = 0; i < task.prior.size(); ++i) {
    std::vector<double> exact(n);
    for (std::size_t r = 0; r < n; ++r) exact[r] = reference.draws(r, i);
    std::ranges::sort(exact);
    for (const double q : {0.1, 0.5, 0.9}) {
      const double bound = exact[static_cast<std::size_t>(q * n)];
      double share = 0;
      for (std::size_t r = 0; r < n; ++r) share += draws.z(r, i) <= bound ? 1.0 / n : 0;
      EXPECT_NEAR(share, q, 5 * 1.3 * std::sqrt(2 * q * (1 - q) / n)) << "parameter " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Tasks, EveryExactDensity, ::testing::ValuesIn(cases()), [](const auto& tested) {
  return fmt::format("{}_T{}", tested.param.task, tested.param.transitions);
});

}  // namespace
}  // namespace catena::sample::exact_density_test
