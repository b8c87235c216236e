#include "catena/compose/series_ratio.h"

#include <algorithm>
#include <array>

#include "catena/compose/series_sum.h"
#include "catena/core/check.h"
#include "catena/nn/workspace_pool.h"

namespace catena::compose {
namespace {

constexpr std::size_t block_lanes = 128;

/// The inputs s and T(u) of the series' transitions, one a row.
struct TransitionRows {
  TransitionRows(const train::RatioModel& model, const ObservedSeries& series)
      : state(series.transitions(), model.shape.state), increment(series.transitions(), model.shape.increment) {
    std::vector<float> c(series.c.cols()), s(state.cols()), t(increment.cols());
    for (std::size_t row = 0; row < series.transitions(); ++row) {
      std::ranges::transform(series.c.row(row), c.begin(), [](double value) { return static_cast<float>(value); });
      model.map.state(c.data(), s);
      model.map.increment(c.data(), t);
      std::ranges::copy(s, state.row(row).begin());
      std::ranges::copy(t, increment.row(row).begin());
    }
  }
  Matrix state, increment;
};

/// Σ_t r(z, c_t) by one member.
class SeparableMember {
 public:
  SeparableMember(const train::RatioModel& model, int member, std::span<const double> summary)
      : terms_(model.settings.network.linear_terms() + 1),
        square_terms_(static_cast<std::size_t>(model.settings.network.square_terms)),
        z_(graph_.input("z", model.shape.parameters)),
        phi_(train::record_coefficients(graph_, model.settings.network, z_)),
        weights_(train::flat_weights(graph_, model.weights(member), model.model->source)),
        summary_(summary.begin(), summary.end()),
        plain_(graph_, block_lanes, {.keep_values = true}),
        with_gradient_(graph_, block_lanes, {.keep_values = true, .input_gradients = {z_}}) {}

  /// Adds factor times the member's value for rows [begin, end) of z.
  void add(ConstMatrixView z, std::size_t begin, std::size_t end, double factor, std::span<double> out,
           MatrixView gradient) const {
    const std::size_t lanes = end - begin;
    const bool wants_gradient = gradient.rows > 0;
    const auto workspace = (wants_gradient ? with_gradient_ : plain_).borrow();
    const Block in = workspace->value(z_, lanes);
    for (std::size_t f = 0; f < z.cols; ++f) {
      for (std::size_t l = 0; l < lanes; ++l) in(f, l) = static_cast<float>(z(begin + l, f));
    }
    workspace->forward(weights_, lanes);
    const Block phi = workspace->value(phi_, lanes);
    const Block slopes = wants_gradient ? workspace->gradient(phi_, lanes) : Block();
    std::array<double, block_lanes> slope;
    for (std::size_t f = 0; f < phi.features; ++f) {
      // The value's derivative in φ_f, and what φ_f adds to the value: all of it where it is linear, half of it where
      // it is quadratic.
      const double share = derivative(phi, f, lanes, slope);
      for (std::size_t l = 0; l < lanes; ++l) out[begin + l] += factor * share * slope[l] * phi(f, l);
      if (!wants_gradient) continue;
      for (std::size_t l = 0; l < lanes; ++l) slopes(f, l) = static_cast<float>(factor * slope[l]);
    }
    if (!wants_gradient) return;
    workspace->reverse(weights_, lanes, phi_, {});
    const Block found = workspace->gradient(z_, lanes);
    for (std::size_t l = 0; l < lanes; ++l) {
      for (std::size_t f = 0; f < z.cols; ++f) gradient(begin + l, f) += found(f, l);
    }
  }

 private:
  /// ∂/∂φ_f of φ·S − ½ Σ_m φ_mᵀ A_m φ_m, and the share of φ_f ∂/∂φ_f that counts in the value.
  double derivative(ConstBlock phi, std::size_t f, std::size_t lanes, std::span<double> slope) const {
    if (f < terms_) {
      std::fill_n(slope.begin(), lanes, summary_[f]);
      return 1;
    }
    const std::size_t first = f - (f - terms_) % square_terms_;  // of the square that f belongs to
    const double* row = summary_.data() + terms_ + (f - terms_) * square_terms_;
    std::fill_n(slope.begin(), lanes, 0.0);
    for (std::size_t j = 0; j < square_terms_; ++j) {
      for (std::size_t l = 0; l < lanes; ++l) slope[l] -= row[j] * phi(first + j, l);
    }
    return 0.5;
  }

  std::size_t terms_, square_terms_;
  nn::Graph graph_;
  nn::Value z_, phi_;
  AlignedVector<float> weights_;
  std::vector<double> summary_;
  mutable nn::WorkspacePool plain_, with_gradient_;
};

class SeparableRatio final : public SeriesDensity {
 public:
  SeparableRatio(const train::RatioModel& model, const Matrix& summaries, const Parallel& parallel)
      : dimension_(model.shape.parameters), parallel_(parallel) {
    for (std::size_t k = 0; k < summaries.rows(); ++k) {
      members_.push_back(std::make_unique<SeparableMember>(model, static_cast<int>(k), summaries.row(k)));
    }
  }

