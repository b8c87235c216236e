// The embedding of states that are fields on a grid: which layers fit, a slow twin of the whole network, and the same
// bits for any number of threads.

#include <gtest/gtest.h>

#include <cmath>

#include "catena/core/errors.h"
#include "catena/model/frames/frame_embedding.h"
#include "message_of.h"

namespace catena::model::frame_network_test {

namespace {

std::size_t layers_on(std::size_t side) {
  return convolutions_for("test", FrameNetworkSettings(), {2, side, side}).size();
}

/// Its weights, and frames that they are tried with.
struct Sample {
  explicit Sample(const FrameNetworkSettings& settings, const FrameShape& shape, std::size_t rows)
      : states(rows, shape.size()) {
    const nn::Value frames = graph.input("frames", places_of(shape));
    record_frame_embedding(graph, settings, shape, frames);
    flat = graph.initial_weights(Streams(3));
    Streams(4).stream("frames").fill_normal(states.values());
    named = named_weights(graph, flat);
    scale = FrameScale::of(shape, states);
  }
  /// W[o, j, i, c] and the others by name, as the file has them.
  std::span<const float> weights(const std::string& name) const {
    for (const files::Tensor& tensor : named) {
      if (tensor.name == name) return std::get<std::vector<float>>(tensor.values);
    }
    throw InputError("no " + name);
  }

  nn::Graph graph;
  AlignedVector<float> flat;
  NamedWeights named;
  Matrix states;
  FrameScale scale;
};

double gelu(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }

/// Values [channel][y][x] of the network's layers, one loop for each index.
struct Field {
  std::size_t channels, y, x;
  std::vector<double> values;
  double& at(std::size_t c, std::size_t j, std::size_t i) { return values[(c * y + j) * x + i]; }
};

Field convolve(const Sample& sample, const std::string& name, Field in, const ConvolutionLayer& layer) {
  const auto w = sample.weights(name + ".weight"), b = sample.weights(name + ".bias");
  const std::size_t k = layer.kernel;
  Field out{layer.channels, (in.y - k) / layer.stride + 1, (in.x - k) / layer.stride + 1, {}};
  out.values.resize(out.channels * out.y * out.x);
  for (std::size_t o = 0; o < out.channels; ++o) {
    for (std::size_t y = 0; y < out.y; ++y) {
      for (std::size_t x = 0; x < out.x; ++x) {
        double sum = b[o];
        for (std::size_t j = 0; j < k; ++j) {
          for (std::size_t i = 0; i < k; ++i) {
            for (std::size_t c = 0; c < in.channels; ++c) {
              sum += w[((o * k + j) * k + i) * in.channels + c] * in.at(c, y * layer.stride + j, x * layer.stride + i);
            }
          }
        }
        out.at(o, y, x) = sum;
      }
    }
  }
  return out;
}

void normalise(Field& field, std::size_t groups) {
  const std::size_t width = field.channels / groups, places = field.y * field.x;
  for (std::size_t g = 0; g < groups; ++g) {
    const auto part = std::span(field.values).subspan(g * width * places, width * places);
    double mean = 0, variance = 0;
    for (const double v : part) mean += v / static_cast<double>(part.size());
    for (const double v : part) variance += (v - mean) * (v - mean) / static_cast<double>(part.size());
    for (double& v : part) v = gelu((v - mean) / std::sqrt(variance + 1e-6));
  }
}

std::vector<double> dense(const Sample& sample, const std::string& name, const std::vector<double>& x) {
  const auto w = sample.weights(name + ".weight"), b = sample.weights(name + ".bias");
  std::vector<double> y(b.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    double sum = b[i];
    for (std::size_t k = 0; k < x.size(); ++k) sum += w[i * x.size() + k] * x[k];
    y[i] = gelu(sum);
  }
  return y;
}

}  // namespace

TEST(FrameNetwork, HasThePapersLayersAndFewerOnSmallGrids) {
  EXPECT_EQ(layers_on(128), 4U);
  EXPECT_EQ(layers_on(64), 4U);
  EXPECT_EQ(layers_on(32), 3U);  // the fourth would leave one place
  EXPECT_EQ(layers_on(11), 1U);
  EXPECT_EQ(message_of([] { layers_on(8); }),
            "test: state_shape is 2x8x8, but must be large enough for the first of the convolutions "
            "64x6/2,32x6/2,16x3,8x3 to leave 3 places a side");
}

TEST(FrameNetwork, RefusesOtherTexts) {
  FrameNetworkSettings settings;
  for (const char* text : {"", "64", "64x6/", "64x6/2,", "64x6/2/2", "0x3", "8x-3"}) {
    settings.convolutions = text;
    EXPECT_NE(message_of([&] { convolutions_for("test", settings, {2, 64, 64}); }).find("test: convolutions is"),
              std::string::npos)
        << text;
  }
  for (const char* text : {"", "64x64", "2x64x", "2x64x64x1", "2x0x64"}) {
    EXPECT_NE(message_of([&] { FrameShape::parse("test", text); }).find("test: state_shape is"), std::string::npos)
        << text;
  }
  const FrameShape shape{2, 64, 32};
  for (const char* text : {"", "1", "3x8", "1x64", "0x1", "1x8x8"}) {
    EXPECT_NE(message_of([&] { FrameShifts::parse("test", text, shape); }).find("test: shifts is"), std::string::npos)
        << text;
  }
  EXPECT_FALSE(FrameShifts::parse("test", "none", shape).any());
  EXPECT_EQ(FrameShifts::parse("test", "2x8", shape).x, 8U);
  EXPECT_EQ(FrameShape::parse("test", "2x64x32"), (FrameShape{2, 64, 32}));
}

TEST(FrameNetwork, EqualsItsSlowTwin) {
  const FrameShape shape{2, 32, 24};
  FrameNetworkSettings settings;
  settings.embedding = "conv";
  settings.convolutions = "8x6/2,8x4/2,4x2";
  settings.embedding_width = 12;
  const Sample sample(settings, shape, 5);
  const FrameEmbedding embedding(settings, sample.scale, sample.named, "test");
  const Matrix found = embedding.embed(sample.states);
  const auto layers = convolutions_for("test", settings, shape);
  ASSERT_EQ(layers.size(), 3U);
  for (std::size_t r = 0; r < found.rows(); ++r) {
    Field h{2, 32, 24, {}};
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const std::size_t c = i / (32 * 24);
      h.values.push_back((sample.states(r, i) - sample.scale.mean[c]) / sample.scale.scale[c]);
    }
    for (std::size_t k = 0; k < 3; ++k) {
      h = convolve(sample, fmt::format("frame.{}", k), h, layers[k]);
      if (k < 2) normalise(h, 4);
    }
    std::vector<double> flat;  // places first, then channels
    for (std::size_t p = 0; p < h.y * h.x; ++p) {
      for (std::size_t c = 0; c < h.channels; ++c) flat.push_back(h.values[c * h.y * h.x + p]);
    }
    for (const int power : {1, 2}) {
      for (std::size_t c = 0; c < 2; ++c) {
        double mean = 0;
        for (std::size_t p = 0; p < 32 * 24; ++p) {
          mean += std::pow((sample.states(r, c * 32 * 24 + p) - sample.scale.mean[c]) / sample.scale.scale[c], power);
        }
        flat.push_back(mean / (32 * 24));
      }
    }
    const std::vector<double> e = dense(sample, "frame.dense.1", dense(sample, "frame.dense.0", flat));
    // Five layers of sums of at most 288 products of size one, in single precision, each within 300 ε of exact.
    for (std::size_t i = 0; i < e.size(); ++i) EXPECT_NEAR(found(r, i), e[i], 5 * 300 * 6e-8) << r << " " << i;
  }
}

