#include "catena/compose/density/held_density.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace catena::compose {
namespace {

class HeldDensity final : public SeriesDensity {
 public:
  explicit HeldDensity(std::unique_ptr<SeriesDensity> density)
      : density_(std::move(density)), radius_(held_radius(density_->dimension())) {}

  std::size_t dimension() const override { return density_->dimension(); }
  bool costs_grow() const override { return density_->costs_grow(); }

  void evaluate(ConstMatrixView z, std::span<double> out, MatrixView gradient) const override {
    Matrix held(z.rows, z.cols);
    std::vector<double> factor(z.rows);
    for (std::size_t i = 0; i < z.rows; ++i) {
      double norm = 0;
      for (const double value : z.row(i)) norm = std::hypot(norm, value);
      factor[i] = norm > radius_ ? radius_ / norm : 1;
      std::ranges::transform(z.row(i), held.row(i).begin(), [&](double value) { return factor[i] * value; });
    }
    density_->evaluate(held, out, gradient);
    for (std::size_t i = 0; i < gradient.rows; ++i) {
      if (factor[i] < 1) project(held.row(i), factor[i], gradient.row(i));
    }
  }

 private:
  /// Beyond the radius, ∇_z log p̃ = (R/‖z‖) (I − y yᵀ/R²) ∇ log p(y) at y = R z/‖z‖.
  void project(std::span<const double> y, double factor, std::span<double> gradient) const {
    const double outwards = std::inner_product(y.begin(), y.end(), gradient.begin(), 0.0) / (radius_ * radius_);
    for (std::size_t f = 0; f < y.size(); ++f) gradient[f] = factor * (gradient[f] - outwards * y[f]);
  }

  std::unique_ptr<SeriesDensity> density_;
  double radius_;
};

}  // namespace

double held_radius(std::size_t dimension) {
  return std::sqrt(static_cast<double>(std::max<std::size_t>(dimension, 8))) + 1.1;
}

std::unique_ptr<SeriesDensity> held_density(std::unique_ptr<SeriesDensity> density) {
  return std::make_unique<HeldDensity>(std::move(density));
}

}  // namespace catena::compose
