#include "catena/experiment/decompose.h"

#include <Eigen/Dense>
#include <cmath>

#include "catena/compose/precision.h"
#include "catena/compose/rule.h"
#include "catena/core/check.h"
#include "catena/evaluate/metric.h"
#include "catena/experiment/reference_draws.h"
#include "catena/sample/diffusion/sample.h"
#include "catena/tasks/observe.h"
#include "catena/tasks/task.h"

namespace catena::experiment {
namespace {

/// x^(t+1) = α x^t + u θ + s ε with a sign u that is 1 (gaussian_rw), or ±1 with equal chance (mixture_rw).
struct SignedWalk {
  double alpha, s;
  bool both_signs;
};

SignedWalk walk_of(const tasks::Task& task) {
  if (task.name == "gaussian_rw") return {0.9, 1, false};
  check::that(task.name == "mixture_rw", "experiment", "the task of a decomposition", task.name,
              "gaussian_rw or mixture_rw, whose diffused local posteriors are known");
  return {1, task.options.at("sigma").get<double>(), true};
}

/// With v = x^(t+1) − α x^t, z | θ_a ~ N(ẑ, τ² I) (model/density/blur.h) and p = 1/(s² + τ²), v is N(u ẑ, I/p) given u,
/// so
///
///   ∇_ẑ log q_τ = Σ_u r_u g_u,   g_u = u p (v − u ẑ),   r_u ∝ exp(−½ p |v − u ẑ|²),
///   ∇²_ẑ log q_τ = −p I + Σ_u r_u g_u g_uᵀ − ḡ ḡᵀ.
class ExactScores final : public compose::LocalScores {
 public:
  ExactScores(const SignedWalk& walk, ConstMatrixView series, const diffusion::Schedule& schedule)
      : walk_(walk), schedule_(schedule), v_(series.rows - 1, series.cols) {
    for (std::size_t t = 0; t < v_.rows(); ++t) {
      for (std::size_t i = 0; i < v_.cols(); ++i) v_(t, i) = series(t + 1, i) - walk.alpha * series(t, i);
    }
  }

  std::size_t transitions() const override { return v_.rows(); }
  std::size_t dimension() const override { return v_.cols(); }
  bool has_jacobians() const override { return true; }

  void scores(ConstMatrixView theta_a, double a, std::size_t begin, std::size_t end, MatrixView out) const override {
    scores_and_jacobians(theta_a, a, begin, end, out, MatrixView());
  }

  void scores_and_jacobians(ConstMatrixView theta_a, double a, std::size_t begin, std::size_t end, MatrixView out,
                            MatrixView jacobians) const override {
    const double m = schedule_.m(a), variance = m * m + schedule_.sigma_squared(a), factor = m / variance;
    const double tau_squared = schedule_.sigma_squared(a) / variance, p = 1 / (walk_.s * walk_.s + tau_squared);
    const auto d = static_cast<Eigen::Index>(dimension());
    for (std::size_t t = begin; t < end; ++t) {
      const Eigen::Map<const Eigen::VectorXd> v(v_.row(t).data(), d);
      for (std::size_t particle = 0; particle < theta_a.rows; ++particle) {
        const Eigen::Map<const Eigen::VectorXd> theta(theta_a.row(particle).data(), d);
        const Eigen::VectorXd z_hat = factor * theta, plus = p * (v - z_hat), minus = -p * (v + z_hat);
        // r₊ = 1/(1 + exp(−2 p v·ẑ))
        const double r = walk_.both_signs ? 1 / (1 + std::exp(-2 * p * v.dot(z_hat))) : 1;
        const Eigen::VectorXd g = r * plus + (1 - r) * minus;
        const std::size_t row = (t - begin) * theta_a.rows + particle;
        Eigen::Map<Eigen::VectorXd>(out.row(row).data(), d) = factor * g - theta / variance;
        if (jacobians.rows == 0) continue;
        Eigen::MatrixXd hessian = r * (1 - r) * (plus - minus) * (plus - minus).transpose();
        hessian.diagonal().array() -= p;
        hessian *= factor * factor;
        hessian.diagonal().array() -= 1 / variance;
        Eigen::Map<Eigen::MatrixXd>(jacobians.row(row).data(), d, d) = hessian;  // symmetric
      }
    }
  }