TEST(FrameNetwork, EmbedsToTheSameBitsOnOneTwoAndFiveThreadsAndRowByRow) {
  const FrameShape shape{1, 16, 16};
  FrameNetworkSettings settings;
  settings.convolutions = "8x6/2,8x2";
  const Sample sample(settings, shape, 600);
  const FrameEmbedding embedding(settings, sample.scale, sample.named, "test");
  const Matrix one = embedding.embed(sample.states, Parallel(1));
  for (const int threads : {2, 5}) EXPECT_TRUE(embedding.embed(sample.states, Parallel(threads)) == one);
  for (const std::size_t r : {std::size_t{0}, std::size_t{37}, std::size_t{599}}) {
    const Matrix alone = embedding.embed(sample.states.view().slice_rows(r, r + 1));
    for (std::size_t i = 0; i < one.cols(); ++i) ASSERT_EQ(alone(0, i), one(r, i));
  }
}

TEST(FrameScale, IsReadBackAsItWasWritten) {
  const Sample sample(FrameNetworkSettings(), {2, 32, 32}, 3);
  const FrameScale back = FrameScale::from_json("test", sample.scale.to_json());
  EXPECT_EQ(back.shape, sample.scale.shape);
  EXPECT_EQ(back.mean, sample.scale.mean);
  EXPECT_EQ(back.scale, sample.scale.scale);
  EXPECT_THROW(FrameScale::from_json("test", nlohmann::json::object()), FileError);
  nlohmann::json other = sample.scale.to_json();
  other["scale"][0] = 0;
  EXPECT_THROW(FrameScale::from_json("test", other), FileError);
}

}  // namespace catena::model::frame_network_test
