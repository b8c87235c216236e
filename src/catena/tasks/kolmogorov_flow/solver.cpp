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
  // S has its columns in the order in which B leaves the differences: the pair (j, n − 1 − j) at n − 1 − j.
  const std::size_t half = n_ / 2;
  halves_.resize(2 * half * half);
  halves_t_.resize(2 * half * half);
  std::vector<double> lambda;
  for (std::size_t row = 0; row < n_; ++row) {
    const bool sine = row >= half;
    const std::size_t k = sine ? row - half + 1 : row, first = sine ? half * half : 0, r = row % half;
    const double norm = std::sqrt((k == 0 || k == half ? 1 : 2) / n);
    for (std::size_t c = 0; c < half; ++c) {
      const std::size_t j = sine ? half - 1 - c : c;
      const double angle = two_pi * static_cast<double>((2 * j + 1) * k % (2 * n_)) / (2 * n);
      const auto value = static_cast<float>(norm * (sine ? std::sin(angle) : std::cos(angle)));
      halves_[first + r * half + c] = halves_t_[first + c * half + r] = value;
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

void Solver::from_left(const AlignedVector<float>& halves, Field& from, Field& to) const {
  const std::size_t half = n_ / 2;
  for (const std::size_t first : {std::size_t{0}, half}) {
    nn::kernels::product({halves.data() + first * half, half, half, half, 1},
                         ConstBlock(from.row(first), half, n_, from.stride), nullptr, {},
                         Block(to.row(first), half, n_, to.stride));
  }
}

void Solver::from_right(const AlignedVector<float>& halves, Field& from, Field& to) const {
  const std::size_t half = n_ / 2;
  for (const std::size_t first : {std::size_t{0}, half}) {
    nn::kernels::product({from.row(0) + first, n_, half, from.stride, 1},
                         ConstBlock(halves.data() + first * half, half, half, half), nullptr, {},
                         Block(to.row(0) + first, n_, half, to.stride));
  }
}

void Solver::filter(std::span<const float> multipliers, Field& field, Field& work) const {
  pair_rows(n_, field);
  from_left(halves_, field, work);
  pair_columns(n_, work);
  from_right(halves_t_, work, field);  // Wᵀ d W
  multiply(multipliers.data(), n_, field);
  from_right(halves_, field, work);
  pair_columns(n_, work);
  from_left(halves_t_, work, field);
  pair_rows(n_, field);
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
