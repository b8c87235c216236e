#include "catena/compose/held_density.h"

#include <algorithm>
#include <cmath>

namespace catena::compose {
namespace {

class HeldDensity final : public SeriesDensity {
 public:
  HeldDensity(std::unique_ptr<SeriesDensity> density, double z_max) : density_(std::move(density)), z_max_(z_max) {}

  std::size_t dimension() const override { return density_->dimension(); }

  void evaluate(ConstMatrixView z, std::span<double> out, MatrixView gradient) const override {
    Matrix held(z.rows, z.cols);
    for (std::size_t i = 0; i < z.rows; ++i) {
      std::ranges::transform(z.row(i), held.row(i).begin(),
                             [&](double value) { return std::clamp(value, -z_max_, z_max_); });
    }
    density_->evaluate(held, out, gradient);
    for (std::size_t i = 0; i < gradient.rows; ++i) {
      for (std::size_t f = 0; f < gradient.cols; ++f) {
        if (std::abs(z(i, f)) > z_max_) gradient(i, f) = 0;
      }
    }
  }

 private:
  std::unique_ptr<SeriesDensity> density_;
  double z_max_;
};

}  // namespace

std::unique_ptr<SeriesDensity> held_density(std::unique_ptr<SeriesDensity> density, double z_max) {
  return std::make_unique<HeldDensity>(std::move(density), z_max);
}

}  // namespace catena::compose
