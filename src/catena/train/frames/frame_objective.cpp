#include "catena/train/frames/frame_objective.h"

#include "catena/core/check.h"
#include "catena/nn/gaussian.h"
#include "catena/nn/layers.h"

namespace catena::train {

FrameObjective::FrameObjective(const model::FrameNetworkSettings& settings, const model::FrameShape& shape,
                               std::size_t parameters, double joined_share, const model::FrameShifts& shifts)
    : parameters_(parameters), weight_(1 / joined_share), shape_(shape), shifts_(shifts) {
  frames_ = graph_.input("frames", model::places_of(shape));
  z_ = graph_.input("z", parameters);
  counts_ = graph_.input("counts", 1);
  const nn::Value e = model::record_frame_embedding(graph_, settings, shape, frames_);
  const nn::Value next = graph_.apply("next_lane", {e});
  const nn::Value gaussian = model::record_frame_head(graph_, settings, parameters, e, next);
  loss_ = nn::multiply(graph_, counts_, nn::record_gaussian(graph_, gaussian, z_).loss);
}

void FrameObjective::fill(nn::Workspace& workspace, const BatchPart& part, Stream stream) const {
  const std::size_t lanes = part.count() * frames_of_example;
  const Block frames = workspace.value(frames_, lanes), z = workspace.value(z_, lanes),
              counts = workspace.value(counts_, lanes);
  const std::size_t n = frames.features, d = parameters_;
  for (std::size_t i = 0; i < part.count(); ++i) {
    const float *from = part.c(i), *of_pairs = part.z(i);
    const std::size_t lane = i * frames_of_example;
    const std::size_t up = shifts_.any() ? shifts_.y * stream.integer(shape_.y / shifts_.y) : 0,
                      left = shifts_.any() ? shifts_.x * stream.integer(shape_.x / shifts_.x) : 0;
    for (std::size_t f = 0; f < n; ++f) {
      const std::size_t place = f / shape_.channels;
      const std::size_t y = (place / shape_.x + up) % shape_.y, x = (place % shape_.x + left) % shape_.x;
      const std::size_t seen = (y * shape_.x + x) * shape_.channels + f % shape_.channels;
      for (std::size_t k = 0; k < frames_of_example; ++k) frames(f, lane + k) = from[k * n + seen];
    }
    for (std::size_t k = 0; k < frames_of_example; ++k) {
      const bool pair = k < pairs_of_example;
      for (std::size_t j = 0; j < d; ++j) z(j, lane + k) = pair ? of_pairs[k * (d + 1) + j] : 0.0F;
      counts(0, lane + k) = pair ? static_cast<float>(weight_) * of_pairs[k * (d + 1) + d] : 0.0F;
    }
  }
}

}  // namespace catena::train
