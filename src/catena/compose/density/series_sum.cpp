#include "catena/compose/density/series_sum.h"

#include <algorithm>

#include "catena/core/check.h"

namespace catena::compose {
namespace {

constexpr std::size_t block_lanes = 128;
constexpr std::size_t chains_per_item = 16;  // of a long series: loading its transitions is then a small share
constexpr std::size_t nothing_loaded = static_cast<std::size_t>(-1);

std::size_t whole_chains(std::size_t transitions) { return std::max<std::size_t>(1, block_lanes / transitions); }

}  // namespace

struct SeriesSum::Worker {
  Worker(const nn::Graph& graph, const nn::Purpose& purpose) : workspace(graph, block_lanes, purpose) {}
  nn::Workspace workspace;
  std::size_t loaded = nothing_loaded;
};

nn::Lanes SeriesSum::z_lanes(std::size_t transitions) {
  return whole_chains(transitions) > 1 ? nn::Lanes::grouped(transitions) : nn::Lanes::one();
}

SeriesSum::SeriesSum(TransitionNetwork network, const model::NamedWeights& weights, const std::string& source,
                     std::size_t transitions, Parallel parallel)
    : transitions_(transitions),
      parts_((transitions_ + block_lanes - 1) / block_lanes),
      chains_per_block_(whole_chains(transitions)),
      network_(std::move(network)),
      weights_(model::flat_weights(network_.graph, weights, source)),
      parallel_(std::move(parallel)),
      plain_(static_cast<std::size_t>(parallel_.threads())),
      with_gradient_(plain_.size()) {}

SeriesSum::~SeriesSum() = default;

/// Writes the part's transitions into the lanes, once for each chain of a block, and computes everything once.
void SeriesSum::load(Worker& worker, std::size_t part) const {
  if (worker.loaded == part) return;
  const std::size_t begin = part_begin(part), count = part_begin(part + 1) - begin;
  const std::size_t lanes = count * chains_per_block_;
  for (const TransitionNetwork::Input& input : network_.inputs) {
    const Block block = worker.workspace.value(input.value, lanes);
    for (std::size_t f = 0; f < block.features; ++f) {
      for (std::size_t l = 0; l < lanes; ++l) block(f, l) = static_cast<float>(input.rows(begin + l % count, f));
    }
  }
  worker.workspace.forward(weights_, lanes);
  worker.loaded = part;
}

void SeriesSum::evaluate(ConstMatrixView z, std::span<double> out, MatrixView gradient) const {
  CATENA_ASSERT(z.cols == dimension() && out.size() >= z.rows);
  const bool wants_gradient = gradient.rows > 0;
  const std::size_t d = z.cols, columns = 1 + (wants_gradient ? d : 0);
  const nn::Replay z_changed = network_.graph.dependents({network_.z});
  Matrix sums(parts_ * z.rows, columns);

  // One item: some chains of one part; all chains of a part follow each other.
  const std::size_t chains_at_once = parts_ == 1 ? chains_per_block_ : chains_per_item;
  const std::size_t items_per_part = (z.rows + chains_at_once - 1) / chains_at_once;
  parallel_.for_each(parts_ * items_per_part, [&](std::size_t item) {
    const std::size_t part = item / items_per_part, first = item % items_per_part * chains_at_once;
    auto& slot = (wants_gradient ? with_gradient_ : plain_)[static_cast<std::size_t>(Parallel::worker())];
    if (!slot) {
      nn::Purpose purpose{.keep_values = true};
      if (wants_gradient) purpose.input_gradients = {network_.z};
      slot = std::make_unique<Worker>(network_.graph, purpose);
    }
    load(*slot, part);
    nn::Workspace& workspace = slot->workspace;
    const std::size_t count = part_begin(part + 1) - part_begin(part);
    const std::size_t last = std::min(z.rows, first + chains_at_once);
    for (std::size_t begin = first; begin < last; begin += chains_per_block_) {
      const std::size_t chains = std::min(chains_per_block_, last - begin), lanes = chains * count;
      const Block parameters = workspace.value(network_.z, lanes);
      for (std::size_t f = 0; f < d; ++f) {
        for (std::size_t k = 0; k < chains; ++k) parameters(f, k) = static_cast<float>(z(begin + k, f));
      }
      workspace.forward(weights_, lanes, z_changed);
      const Block value = workspace.value(network_.value, lanes);
      for (std::size_t k = 0; k < chains; ++k) {
        double sum = 0;
        for (std::size_t l = k * count; l < (k + 1) * count; ++l) sum += value(0, l);
        sums(part * z.rows + begin + k, 0) = sum;
      }
      if (!wants_gradient) continue;
      std::fill_n(workspace.gradient(network_.value, lanes).data, lanes, 1.0F);
      workspace.reverse(weights_, lanes, network_.value, {});
      const Block found = workspace.gradient(network_.z, lanes);
      for (std::size_t k = 0; k < chains; ++k) {
        for (std::size_t f = 0; f < d; ++f) sums(part * z.rows + begin + k, 1 + f) = found(f, k);
      }
    }
  });

  for (std::size_t i = 0; i < z.rows; ++i) {
    out[i] = 0;
    if (wants_gradient) std::ranges::fill(gradient.row(i), 0.0);
    for (std::size_t part = 0; part < parts_; ++part) {
      const auto row = sums.row(part * z.rows + i);
      out[i] += network_.factor * row[0];
      for (std::size_t f = 1; f < columns; ++f) gradient(i, f - 1) += network_.factor * row[f];
    }
  }
}

}  // namespace catena::compose
