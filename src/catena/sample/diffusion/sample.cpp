#include "catena/sample/diffusion/sample.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "catena/core/check.h"
#include "catena/sample/diffusion/adaptive.h"

namespace catena::sample {
namespace {

struct BlockInfo {
  Outcome outcome = Outcome::ok;
  std::size_t evaluations = 0;
  std::size_t diverged = 0, cuts = 0;
};

/// All levels for the particles of one block.
BlockInfo run_block(const compose::SeriesScore& score, const Sampler& sampler, const SampleSettings& settings,
                    const std::vector<Level>& path, Stream stream, MatrixView y) {
  const Noise noise = [&](std::span<double> out) { stream.fill_normal(out); };
  Engine engine(score, sampler, y.rows, settings.largest_z, settings.langevin);
  engine.start(path.front(), y, noise);
  Outcome steps = Outcome::ok;
  if (settings.tolerance > 0) {
    steps = adaptive_steps(engine, score, sampler, path.front(), path.back(),
                           {settings.tolerance, static_cast<std::size_t>(settings.steps)}, y, noise);
  } else {
    for (std::size_t i = 0; i + 1 < path.size(); ++i) engine.step(path[i], path[i + 1], y, noise);
  }
  if (settings.denoise) engine.denoise(path.back(), y);

  BlockInfo info{engine.outcome() == Outcome::ok ? steps : engine.outcome(), engine.evaluations(), 0, engine.cuts()};
  for (std::size_t p = 0; p < y.rows; ++p) {
    info.diverged += !std::ranges::all_of(y.row(p), [](double value) { return std::isfinite(value); });
  }
  if (info.diverged > 0 && info.outcome == Outcome::ok) info.outcome = Outcome::diverged;
  return info;
}

void merge(SampleInfo& all, const BlockInfo& block) {
  if (all.outcome == Outcome::ok) all.outcome = block.outcome;
  all.evaluations = std::max(all.evaluations, block.evaluations);
  all.diverged += block.diverged;
  all.cuts += block.cuts;
}

}  // namespace

DiffusionDraws diffusion_sample(const compose::SeriesScore& score, std::size_t draws, const SampleSettings& settings,
                                const Streams& streams, const Parallel& parallel, Progress& progress) {
  check_config("sample", settings);
  check::at_least("sample", "draws", draws, std::size_t{1});
  const Sampler& sampler = samplers().at("sample", settings.sampler);
  check::that(settings.tolerance == 0 || sampler.adaptive(), "sample", "the sampler of adaptive steps", sampler.name,
              "one that estimates its error (corrected_heun, stochastic_heun, heun, ralston3)");
  const diffusion::Schedule& schedule = score.schedule();
  const double end_eta = std::max(settings.end_width * score.shape().narrowest(), schedule.eta(settings.smallest_a));
  const std::vector<Level> path = levels(schedule, static_cast<std::size_t>(settings.steps), end_eta);

  DiffusionDraws result{Matrix(draws, score.dimension()), {}};
  const auto block_size = static_cast<std::size_t>(settings.block);
  std::vector<BlockInfo> blocks((draws + block_size - 1) / block_size);
  progress.start("sample", "draws", draws);
  parallel.for_blocks(draws, block_size, [&](std::size_t begin, std::size_t end, std::size_t block) {
    blocks[block] = run_block(score, sampler, settings, path, streams.stream("sample", block),
                              result.z.view().slice_rows(begin, end));
    progress.advance(end - begin);
  });
  progress.finish();
  for (const BlockInfo& block : blocks) merge(result.info, block);
  result.info.a_end = path.back().a;
  return result;
}

}  // namespace catena::sample
