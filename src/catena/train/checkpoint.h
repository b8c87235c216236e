/// Everything that the training loop needs to go on with the same bits, as a safetensors file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "catena/nn/optimizer.h"
#include "catena/train/loop.h"

namespace catena::train {

struct LoopState {
  nn::OptimizerState optimizer;
  LoopResult result;
  double running_loss = 0;  // sum of the batches' losses since the last evaluation
  std::int64_t running_steps = 0;
  bool finished = false;
};

void write_checkpoint(const std::filesystem::path& path, const LoopState& state, const nlohmann::json& identity);

/// Throws InputError if the checkpoint belongs to other data or settings, FileError if it is damaged. `weights` is the
/// length of the network's array of weights.
LoopState read_checkpoint(const std::filesystem::path& path, const nlohmann::json& identity, std::size_t weights);

}  // namespace catena::train
