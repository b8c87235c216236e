#include "catena/model/frames/frame_embedding.h"

#include <fmt/format.h>

#include <cmath>

#include "catena/core/check.h"
#include "catena/nn/rows.h"

namespace catena::model {
namespace {

constexpr std::size_t frame_lanes = 32;      // a window of the widest layer's input stays in the second cache
constexpr std::size_t frames_a_piece = 256;  // that one thread takes at a time

}  // namespace

FrameScale FrameScale::of(const FrameShape& shape, ConstMatrixView frames) {
  FrameScale scale{shape, std::vector<double>(shape.channels), std::vector<double>(shape.channels, 1.0)};
  const std::size_t places = shape.y * shape.x;
  const double count = static_cast<double>(frames.rows * places);
  for (std::size_t c = 0; c < shape.channels; ++c) {
    const auto sum_of = [&](const auto& value) {
      double sum = 0;
      for (std::size_t r = 0; r < frames.rows; ++r) {
        for (const double x : frames.row(r).subspan(c * places, places)) sum += value(x);
      }
      return sum;
    };
    const double mean = sum_of([](double x) { return x; }) / count;
    const double squares = sum_of([mean](double x) { return (x - mean) * (x - mean); });
    scale.mean[c] = mean;
    if (squares > 0 && std::isfinite(squares)) scale.scale[c] = std::sqrt(squares / count);
  }
  return scale;
}

void FrameScale::apply(std::span<const double> state, std::span<float> places) const {
  const std::size_t count = shape.y * shape.x;
  for (std::size_t c = 0; c < shape.channels; ++c) {
    for (std::size_t p = 0; p < count; ++p) {
      places[p * shape.channels + c] = static_cast<float>((state[c * count + p] - mean[c]) / scale[c]);
    }
  }
}

nlohmann::json FrameScale::to_json() const {
  return {{"shape", {shape.channels, shape.y, shape.x}}, {"mean", mean}, {"scale", scale}};
}

FrameScale FrameScale::from_json(const std::string& source, const nlohmann::json& json) {
  FrameScale scale;
  bool right = false;
  try {
    const auto shape = json.at("shape").get<std::vector<std::size_t>>();
    json.at("mean").get_to(scale.mean);
    json.at("scale").get_to(scale.scale);
    right = shape.size() == 3 && scale.mean.size() == shape[0] && scale.scale.size() == shape[0];
    for (const std::size_t size : shape) right = right && size >= 1 && size <= 100000;
    for (const double value : scale.scale) right = right && value > 0;
    if (right) scale.shape = {shape[0], shape[1], shape[2]};
  } catch (const nlohmann::json::exception&) {
    right = false;
  }
  if (!right) throw FileError(fmt::format("{}: its frames are not those of a model", source));
  return scale;
}

FrameEmbedding::FrameEmbedding(const FrameNetworkSettings& settings, FrameScale scale, const NamedWeights& weights,
                               const std::string& source)
    : scale_(std::move(scale)), size_(static_cast<std::size_t>(settings.embedding_width)) {
  frames_ = graph_.input("frames", places_of(scale_.shape));
  embedding_ = record_frame_embedding(graph_, settings, scale_.shape, frames_);
  weights_ = flat_weights(graph_, weights, source);
}

Matrix FrameEmbedding::embed(ConstMatrixView states, const Parallel& parallel) const {
  CATENA_ASSERT(states.cols == this->states());
  Matrix embedded(states.rows, size_);
  parallel.for_blocks(states.rows, frames_a_piece, [&](std::size_t begin, std::size_t end, std::size_t) {
    AlignedVector<float> places(states.cols);
    nn::run_rows(
        graph_, weights_, end - begin,
        [&](nn::Workspace& workspace, std::size_t first, std::size_t lanes) {
          const Block block = workspace.value(frames_, lanes);
          for (std::size_t l = 0; l < lanes; ++l) {
            scale_.apply(states.row(begin + first + l), places);
            for (std::size_t f = 0; f < places.size(); ++f) block(f, l) = places[f];
          }
        },
        [&](nn::Workspace& workspace, std::size_t first, std::size_t lanes) {
          nn::lanes_to_rows(ConstBlock(workspace.value(embedding_, lanes)), begin + first, embedded.view());
        },
        nn::Purpose::inference(), std::min(frame_lanes, end - begin));
  });
  return embedded;
}

std::vector<std::string> embedding_names(std::size_t size) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= size; ++i) names.push_back(fmt::format("e_{}", i));
  return names;
}

}  // namespace catena::model
