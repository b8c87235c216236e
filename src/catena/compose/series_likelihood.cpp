#include "catena/compose/series_likelihood.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "catena/core/check.h"

namespace catena::compose {
namespace {

constexpr std::size_t block_lanes = 128;
constexpr std::size_t chains_per_item = 16;  // of a long series: loading its transitions is then a small share
constexpr std::size_t nothing_loaded = static_cast<std::size_t>(-1);

}  // namespace

struct SeriesLikelihood::Worker {
  Worker(const train::DensityGraph& density, const nn::Purpose& purpose)
      : workspace(density.graph, block_lanes, purpose) {}
  nn::Workspace workspace;
  std::size_t loaded = nothing_loaded;
};

SeriesLikelihood::SeriesLikelihood(const train::DensityModel& model, const ObservedSeries& series, Parallel parallel)
    : shape_(model.shape),
      transitions_(series.transitions()),
      parts_((transitions_ + block_lanes - 1) / block_lanes),
      chains_per_block_(std::max<std::size_t>(1, block_lanes / transitions_)),
      density_(train::record_density(model.settings.density, shape_,
                                     chains_per_block_ > 1 ? nn::Lanes::grouped(transitions_) : nn::Lanes::one())),
      weights_(train::flat_weights(density_.graph, model.weights(), model.model->source)),
      parallel_(std::move(parallel)),
      state_(transitions_, shape_.state_inputs),
      v_(transitions_, shape_.states),
      atom_(transitions_, shape_.atoms),
      keep_(transitions_, shape_.atoms > 0 ? shape_.states : 0),
      plain_(static_cast<std::size_t>(parallel_.threads())),
      with_gradient_(plain_.size()) {
  std::vector<float> c(series.c.cols()), state(state_.cols()), v(v_.cols()), atom(atom_.cols()), keep(keep_.cols());
  for (std::size_t t = 0; t < transitions_; ++t) {
    std::ranges::transform(series.c.row(t), c.begin(), [](double value) { return static_cast<float>(value); });
    model.map.state(c.data(), state);
    model.map.increment(c.data(), {}, v, atom, keep);
    std::ranges::copy(state, state_.row(t).begin());
    std::ranges::copy(v, v_.row(t).begin());
    std::ranges::copy(atom, atom_.row(t).begin());
    std::ranges::copy(keep, keep_.row(t).begin());
    double kept = static_cast<double>(shape_.states);
    for (const float value : keep) kept -= value == 0 ? 1 : 0;
    constant_ += model.map.log_jacobian(keep) - 0.5 * kept * std::log(2 * std::numbers::pi);
  }
}

SeriesLikelihood::~SeriesLikelihood() = default;

/// Writes the part's transitions into the lanes, once for each chain of a block, and computes everything once.
void SeriesLikelihood::load(Worker& worker, std::size_t part) const {
  if (worker.loaded == part) return;
  const std::size_t begin = part_begin(part), count = part_begin(part + 1) - begin;
  const std::size_t lanes = count * chains_per_block_;
  const auto fill = [&](nn::Value value, const Matrix& rows) {
    if (rows.cols() == 0) return;
    const Block block = worker.workspace.value(value, lanes);
    for (std::size_t f = 0; f < block.features; ++f) {
      for (std::size_t l = 0; l < lanes; ++l) block(f, l) = static_cast<float>(rows(begin + l % count, f));
    }
  };
  fill(density_.inputs.state, state_);
  fill(density_.inputs.v, v_);
  fill(density_.inputs.atom, atom_);
  fill(density_.inputs.keep, keep_);
  worker.workspace.forward(weights_, lanes);
  worker.loaded = part;
}

void SeriesLikelihood::evaluate(ConstMatrixView z, std::span<double> out, MatrixView gradient) const {
  CATENA_ASSERT(z.cols == shape_.parameters && out.size() >= z.rows);
  const bool wants_gradient = gradient.rows > 0;
  const std::size_t d = shape_.parameters, columns = 1 + (wants_gradient ? d : 0);
  const std::uint64_t z_changed = 1;  // z is the first input
  Matrix sums(parts_ * z.rows, columns);

  // One item: some chains of one part; all chains of a part follow each other.
  const std::size_t chains_at_once = parts_ == 1 ? chains_per_block_ : chains_per_item;
  const std::size_t items_per_part = (z.rows + chains_at_once - 1) / chains_at_once;
  parallel_.for_each(parts_ * items_per_part, [&](std::size_t item) {
    const std::size_t part = item / items_per_part, first = item % items_per_part * chains_at_once;
    auto& slot = (wants_gradient ? with_gradient_ : plain_)[static_cast<std::size_t>(Parallel::worker())];
    if (!slot) {
      nn::Purpose purpose{.keep_values = true};
      if (wants_gradient) purpose.input_gradients = {density_.inputs.z};
      slot = std::make_unique<Worker>(density_, purpose);
    }
    load(*slot, part);
    nn::Workspace& workspace = slot->workspace;
    const std::size_t count = part_begin(part + 1) - part_begin(part);
    const std::size_t last = std::min(z.rows, first + chains_at_once);
    for (std::size_t begin = first; begin < last; begin += chains_per_block_) {
      const std::size_t chains = std::min(chains_per_block_, last - begin), lanes = chains * count;
      const Block parameters = workspace.value(density_.inputs.z, lanes);
      for (std::size_t f = 0; f < d; ++f) {
        for (std::size_t k = 0; k < chains; ++k) parameters(f, k) = static_cast<float>(z(begin + k, f));
      }
      workspace.forward(weights_, lanes, z_changed);
      const Block loss = workspace.value(density_.loss, lanes);
      for (std::size_t k = 0; k < chains; ++k) {
        double sum = 0;
        for (std::size_t l = k * count; l < (k + 1) * count; ++l) sum -= loss(0, l);
        sums(part * z.rows + begin + k, 0) = sum;
      }
      if (!wants_gradient) continue;
      std::fill_n(workspace.gradient(density_.loss, lanes).data, lanes, -1.0F);
      workspace.reverse(weights_, lanes, density_.loss, {});
      const Block found = workspace.gradient(density_.inputs.z, lanes);
      for (std::size_t k = 0; k < chains; ++k) {
        for (std::size_t f = 0; f < d; ++f) sums(part * z.rows + begin + k, 1 + f) = found(f, k);
      }
    }
  });

  for (std::size_t i = 0; i < z.rows; ++i) {
    out[i] = constant_;
    if (wants_gradient) std::ranges::fill(gradient.row(i), 0.0);
    for (std::size_t part = 0; part < parts_; ++part) {
      const auto row = sums.row(part * z.rows + i);
      out[i] += row[0];
      for (std::size_t f = 1; f < columns; ++f) gradient(i, f - 1) += row[f];
    }
  }
}

}  // namespace catena::compose
