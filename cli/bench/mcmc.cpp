// What a density buys: effective draws per 1,000 densities at R-hat ≤ 1.01, start and warm-up included, for each kernel
// at T = 100, on exact posteriors (gaussian_rw, mixture_rw, periodic_sde) and on those of a likelihood trained for a
// moment (double_well, lotka_volterra). docs/mcmc.md shows the table, which decided what `auto` takes.
//
// Densities are what counts, not seconds, because exact ones are cheaper than a network. They have no gradient either:
// it is taken by differences, and counted as what reverse mode costs on a network, two more densities. A kernel that
// has not mixed after `most_evaluations` gets 0.

#include <algorithm>

#include "bench/posterior.h"
#include "catena/sample/mcmc/chains.h"
#include "catena/sample/posterior.h"
#include "catena/tasks/likelihood.h"

namespace catena::cli {

namespace {

constexpr std::size_t mcmc_transitions = 100, mcmc_draws = 1000;
constexpr double densities_per_gradient = 3;
constexpr int most_evaluations = 60'000;
constexpr int mcmc_training_steps = 2000;

/// An exact posterior with a gradient by differences.
class ExactTarget final : public sample::Target {
 public:
  explicit ExactTarget(const tasks::SeriesLikelihood& likelihood) : likelihood_(likelihood) {}
  std::size_t dimension() const override { return likelihood_.parameters(); }
  bool has_gradient() const override { return true; }
  void log_density(ConstMatrixView z, std::span<double> out) const override {
    for (std::size_t i = 0; i < z.rows; ++i) out[i] = value(z.row(i));
  }
  void log_density_and_gradient(ConstMatrixView z, std::span<double> out, MatrixView gradient) const override {
    constexpr double width = 1e-5;  // error ~ width², rounding ~ 1e-16/width
    std::vector<double> point(z.cols);
    for (std::size_t r = 0; r < z.rows; ++r) {
      std::ranges::copy(z.row(r), point.begin());
      out[r] = value(point);
      for (std::size_t i = 0; i < z.cols; ++i) {
        point[i] = z(r, i) + width;
        const double above = value(point);
        point[i] = z(r, i) - width;
        gradient(r, i) = (above - value(point)) / (2 * width);
        point[i] = z(r, i);
      }
    }
  }

 private:
  double value(std::span<const double> z) const { return sample::log_prior(z) + likelihood_.log_likelihood(z); }
  const tasks::SeriesLikelihood& likelihood_;
};

void bench_kernels(BenchContext& context, const std::string& task, const sample::Target& target) {
  for (const sample::KernelEntry& kernel : sample::kernels()) {
    if (kernel.most_dimensions < target.dimension()) continue;
    sample::McmcSettings settings;
    settings.kernel = kernel.name;
    settings.most_evaluations = most_evaluations;
    const sample::McmcInfo info = mcmc_sample(target, mcmc_draws, settings, Streams(2), Parallel(1)).info;
    const sample::ChainHealth health = sample::worst(info.health);
    const double cost = static_cast<double>(info.evaluations - info.gradients) +
                        densities_per_gradient * static_cast<double>(info.gradients);
    const bool mixed = info.outcome == Outcome::ok;
    const double ess = mixed ? std::min(health.bulk_ess, health.tail_ess) : 0;
    context.record(fmt::format("mcmc_ess_per_kdensity.{}.{}", task, kernel.name), 1000 * ess / cost, "draws",
                   mixed ? "effective draws per 1,000 densities, T = 100"
                         : fmt::format("not mixed after {} densities: R-hat {:.2f}", info.evaluations, health.r_hat));
  }
}

}  // namespace

void bench_mcmc(BenchContext& context) {
  for (const char* name : {"gaussian_rw", "mixture_rw", "periodic_sde"}) {
    const auto likelihood =
        tasks::series_likelihood(tasks::make_task(name), bench_series(name, mcmc_transitions, true));
    bench_kernels(context, name, ExactTarget(*likelihood));
  }
  for (const char* name : {"double_well", "lotka_volterra"}) {
    train::TrainingData data = bench_data(name);
    const model::TrainedModel model =
        bench_model("fnle", data, mcmc_training_steps, {{"density", "gaussian"}, {"decay", 0.5}});
    const Matrix series = bench_series(name, mcmc_transitions);
    const sample::PosteriorRequest request{.model = model, .series = {{series}}};
    const compose::ObservedSeries observed = compose::observed_series("bench", model, series, {});
    bench_kernels(context, name,
                  *sample::posterior_samplers().at("bench", "fnle").target(request, observed, Parallel(1)));
  }
}

}  // namespace catena::cli
