/// Local scores by a density with blurred parameters (model/density/blur.h):
///
///   s_t(θ_a, a) = −θ_a/(m² + σ²) + m/(m² + σ²) ∇_ẑ log q_τ(x^(t+1) | x^t, ẑ).

#include <algorithm>
#include <cmath>
#include <vector>

#include "catena/compose/density/density_rows.h"
#include "catena/compose/scores/blurred_scores.h"
#include "catena/model/density/blur.h"
#include "catena/nn/workspace_pool.h"

namespace catena::compose {
namespace {

constexpr std::size_t blurred_block_lanes = 128;

class BlurredScores final : public LocalScores {
 public:
  BlurredScores(const model::BlurredModel& model, const ObservedSeries& series)
      : schedule_(model.schedule),
        d_(model.model->prior.size()),
        map_(model.map),
        shape_(model.shape),
        density_(model::record_density(model.settings.density, shape_)),
        weights_(model::flat_weights(density_.graph, model.weights(), model.model->source)),
        pool_(density_.graph, blurred_block_lanes, {.keep_values = true, .input_gradients = {density_.inputs.z}}),
        rows_(density_rows(map_, shape_, series)) {}

  std::size_t transitions() const override { return rows_.v.rows(); }
  std::size_t dimension() const override { return d_; }

  void scores(ConstMatrixView theta_a, double a, std::size_t begin, std::size_t end, MatrixView out) const override {
    const double m = schedule_.m(a), variance = m * m + schedule_.sigma_squared(a), factor = m / variance;
    const double tau = std::sqrt(schedule_.sigma_squared(a) / variance);
    const auto workspace = pool_.borrow();
    const nn::Replay z_stays = density_.graph.dependents_of_all_but({density_.inputs.z});
    const std::size_t n = theta_a.rows;
    std::vector<double> z_hat(d_);
    std::vector<float> row(d_ + model::blur_features);
    for (std::size_t first = 0; first < n; first += blurred_block_lanes) {
      const std::size_t lanes = std::min(blurred_block_lanes, n - first);
      const Block z = workspace->value(density_.inputs.z, lanes);
      for (std::size_t l = 0; l < lanes; ++l) {
        for (std::size_t f = 0; f < d_; ++f) z_hat[f] = factor * theta_a(first + l, f);
        model::blur_inputs(z_hat, tau, row);
        for (std::size_t f = 0; f < row.size(); ++f) z(f, l) = row[f];
      }
      for (std::size_t t = begin; t < end; ++t) {
        load(*workspace, lanes, t);
        t == begin ? workspace->forward(weights_, lanes) : workspace->forward(weights_, lanes, z_stays);
        std::fill_n(workspace->gradient(density_.loss, lanes).data, lanes, -1.0F);
        workspace->reverse(weights_, lanes, density_.loss, {});
        const Block gradient = workspace->gradient(density_.inputs.z, lanes);
        for (std::size_t l = 0; l < lanes; ++l) {
          const auto score = out.row((t - begin) * n + first + l);
          for (std::size_t f = 0; f < d_; ++f) score[f] = factor * gradient(f, l) - theta_a(first + l, f) / variance;
        }
      }
    }
  }

 private:
  void load(nn::Workspace& workspace, std::size_t lanes, std::size_t t) const {
    const auto fill = [&](nn::Value value, const Matrix& rows) {
      if (rows.cols() == 0) return;
      const Block block = workspace.value(value, lanes);
      for (std::size_t f = 0; f < rows.cols(); ++f) {
        std::fill_n(block.feature(f), lanes, static_cast<float>(rows(t, f)));
      }
    };
    fill(density_.inputs.state, rows_.state);
    fill(density_.inputs.v, rows_.v);
    fill(density_.inputs.atom, rows_.atom);
    fill(density_.inputs.keep, rows_.keep);
  }

  diffusion::Schedule schedule_;
  std::size_t d_;
  model::DensityMap map_;
  model::DensityShape shape_;
  model::DensityGraph density_;
  AlignedVector<float> weights_;
  mutable nn::WorkspacePool pool_;
  DensityRows rows_;
};

}  // namespace

std::unique_ptr<LocalScores> blurred_scores(const model::BlurredModel& model, const ObservedSeries& series) {
  return std::make_unique<BlurredScores>(model, series);
}

}  // namespace catena::compose