  /// The local posterior's covariance: each sign's is s²/(1 + s²) I around ±v/(1 + s²).
  compose::LocalPrecisions precisions() const {
    const auto d = static_cast<Eigen::Index>(dimension());
    const double s_squared = walk_.s * walk_.s;
    compose::LocalPrecisions result(transitions(), dimension() * dimension());
    for (std::size_t t = 0; t < transitions(); ++t) {
      const Eigen::Map<const Eigen::VectorXd> v(v_.row(t).data(), d);
      Eigen::MatrixXd covariance = s_squared / (1 + s_squared) * Eigen::MatrixXd::Identity(d, d);
      if (walk_.both_signs) covariance += v * v.transpose() / ((1 + s_squared) * (1 + s_squared));
      Eigen::Map<Eigen::MatrixXd>(result.row(t).data(), d, d) = covariance.inverse();
    }
    return result;
  }

 private:
  SignedWalk walk_;
  diffusion::Schedule schedule_;
  Matrix v_;
};

std::vector<nlohmann::json> usual_samplers() {
  return {{{"sampler", "euler_maruyama"}, {"steps", 500}},
          {{"sampler", "euler_maruyama"}, {"steps", 2000}},
          {{"sampler", "stochastic_heun"}, {"steps", 60}},
          {{"sampler", "stochastic_heun"}, {"steps", 500}, {"tolerance", 0.01}},
          {{"sampler", "predictor_corrector"}, {"steps", 250}, {"corrections", 4}},
          {{"sampler", "annealed_langevin"}, {"steps", 100}, {"corrections", 20}},
          {{"sampler", "heun"}, {"steps", 60}}};
}

}  // namespace

std::vector<DecomposedCell> decompose(const Decomposition& plan, const Parallel& parallel, Progress& progress) {
  const diffusion::Schedule schedule;
  const std::vector<nlohmann::json> samplers = plan.samplers.empty() ? usual_samplers() : plan.samplers;
  std::vector<DecomposedCell> cells;
  progress.start("decompose", "cells",
                 plan.tasks.size() * plan.transitions.size() * plan.rules.size() * samplers.size());
  for (const std::string& name : plan.tasks) {
    const tasks::Task task = tasks::make_task(name);
    for (const std::size_t T : plan.transitions) {
      for (const std::string& rule : plan.rules) {
        for (const nlohmann::json& sampler : samplers) {
          const auto settings = from_json<sample::SampleSettings>("experiment", sampler);
          DecomposedCell cell{name, rule, sampler, T};
          double squares = 0;
          for (std::size_t o = 0; o < plan.observations; ++o) {
            const auto observation = tasks::observe("experiment", task, T, plan.first_observation + o);
            const Matrix reference = reference_draws(task, {&observation, 1}, plan.draws, parallel);
            const ExactScores source(walk_of(task), observation.series, schedule);
            const auto score =
                compose::compose(rule, {.source = &source, .schedule = schedule, .precisions = source.precisions()});
            const sample::DiffusionDraws draws =
                sample::diffusion_sample(*score, plan.draws, settings, Streams(1), parallel);
            cell.evaluations = draws.info.evaluations;
            const double c2st = evaluate::metrics()
                                    .at("experiment", "c2st")
                                    .compute(draws.z, reference, Streams(0), parallel)
                                    .get<double>();
            cell.c2st += c2st / static_cast<double>(plan.observations);
            squares += c2st * c2st / static_cast<double>(plan.observations);
          }
          const auto n = static_cast<double>(plan.observations);
          if (n > 1) cell.standard_error = std::sqrt(std::max(0.0, squares - cell.c2st * cell.c2st) / (n - 1));
          cells.push_back(std::move(cell));
          progress.advance(1);
        }
      }
    }
  }
  progress.finish();
  return cells;
}

}  // namespace catena::experiment
