#include "catena/compose/density/separable_sum.h"

#include <algorithm>
#include <array>

#include "catena/core/check.h"
#include "catena/nn/workspace_pool.h"

namespace catena::compose {
namespace {

constexpr std::size_t separable_block_lanes = 128;

}  // namespace

Matrix separable_sums(const model::SeparableLayout& layout, std::span<const float> psi) {
  const std::size_t features = layout.features();
  CATENA_ASSERT(psi.size() % features == 0);
  Matrix row_of_sums(1, layout.linear + layout.square_features() * layout.terms);
  const std::span<double> sums = row_of_sums.row(0);
  for (const float* row = psi.data(); row != psi.data() + psi.size(); row += features) {
    for (std::size_t f = 0; f < layout.linear; ++f) sums[f] += row[f];
    std::size_t at = layout.linear;
    for (std::size_t f = layout.linear; f < features; ++f) {
      const std::size_t first = layout.first_of_square(f);
      for (std::size_t j = 0; j < layout.terms; ++j) {
        sums[at++] += static_cast<double>(row[f]) * static_cast<double>(row[first + j]);
      }
    }
  }
  return row_of_sums;
}

class SeparableSum::Member {
 public:
  Member(SeparablePart part, const model::NamedWeights& weights, const std::string& source)
      : part_(std::move(part)),
        weights_(model::flat_weights(part_.graph, weights, source)),
        plain_(part_.graph, separable_block_lanes, {.keep_values = true}),
        with_gradient_(part_.graph, separable_block_lanes, {.keep_values = true, .input_gradients = {part_.z}}) {}

  std::size_t dimension() const { return part_.graph.features(part_.z); }

  /// Adds factor times the member's value for rows [begin, end) of z.
  void add(ConstMatrixView z, std::size_t begin, std::size_t end, double factor, std::span<double> out,
           MatrixView gradient) const {
    const std::size_t lanes = end - begin;
    const bool wants_gradient = gradient.rows > 0;
    const auto workspace = (wants_gradient ? with_gradient_ : plain_).borrow();
    const Block in = workspace->value(part_.z, lanes);
    for (std::size_t f = 0; f < z.cols; ++f) {
      for (std::size_t l = 0; l < lanes; ++l) in(f, l) = static_cast<float>(z(begin + l, f));
    }
    workspace->forward(weights_, lanes);
    const Block phi = workspace->value(part_.phi, lanes);
    const Block slopes = wants_gradient ? workspace->gradient(part_.phi, lanes) : Block();
    std::array<double, separable_block_lanes> slope;
    for (std::size_t f = 0; f < phi.features; ++f) {
      // The value's derivative in φ_f, and what φ_f adds to the value: all of it where it is linear, half of it where
      // it is quadratic.
      const double share = derivative(phi, f, lanes, slope);
      for (std::size_t l = 0; l < lanes; ++l) out[begin + l] += factor * share * slope[l] * phi(f, l);
      if (!wants_gradient) continue;
      for (std::size_t l = 0; l < lanes; ++l) slopes(f, l) = static_cast<float>(factor * slope[l]);
    }
    if (!wants_gradient) return;
    workspace->reverse(weights_, lanes, part_.phi, {});
    const Block found = workspace->gradient(part_.z, lanes);
    for (std::size_t l = 0; l < lanes; ++l) {
      for (std::size_t f = 0; f < z.cols; ++f) gradient(begin + l, f) += found(f, l);
    }
  }

 private:
  /// ∂/∂φ_f of φ·S − ½ Σ_m φ_mᵀ A_m φ_m, and the share of φ_f ∂/∂φ_f that counts in the value.
  double derivative(ConstBlock phi, std::size_t f, std::size_t lanes, std::span<double> slope) const {
    const model::SeparableLayout& layout = part_.layout;
    if (f < layout.linear) {
      std::fill_n(slope.begin(), lanes, part_.sums(0, f));
      return 1;
    }
    const std::size_t first = layout.first_of_square(f);
    const double* row = part_.sums.values().data() + layout.linear + (f - layout.linear) * layout.terms;
    std::fill_n(slope.begin(), lanes, 0.0);
    for (std::size_t j = 0; j < layout.terms; ++j) {
      for (std::size_t l = 0; l < lanes; ++l) slope[l] -= row[j] * phi(first + j, l);
    }
    return 0.5;
  }

  SeparablePart part_;
  AlignedVector<float> weights_;
  mutable nn::WorkspacePool plain_, with_gradient_;
};

SeparableSum::SeparableSum(const Parallel& parallel) : parallel_(parallel) {}
SeparableSum::~SeparableSum() = default;

void SeparableSum::add(SeparablePart part, const model::NamedWeights& weights, const std::string& source) {
  members_.push_back(std::make_unique<Member>(std::move(part), weights, source));
}

std::size_t SeparableSum::dimension() const { return members_[0]->dimension(); }

void SeparableSum::evaluate(ConstMatrixView z, std::span<double> out, MatrixView gradient) const {
  std::ranges::fill(out.first(z.rows), 0.0);
  if (gradient.rows > 0) std::fill_n(gradient.data, gradient.rows * gradient.cols, 0.0);
  const double share = 1 / static_cast<double>(members_.size());
  parallel_.for_blocks(z.rows, separable_block_lanes, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (const auto& member : members_) member->add(z, begin, end, share, out, gradient);
  });
}

}  // namespace catena::compose
