#include "catena/compose/density/joined_density.h"

#include <algorithm>

#include "catena/core/check.h"

namespace catena::compose {
namespace {

class JoinedDensity final : public SeriesDensity {
 public:
  explicit JoinedDensity(std::vector<std::unique_ptr<SeriesDensity>> parts) : parts_(std::move(parts)) {}

  std::size_t dimension() const override { return parts_.front()->dimension(); }
  bool costs_grow() const override {
    return std::ranges::any_of(parts_, [](const auto& part) { return part->costs_grow(); });
  }
  void evaluate(ConstMatrixView z, std::span<double> out, MatrixView gradient) const override {
    parts_.front()->evaluate(z, out, gradient);
    std::vector<double> more(z.rows);
    Matrix slope(gradient.rows, gradient.cols);
    for (std::size_t k = 1; k < parts_.size(); ++k) {
      parts_[k]->evaluate(z, more, slope);
      for (std::size_t i = 0; i < z.rows; ++i) {
        out[i] += more[i];
        for (std::size_t f = 0; f < gradient.cols && gradient.rows > 0; ++f) gradient(i, f) += slope(i, f);
      }
    }
  }

 private:
  std::vector<std::unique_ptr<SeriesDensity>> parts_;
};

}  // namespace

std::unique_ptr<SeriesDensity> joined_density(std::vector<std::unique_ptr<SeriesDensity>> parts) {
  CATENA_ASSERT(!parts.empty());
  if (parts.size() == 1) return std::move(parts.front());
  return std::make_unique<JoinedDensity>(std::move(parts));
}

}  // namespace catena::compose
