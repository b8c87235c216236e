// What a density buys: effective draws per 1,000 densities at R-hat ≤ 1.01, start and warm-up included, for each kernel
// on the exact posterior of gaussian_rw at T = 100.
//
// The targets here are cheaper than a network, so densities are what counts, not seconds. Exact likelihoods have no
// gradient: it is taken by differences, and counted as what reverse mode costs on a network, two more densities.

#include <algorithm>
#include <limits>

#include "bench.h"
#include "catena/sample/chains.h"
#include "catena/simulate/model.h"
#include "catena/tasks/task_density.h"

namespace catena::cli {

namespace {

constexpr std::size_t transitions = 100, draws = 1000;
constexpr double densities_per_gradient = 3;

sample::PointTarget posterior(const tasks::SeriesLikelihood& likelihood) {
  const auto log_density = [&likelihood](std::span<const double> z) {
    return sample::log_prior(z) + likelihood.log_likelihood(z);
  };
  return {likelihood.parameters(), [log_density](std::span<const double> z, std::span<double> gradient) {
            std::vector<double> point(z.begin(), z.end());
            const double width = 1e-5;  // error ~ width², rounding ~ 1e-16/width
            for (std::size_t i = 0; i < point.size(); ++i) {
              point[i] = z[i] + width;
              const double above = log_density(point);
              point[i] = z[i] - width;
              gradient[i] = (above - log_density(point)) / (2 * width);
              point[i] = z[i];
            }
            return log_density(z);
          }};
}

/// The target without its gradient: kernels that need none should not pay for one.
class WithoutGradient final : public sample::Target {
 public:
  explicit WithoutGradient(const tasks::SeriesLikelihood& likelihood) : likelihood_(likelihood) {}
  std::size_t dimension() const override { return likelihood_.parameters(); }
  void log_density(ConstMatrixView z, std::span<double> out) const override {
    for (std::size_t i = 0; i < z.rows; ++i) {
      out[i] = sample::log_prior(z.row(i)) + likelihood_.log_likelihood(z.row(i));
    }
  }

 private:
  const tasks::SeriesLikelihood& likelihood_;
};

}  // namespace

void bench_mcmc(BenchContext& context) {
  for (const char* name : {"gaussian_rw"}) {
    const tasks::Task task = tasks::registry().at("bench", name).make(nlohmann::json::object());
    Stream stream = Streams(1).stream("observe");
    Matrix z(1, task.prior.size()), theta = z;
    stream.fill_normal(z.values());
    task.prior.to_theta(z.row(0), theta.row(0));
    const Matrix series = simulate::simulate_series(task, theta, transitions, stream).front();
    const auto likelihood = tasks::series_likelihood(task, series);
    const sample::PointTarget with_gradient = posterior(*likelihood);
    const WithoutGradient without_gradient(*likelihood);
    for (const sample::KernelEntry& kernel : sample::kernels()) {
      if (kernel.most_dimensions < task.prior.size()) continue;
      sample::McmcSettings settings;
      settings.kernel = kernel.name;
      settings.most_steps = 1000;  // a kernel that has not mixed by then does not come into question
      const sample::Target& target =
          kernel.needs_gradient ? static_cast<const sample::Target&>(with_gradient) : without_gradient;
      const sample::McmcInfo info = mcmc_sample(target, draws, settings, Streams(2), Parallel(1)).info;
      const sample::ChainHealth health = sample::worst(info.health);
      const double cost = static_cast<double>(info.evaluations - info.gradients) +
                          densities_per_gradient * static_cast<double>(info.gradients);
      const double ess = info.outcome == Outcome::ok ? std::min(health.bulk_ess, health.tail_ess) : 0;
      context.record(
          fmt::format("mcmc_ess_per_kdensity.{}.{}", name, kernel.name), 1000 * ess / cost, "draws",
          info.outcome == Outcome::ok ? "effective draws per 1,000 densities, T = 100" : "did not mix in 1,000 steps");
    }
  }
}

}  // namespace catena::cli
