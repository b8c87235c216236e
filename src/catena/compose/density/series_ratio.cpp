#include "catena/compose/density/series_ratio.h"

#include <algorithm>

#include "catena/compose/density/density_rows.h"
#include "catena/compose/density/separable_sum.h"
#include "catena/compose/density/series_sum.h"
#include "catena/core/check.h"

namespace catena::compose {
namespace {

/// The mean of sums over transitions.
class JointRatio final : public SeriesDensity {
 public:
  JointRatio(const model::RatioModel& model, const ObservedSeries& series, const Parallel& parallel) {
    const RatioRows rows(model, series);
    const int count = model.settings.ensemble;
    for (int k = 0; k < count; ++k) {
      model::RatioGraph ratio =
          model::record_ratio(model.settings.network, model.shape, SeriesSum::z_lanes(series.transitions()));
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

std::unique_ptr<SeriesDensity> series_ratio(const model::RatioModel& model, const ObservedSeries& series,
                                            const Parallel& parallel) {
  const model::RatioNetworkSettings& network = model.settings.network;
  if (!network.separable()) return std::make_unique<JointRatio>(model, series, parallel);
  return ratio_of_sums(model, ratio_sums(model, series), parallel);
}

SeriesSums ratio_sums(const model::RatioModel& model, const ObservedSeries& series) {
  const model::RatioNetworkSettings& network = model.settings.network;
  check::that(network.separable(), "sample", "the network of a streaming model", network.network,
              "gaussian or separable");
  const RatioRows rows(model, series);
  nn::Graph of_c;
  const nn::Value state = of_c.input("state", model.shape.state);
  const nn::Value increment = of_c.input("increment", model.shape.increment);
  const nn::Value psi = model::record_summary(of_c, network, model.shape, state, increment);
  const model::RowInput inputs[] = {{state, rows.state}, {increment, rows.increment}};
  SeriesSums sums;
  for (int k = 0; k < model.settings.ensemble; ++k) {
    sums[model::ratio_name(k)] =
        separable_sums(network.layout(), model::run_rows(of_c, inputs, psi, model.weights(k), model.model->source));
  }
  return sums;
}

std::unique_ptr<SeriesDensity> ratio_of_sums(const model::RatioModel& model, const SeriesSums& sums,
                                             const Parallel& parallel) {
  auto sum = std::make_unique<SeparableSum>(parallel);
  for (int k = 0; k < model.settings.ensemble; ++k) {
    SeparablePart part;
    part.layout = model.settings.network.layout();
    part.z = part.graph.input("z", model.shape.parameters);
    part.phi = model::record_coefficients(part.graph, model.settings.network, part.z);
    part.sums = sums.at(model::ratio_name(k));
    sum->add(std::move(part), model.weights(k), model.model->source);
  }
  return sum;
}

}  // namespace catena::compose
