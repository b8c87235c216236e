#include "catena/compose/series_ratio.h"

#include <algorithm>

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

/// φ(z)·S + T b(z) of one member.
class SeparableMember {
 public:
  SeparableMember(const train::RatioModel& model, int member, std::span<const double> summary)
      : z_(graph_.input("z", model.shape.parameters)),
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
    for (std::size_t f = 0; f < phi.features; ++f) {
      for (std::size_t l = 0; l < lanes; ++l) out[begin + l] += factor * summary_[f] * phi(f, l);
    }
    if (!wants_gradient) return;
    const Block seed = workspace->gradient(phi_, lanes);
    for (std::size_t f = 0; f < phi.features; ++f) {
      std::fill_n(seed.feature(f), lanes, static_cast<float>(factor * summary_[f]));
    }
    workspace->reverse(weights_, lanes, phi_, {});
    const Block slope = workspace->gradient(z_, lanes);
    for (std::size_t l = 0; l < lanes; ++l) {
      for (std::size_t f = 0; f < z.cols; ++f) gradient(begin + l, f) += slope(f, l);
    }
  }

 private:
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
  nn::Graph graph;
  const nn::Value state = graph.input("state", model.shape.state);
  const nn::Value increment = graph.input("increment", model.shape.increment);
  const nn::Value psi = train::record_summary(graph, model.settings.network, state, increment);
  const std::size_t features = graph.features(psi);
  Matrix sums(static_cast<std::size_t>(model.settings.ensemble), features);
  const train::RowInput inputs[] = {{state, rows.state}, {increment, rows.increment}};
  for (std::size_t k = 0; k < sums.rows(); ++k) {
    const std::vector<float> values =
        train::run_rows(graph, inputs, psi, model.weights(static_cast<int>(k)), model.model->source);
    for (std::size_t i = 0; i < values.size(); ++i) sums(k, i % features) += values[i];
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
