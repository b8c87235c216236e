/// Local scores by a density with blurred parameters (train/blur.h):
///
///   s_t(θ_a, a) = −θ_a/(m² + σ²) + m/(m² + σ²) ∇_ẑ log q_τ(x^(t+1) | x^t, ẑ).

#include <algorithm>
#include <cmath>
#include <vector>

#include "catena/compose/density_rows.h"
#include "catena/compose/network_scores.h"
#include "catena/nn/workspace_pool.h"
#include "catena/train/blur.h"

namespace catena::compose {
namespace {

constexpr std::size_t likelihood_block_lanes = 128;

class LikelihoodScores final : public LocalScores {
 public:
  LikelihoodScores(const ScoreModel& model, const ObservedSeries& series)
      : schedule_(model.schedule),
        d_(model.model->prior.size()),
        map_(model.model->features, model.model->state_names, model.settings.inputs,
             train::densities().at(model.model->source, model.settings.density.density).noise_at_atoms),
        shape_(map_.shape(d_ + train::blur_features)),
        density_(train::record_density(model.settings.density, shape_)),
        weights_(train::flat_weights(density_.graph, model.model->network(train::likelihood_network).weights,
                                     model.model->source)),
        pool_(density_.graph, likelihood_block_lanes, {.keep_values = true, .input_gradients = {density_.inputs.z}}),
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
    std::vector<float> row(d_ + train::blur_features);
    for (std::size_t first = 0; first < n; first += likelihood_block_lanes) {
      const std::size_t lanes = std::min(likelihood_block_lanes, n - first);
      const Block z = workspace->value(density_.inputs.z, lanes);
      for (std::size_t l = 0; l < lanes; ++l) {
        for (std::size_t f = 0; f < d_; ++f) z_hat[f] = factor * theta_a(first + l, f);
        train::blur_inputs(z_hat, tau, row);
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
  train::DensityMap map_;
  train::DensityShape shape_;
  train::DensityGraph density_;
  AlignedVector<float> weights_;
  mutable nn::WorkspacePool pool_;
  DensityRows rows_;
};

}  // namespace

std::unique_ptr<LocalScores> likelihood_scores(const ScoreModel& model, const ObservedSeries& series) {
  return std::make_unique<LikelihoodScores>(model, series);
}

}  // namespace catena::compose
