#include "catena/train/frames/embed.h"

#include <algorithm>
#include <cmath>

#include "catena/core/check.h"
#include "catena/train/frames/frame_objective.h"
#include "catena/train/frames/frame_source.h"

namespace catena::train {
namespace {

/// Of runs of frames: 480 transitions a step, as the paper has 500.
constexpr int examples_a_batch = 32;
constexpr double usual_passes = 40, fewest_steps = 200;
constexpr std::size_t frames_of_scale = 512;  // from which the scale of the channels is found
/// What a score network of joint kind has beside an embedding, unless it is named.
constexpr int papers_width = 400, papers_layers = 5;

/// Named, or as the simulator says, whose transitions carry it.
model::FrameShape shape_of(const model::FrameNetworkSettings& settings, const TrainingData& data, std::size_t states) {
  std::string text = settings.state_shape;
  if (text.empty() && data.provenance().is_object()) text = data.provenance().value("state_shape", std::string());
  check::that(!text.empty(), "train", "state_shape", "missing",
              "given with --embedding conv: the transitions do not say it (catena.simulate(…, state_shape=…) does)");
  const model::FrameShape shape = model::FrameShape::parse("train", text);
  check::that(shape.size() == states, "train", "state_shape", text, fmt::format("of {} numbers in all", states));
  return shape;
}

/// Examples [begin, end), each a run of frames from frame 15 i on; what lies beyond frame `size` does not count.
Examples runs_of(const FrameSource& source, std::size_t size, const model::FrameScale& scale, std::size_t begin,
                 std::size_t end) {
  const std::size_t n = source.states(), d = source.parameters(), first = begin * pairs_of_example,
                    frames = (end - begin) * pairs_of_example + 1;
  Examples examples;
  examples.parameters = pairs_of_example * (d + 1);
  examples.features = n;
  examples.z.resize((end - begin) * examples.parameters);
  examples.c.resize(frames * n);
  constexpr std::size_t at_a_time = 1024;
  const std::size_t last = std::min(size, first + frames);
  for (std::size_t from = first; from < last; from += at_a_time) {
    const Matrix some = source.read(from, std::min(last, from + at_a_time));
    for (std::size_t r = 0; r < some.rows(); ++r) {
      scale.apply(some.row(r), std::span(examples.c).subspan((from - first + r) * n, n));
    }
  }
  for (std::size_t i = begin; i < end; ++i) {
    examples.series.push_back({(i - begin) * pairs_of_example, frames_of_example});
    for (std::size_t k = 0; k < pairs_of_example; ++k) {
      const std::size_t frame = i * pairs_of_example + k;
      if (frame + 1 >= size || !source.joined(frame)) continue;
      float* z = examples.z.data() + ((i - begin) * pairs_of_example + k) * (d + 1);
      std::copy_n(source.z(frame), d, z);
      z[d] = 1;
    }
  }
  return examples;
}

/// The runs of a source: no more of them in memory than a few hundred megabytes.
TrainingData run_data(const FrameSource& source, std::size_t size, const model::FrameScale& scale, Split split) {
  constexpr std::size_t window_bytes = std::size_t{768} << 20;
  const std::size_t count = (size - 1 + pairs_of_example - 1) / pairs_of_example;
  const std::size_t at_once =
      std::max<std::size_t>(1, window_bytes / (pairs_of_example * source.states() * sizeof(float)));
  split.most = std::max<std::size_t>(2, split.most / pairs_of_example);
  split.frames = false;
  return {
      count, at_once,
      [&source, size, scale](std::size_t begin, std::size_t end) { return runs_of(source, size, scale, begin, end); },
      split};
}

/// The records whose frames are `first` and those after it, with embeddings in the place of states.
simulate::TransitionSet embedded_set(const FrameSource& source, std::size_t first,
                                     const model::FrameEmbedding& embedding, const TrainingData& data,
                                     const Parallel& parallel) {
  Matrix embedded(source.size(), embedding.size());
  constexpr std::size_t at_a_time = 2048;
  for (std::size_t begin = first; begin < source.size(); begin += at_a_time) {
    const Matrix some = embedding.embed(source.read(begin, std::min(source.size(), begin + at_a_time)), parallel);
    std::ranges::copy(some.values(), embedded.row(begin).begin());
  }
  std::vector<std::size_t> records;
  for (std::size_t r = 0; r < source.records(); ++r) {
    const auto [x, x_next] = source.places(r);
    if (x >= first && x_next >= first) records.push_back(r);
  }
  simulate::TransitionSet set;
  simulate::for_columns(
      [&](const simulate::Column&, Matrix& to, const Matrix& from) {
        to = Matrix(records.size(), from.cols());
        for (std::size_t k = 0; k < records.size(); ++k) std::ranges::copy(from.row(records[k]), to.row(k).begin());
      },
      set, source.columns());
  set.x = Matrix(records.size(), embedding.size());
  set.x_next = Matrix(records.size(), embedding.size());
  for (std::size_t k = 0; k < records.size(); ++k) {
    const auto [x, x_next] = source.places(records[k]);
    std::ranges::copy(embedded.row(x), set.x.row(k).begin());
    std::ranges::copy(embedded.row(x_next), set.x_next.row(k).begin());
  }
  set.prior = data.prior();
  set.state_names = model::embedding_names(embedding.size());
  set.covariate_names = data.covariate_names();
  set.provenance = data.provenance();
  return set;
}

}  // namespace

std::vector<FieldInfo> frame_fields() { return describe_fields<model::FrameNetworkSettings>(); }

model::FrameNetworkSettings take_frame_settings(nlohmann::json& settings) {
  nlohmann::json mine = nlohmann::json::object();
  for (const FieldInfo& field : frame_fields()) {
    if (const auto found = settings.find(field.name); found != settings.end()) {
      mine[field.name] = *found;
      settings.erase(found);
    }
  }
  const auto taken = from_json<model::FrameNetworkSettings>("train", mine);
  if (taken.used() && settings.value("network", "") == "joint") {
    if (!settings.contains("width")) settings["width"] = papers_width;
    if (!settings.contains("layers")) settings["layers"] = papers_layers;
  }
  return taken;
}

bool asks_for_frames(const nlohmann::json& settings) {
  return settings.is_object() && settings.value("embedding", "none") == "conv";
}

TrainedFrames embed_frames(std::string_view method, model::FrameNetworkSettings settings,
                           const MethodContext& context) {
  const FrameSource source = context.data.frames();
  const model::FrameShape shape = shape_of(settings, context.data, source.states());
  settings.state_shape = shape.text();
  const auto shifts = model::FrameShifts::parse("train", settings.shifts, shape);
  convolutions_for("train", settings, shape);  // refused before anything is read
  check::at_least("train", "the number of transitions that follow each other", source.joints(), std::size_t{20});

  // The first frames are the embedding's, the others the networks'.
  const auto size = static_cast<std::size_t>(settings.embedding_share * static_cast<double>(source.size()));
  const std::size_t some = std::min(frames_of_scale, size);
  Matrix sample(some, source.states());
  for (std::size_t k = 0; k < some; ++k) {
    const Matrix one = source.read(k * size / some, k * size / some + 1);
    std::ranges::copy(one.row(0), sample.row(k).begin());
  }
  const model::FrameScale scale = model::FrameScale::of(shape, sample);
  TrainingData runs = run_data(source, size, scale, context.data.split());

  LoopSettings loop = context.loop;
  loop.batch_size = examples_a_batch;
  loop.steps = settings.embedding_steps;
  if (loop.steps == 0) {
    const double a_pass = static_cast<double>(runs.training_size()) / examples_a_batch;
    loop.steps = static_cast<int>(std::max(fewest_steps, std::ceil(usual_passes * a_pass)));
    settings.embedding_steps = loop.steps;
  }
  const double lanes = static_cast<double>(runs.size() * frames_of_example);
  std::size_t joints = 0;
  for (std::size_t f = 0; f + 1 < size; ++f) joints += source.joined(f) ? 1 : 0;
  const FrameObjective objective(settings, shape, source.parameters(), static_cast<double>(joints) / lanes, shifts);
  model::TrainedModel scratch;
  scratch.method = method;
  scratch.settings = to_json(settings);
  scratch.seed = context.streams.seed();
  const MethodContext own{
      runs, loop, {}, context.streams, context.parallel, context.progress, context.checkpoint, context.preset};
  context.progress.expect(static_cast<std::uint64_t>(loop.steps));
  train_networks(scratch, {{model::frames_network, objective, loop}}, own);

  TrainedFrames trained{settings, std::move(scratch.networks.at(model::frames_network)), nullptr,
                        context.data.state_names()};
  trained.embedding =
      std::make_shared<const model::FrameEmbedding>(settings, scale, trained.network.weights, "the model");
  context.data.embed(
      embedded_set(source, size < source.size() ? size : 0, *trained.embedding, context.data, context.parallel));
  return trained;
}

}  // namespace catena::train
