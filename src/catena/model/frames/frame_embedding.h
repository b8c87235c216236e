/// A trained embedding of states, ready for use: what was learned of frames, with the scale that they are seen on. It
/// stands between states as they are and everything else a model knows (features.h): to its networks, series are series
/// of embeddings.
#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/parallel.h"
#include "catena/model/frames/frame_network.h"
#include "catena/model/weights.h"

namespace catena::model {

/// The network of a model that has one.
inline constexpr const char* frames_network = "embedding";

/// Frames as networks see them: each channel standardised, places [y, x, channels].
struct FrameScale {
  FrameShape shape;
  std::vector<double> mean, scale;  // of each channel

  /// Of some frames, one a row.
  static FrameScale of(const FrameShape& shape, ConstMatrixView frames);
  void apply(std::span<const double> state, std::span<float> places) const;
  nlohmann::json to_json() const;
  static FrameScale from_json(const std::string& source, const nlohmann::json& json);
};

class FrameEmbedding {
 public:
  FrameEmbedding(const FrameNetworkSettings& settings, FrameScale scale, const NamedWeights& weights,
                 const std::string& source);

  const FrameScale& scale() const { return scale_; }
  std::size_t states() const { return scale_.shape.size(); }  ///< numbers of a state
  std::size_t size() const { return size_; }                  ///< numbers of its embedding
  /// e of each row.
  Matrix embed(ConstMatrixView states, const Parallel& parallel = Parallel(1)) const;

 private:
  FrameScale scale_;
  std::size_t size_;
  nn::Graph graph_;
  nn::Value frames_, embedding_;
  AlignedVector<float> weights_;
};

/// e_1 … e_E, as states are named.
std::vector<std::string> embedding_names(std::size_t size);

}  // namespace catena::model
