#include "catena/train/objectives/posterior.h"

#include <vector>

#include "catena/nn/sequences.h"

namespace catena::train {

void fill_series(const BatchPart& part, std::size_t longest, Block series, Block mask) {
  const std::size_t count = part.count(), features = part.examples.features;
  thread_local std::vector<std::size_t> lengths;
  lengths.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    lengths[i] = part.transitions(i);
    const float* c = part.c(i);
    const std::size_t used = lengths[i] * features;
    for (std::size_t f = 0; f < longest * features; ++f) series(f, i) = f < used ? c[f] : 0.0F;
  }
  nn::fill_mask(lengths, 1, 1, mask);
}

PosteriorObjective::PosteriorObjective(const model::PosteriorModelSettings& settings, const TrainingData& data)
    : posterior_(model::record_posterior(settings, data.prior().size(), data.features().size(), data.longest())),
      longest_(data.longest()) {}

void PosteriorObjective::fill(nn::Workspace& workspace, const BatchPart& part, Stream /*stream*/) const {
  const std::size_t count = part.count();
  fill_series(part, longest_, workspace.value(posterior_.series, count), workspace.value(posterior_.mask, count));
  gather(workspace.value(posterior_.z, count), count, 1, [&](std::size_t i) { return part.z(i); });
}

}  // namespace catena::train
