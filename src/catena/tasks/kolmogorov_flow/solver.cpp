#include "catena/tasks/kolmogorov_flow/solver.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "catena/nn/kernels/products.h"
#include "catena/tasks/kolmogorov_flow/inner_step.h"

namespace catena::tasks::kolmogorov_flow {

namespace {

constexpr double two_pi = 2 * std::numbers::pi;

}  // namespace

Solver::Solver(const Options& options, const Constants& constants)
    : n_(options.side()), inner_steps_(options.inner_steps), friction_(options.friction), constants_(constants) {
  const auto n = static_cast<double>(n_);
  for (std::size_t j = 0; j < n_; ++j) {
    const double y = two_pi * (static_cast<double>(j) + 0.5) / n;
    force_.push_back(static_cast<float>(options.forcing * std::sin(options.forcing_wavenumber * y)));
  }
  // Columns of W: the mean, then cosine and sine of k = 1, …, n/2 − 1, then the cosine of n/2.
  basis_.resize(n_ * n_);
  basis_t_.resize(n_ * n_);
  std::vector<double> lambda;
  for (std::size_t c = 0; c < n_; ++c) {
    const std::size_t k = (c + 1) / 2;
    const bool sine = c > 0 && c % 2 == 0;
    const double norm = std::sqrt((c == 0 || c + 1 == n_ ? 1 : 2) / n);
    for (std::size_t j = 0; j < n_; ++j) {
      const double angle = two_pi * static_cast<double>(j * k % n_) / n;
      basis_[j * n_ + c] = basis_t_[c * n_ + j] = static_cast<float>(norm * (sine ? std::sin(angle) : std::cos(angle)));
    }
    wavenumbers_.push_back(static_cast<int>(k));
    lambda.push_back(2 - 2 * std::cos(two_pi * static_cast<double>(k) / n));
  }
  for (const double a : lambda) {
    for (const double b : lambda) multipliers_.push_back(a + b == 0 ? 0.0F : static_cast<float>(-1 / (a + b)));
  }
}

StepCoefficients Solver::coefficients(double density, double reynolds) const {
  const double h = two_pi / static_cast<double>(n_), dt = constants_.dt;
  return {.courant = static_cast<float>(dt / h),
          .diffusion = static_cast<float>(dt / (h * h) / reynolds / density),
          .decay = static_cast<float>(friction_ * dt / density),
          .push = static_cast<float>(dt / density)};
}

void Solver::read(std::span<const float> values, Flow& flow) const {
  const float* from = values.data();
  for (Field* field : {&flow.u, &flow.v}) {
    for (std::size_t i = 0; i < n_; ++i, from += n_) {
      std::copy_n(from, n_, field->row(i));
      fill_margins(field->row(i), n_);
    }
  }
}

void Solver::write(const Flow& flow, std::span<float> values) const {
  float* to = values.data();
  for (const Field* field : {&flow.u, &flow.v}) {
    for (std::size_t i = 0; i < n_; ++i, to += n_) std::copy_n(field->row(i), n_, to);
  }
}

void Solver::filter(std::span<const float> multipliers, Field& field, Field& work) const {
  using nn::kernels::product;
  const auto rows_of = [&](Field& f) { return Block(f.row(0), n_, n_, f.stride); };
  const auto coefficients_of = [&](Field& f) { return nn::kernels::Coefficients{f.row(0), n_, n_, f.stride, 1}; };
  const ConstBlock w(basis_.data(), n_, n_, n_), w_t(basis_t_.data(), n_, n_, n_);
  product({basis_.data(), n_, n_, 1, n_}, rows_of(field), nullptr, {}, rows_of(work));  // Wᵀ d
  product(coefficients_of(work), w, nullptr, {}, rows_of(field));                       // Wᵀ d W
  multiply(multipliers.data(), n_, field);
  product(coefficients_of(field), w_t, nullptr, {}, rows_of(work));
  product({basis_.data(), n_, n_, n_, 1}, rows_of(work), nullptr, {}, rows_of(field));
}

void Solver::project(Flow& flow) const {
  take_divergence(flow);
  filter(multipliers_, flow.q, flow.work);
  subtract_gradient(flow);
}

void Solver::inner_step(const StepCoefficients& coefficients, Flow& flow) const {
  advance(coefficients, force_.data(), flow);
  project(flow);
}

void Solver::run(double density, double reynolds, Flow& flow) const {
  const StepCoefficients k = coefficients(density, reynolds);
  for (int step = 0; step < inner_steps_; ++step) inner_step(k, flow);
}

}  // namespace catena::tasks::kolmogorov_flow
