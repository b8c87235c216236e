/// Methods that see states through an embedding of frames (model/frames/): it is trained first, as a regression of z,
/// and left as it is; then the method's networks are trained on the embedded states, as if these were the simulator's.
#pragma once

#include <vector>

#include "catena/core/config.h"
#include "catena/model/frames/frame_embedding.h"
#include "catena/train/method.h"

namespace catena::train {

/// The settings, which every method of Method::sees_frames has.
std::vector<FieldInfo> frame_fields();
/// Takes them out of a method's named settings.
model::FrameNetworkSettings take_frame_settings(nlohmann::json& settings);
/// Whether named settings ask for an embedding.
bool asks_for_frames(const nlohmann::json& settings);

struct TrainedFrames {
  model::FrameNetworkSettings settings;  // with what was chosen
  model::TrainedNetwork network;
  std::shared_ptr<const model::FrameEmbedding> embedding;
  std::vector<std::string> state_names;  // of the states themselves
};

/// Trains the embedding and lets the data see embedded states from now on.
TrainedFrames embed_frames(std::string_view method, model::FrameNetworkSettings settings, const MethodContext& context);

}  // namespace catena::train