  std::size_t dimension() const override { return dimension_; }
  void evaluate(ConstMatrixView z, std::span<double> out, MatrixView gradient) const override {
    std::ranges::fill(out.first(z.rows), 0.0);
    if (gradient.rows > 0) std::fill_n(gradient.data, gradient.rows * gradient.cols, 0.0);
    const double share = 1 / static_cast<double>(members_.size());
    parallel_.for_blocks(z.rows, block_lanes, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (const auto& member : members_) member->add(z, begin, end, share, out, gradient);
    });
  }

 private:
  std::size_t dimension_;
  Parallel parallel_;
  std::vector<std::unique_ptr<SeparableMember>> members_;
};

/// The mean of sums over transitions.
class JointRatio final : public SeriesDensity {
 public:
  JointRatio(const train::RatioModel& model, const ObservedSeries& series, const Parallel& parallel) {
    const TransitionRows rows(model, series);
    const int count = model.settings.ensemble;
    for (int k = 0; k < count; ++k) {
      train::RatioGraph ratio =
          train::record_ratio(model.settings.network, model.shape, SeriesSum::z_lanes(series.transitions()));
      TransitionNetwork network{std::move(ratio.graph), ratio.inputs.z, ratio.ratio, 1.0 / count};
      network.inputs.push_back({ratio.inputs.state, rows.state});
      network.inputs.push_back({ratio.inputs.increment, rows.increment});
      members_.push_back(std::make_unique<SeriesSum>(std::move(network), model.weights(k), model.model->source,
                                                     series.transitions(), parallel));
    }
  }

  std::size_t dimension() const override { return members_[0]->dimension(); }
  void evaluate(ConstMatrixView z, std::span<double> out, MatrixView gradient) const override {
    members_[0]->evaluate(z, out, gradient);
    std::vector<double> value(z.rows);
    Matrix slope(gradient.rows, gradient.cols);
    for (std::size_t k = 1; k < members_.size(); ++k) {
      members_[k]->evaluate(z, value, slope);
      for (std::size_t i = 0; i < z.rows; ++i) out[i] += value[i];
      for (std::size_t i = 0; i < gradient.rows; ++i) {
        for (std::size_t f = 0; f < gradient.cols; ++f) gradient(i, f) += slope(i, f);
      }
    }
  }

 private:
  std::vector<std::unique_ptr<SeriesSum>> members_;
};

}  // namespace

Matrix ratio_summaries(const train::RatioModel& model, const ObservedSeries& series) {
  const TransitionRows rows(model, series);
  const train::RatioNetworkSettings& network = model.settings.network;
  nn::Graph graph;
  const nn::Value state = graph.input("state", model.shape.state);
  const nn::Value increment = graph.input("increment", model.shape.increment);
  const nn::Value psi = train::record_summary(graph, network, model.shape, state, increment);
  const std::size_t features = graph.features(psi), terms = network.linear_terms() + 1,
                    square_terms = static_cast<std::size_t>(network.square_terms);
  Matrix sums(static_cast<std::size_t>(model.settings.ensemble), terms + (features - terms) * square_terms);
  const train::RowInput inputs[] = {{state, rows.state}, {increment, rows.increment}};
  for (std::size_t k = 0; k < sums.rows(); ++k) {
    const std::vector<float> values =
        train::run_rows(graph, inputs, psi, model.weights(static_cast<int>(k)), model.model->source);
    for (std::size_t t = 0; t < series.transitions(); ++t) {
      const float* row = values.data() + t * features;
      for (std::size_t f = 0; f < terms; ++f) sums(k, f) += row[f];
      std::size_t at = terms;
      for (std::size_t f = terms; f < features; ++f) {
        const std::size_t first = f - (f - terms) % square_terms;
        for (std::size_t j = 0; j < square_terms; ++j) {
          sums(k, at++) += static_cast<double>(row[f]) * static_cast<double>(row[first + j]);
        }
      }
    }
  }
  return sums;
}

std::unique_ptr<SeriesDensity> series_ratio(const train::RatioModel& model, const ObservedSeries& series,
                                            const Parallel& parallel) {
  if (!model.settings.network.separable()) return std::make_unique<JointRatio>(model, series, parallel);
  return series_ratio(model, ratio_summaries(model, series), parallel);
}

std::unique_ptr<SeriesDensity> series_ratio(const train::RatioModel& model, const Matrix& summaries,
                                            const Parallel& parallel) {
  CATENA_ASSERT(model.settings.network.separable());
  return std::make_unique<SeparableRatio>(model, summaries, parallel);
}

}  // namespace catena::compose
