#include "catena/model/frames/frame_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "catena/core/check.h"
#include "catena/nn/convolution.h"
#include "catena/nn/gaussian.h"
#include "catena/nn/layers.h"

namespace catena::model {
namespace {

constexpr std::size_t fewest_places = 3;  // a side: with fewer, a few channels would be all that is left
constexpr std::size_t largest_number = 100000;

std::vector<std::string> pieces_of(const std::string& text, char separator) {
  std::vector<std::string> pieces(1);
  for (const char character : text) {
    if (character == separator) {
      pieces.emplace_back();
    } else {
      pieces.back() += character;
    }
  }
  return pieces;
}

/// A whole number from 1 on; 0 if it is none.
std::size_t number_in(const std::string& text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value <= largest_number ? value : 0;
}

}  // namespace

std::string FrameShape::text() const { return fmt::format("{}x{}x{}", channels, y, x); }

FrameShape FrameShape::parse(std::string_view function, const std::string& text) {
  const std::vector<std::string> pieces = pieces_of(text, 'x');
  std::vector<std::size_t> sizes;
  for (const std::string& piece : pieces) sizes.push_back(number_in(piece));
  check::that(sizes.size() == 3 && std::ranges::count(sizes, std::size_t{0}) == 0, function, "state_shape",
              text.empty() ? "empty" : text, "channels, rows and columns of a state, as 2x64x64");
  return {sizes[0], sizes[1], sizes[2]};
}

FrameShifts FrameShifts::parse(std::string_view function, const std::string& text, const FrameShape& shape) {
  if (text == "none") return {};
  const std::vector<std::string> pieces = pieces_of(text, 'x');
  const FrameShifts shifts{number_in(pieces.front()), number_in(pieces.back())};
  check::that(pieces.size() == 2 && shifts.y > 0 && shifts.x > 0 && shape.y % shifts.y == 0 && shape.x % shifts.x == 0,
              function, "shifts", text, fmt::format("none or divisors of {} and {}, as 1x8", shape.y, shape.x));
  return shifts;
}

std::vector<ConvolutionLayer> convolutions_for(std::string_view function, const FrameNetworkSettings& settings,
                                               const FrameShape& shape) {
  std::vector<ConvolutionLayer> layers;
  std::size_t y = shape.y, x = shape.x;
  for (const std::string& piece : pieces_of(settings.convolutions, ',')) {
    const std::vector<std::string> halves = pieces_of(piece, '/'), sizes = pieces_of(halves.front(), 'x');
    const ConvolutionLayer layer{number_in(sizes.front()), number_in(sizes.back()),
                                 halves.size() == 2 ? number_in(halves.back()) : 1};
    check::that(sizes.size() == 2 && halves.size() <= 2 && layer.channels > 0 && layer.kernel > 0 && layer.stride > 0,
                function, "convolutions", settings.convolutions, "a list as 64x6/2,32x6/2,16x3");
    if (std::min(y, x) < layer.kernel) break;
    y = (y - layer.kernel) / layer.stride + 1;
    x = (x - layer.kernel) / layer.stride + 1;
    if (std::min(y, x) < fewest_places) break;
    layers.push_back(layer);
  }
  check::that(!layers.empty(), function, "state_shape", shape.text(),
              fmt::format("large enough for the first of the convolutions {} to leave {} places a side",
                          settings.convolutions, fewest_places));
  return layers;
}

nn::Value record_frame_embedding(nn::Graph& graph, const FrameNetworkSettings& settings, const FrameShape& shape,
                                 nn::Value frames) {
  const std::vector<ConvolutionLayer> layers = convolutions_for("frame embedding", settings, shape);
  const std::size_t named = pieces_of(settings.convolutions, ',').size();
  const auto width = static_cast<std::size_t>(settings.embedding_width);
  nn::Value h = frames;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string name = fmt::format("frame.{}", i);
    h = nn::conv2d_layer(graph, name, h, layers[i].channels, {layers[i].kernel, layers[i].kernel, layers[i].stride});
    if (i + 1 == named && named > 1) break;  // the last of the list is followed by dense layers at once
    h = graph.apply("gelu",
                    {nn::group_norm_layer(graph, name + ".norm", h, static_cast<std::size_t>(settings.groups))});
  }
  const double share = 1 / static_cast<double>(shape.y * shape.x);
  const auto mean = [&](nn::Value values) { return nn::scale(graph, share, graph.apply("sum_places", {values})); };
  const nn::Value seen = nn::concatenate(graph, {h, mean(frames), mean(nn::multiply(graph, frames, frames))});
  return nn::hidden(graph, "frame.dense", seen, width, 2);
}

nn::Value record_frame_head(nn::Graph& graph, const FrameNetworkSettings& settings, std::size_t parameters,
                            nn::Value before, nn::Value after) {
  const nn::Value pair = nn::concatenate(graph, {before, nn::subtract(graph, after, before)});
  return nn::mlp(graph, "head", pair, static_cast<std::size_t>(settings.embedding_width), 2,
                 nn::gaussian_parameters(parameters), "gelu");
}

}  // namespace catena::model
