#include "catena/train/methods/npe.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "catena/core/errors.h"
#include "catena/model/posterior/posterior_model.h"
#include "catena/nn/sequences.h"
#include "catena/train/objectives/posterior.h"
#include "train_cases.h"

namespace catena::train::npe_test {

namespace fs = std::filesystem;

const nlohmann::json small_gru = {
    {"summaries", 8}, {"flow_width", 12}, {"bins", 4}, {"flow_layers", 2}, {"decay", 0.1}};
nlohmann::json small(std::string_view method) {
  if (method == "nse") return {{"summaries", 8}, {"width", 12}, {"decay", 0.1}};
  if (method == "nle_summary") {
    return {{"flow_width", 12}, {"flow_layers", 2}, {"units", 6}, {"decay", 0.1}, {"summary_epochs", 3}};
  }
  nlohmann::json settings = small_gru;
  if (method == "npe_summary") settings.update({{"summary", "sliced"}, {"summary_epochs", 3}});
  if (method == "npe_windows") settings.update({{"window_width", 12}, {"window_features", 10}, {"head_width", 12}});
  return settings;
}

TEST(WholeSeries, AreExamplesOfAllTheirTransitions) {
  const simulate::SeriesSet set = series_of("gaussian_rw", 6, 600);
  const TrainingData data(set, {});
  ASSERT_TRUE(data.whole_series());
  EXPECT_EQ(data.size(), 100U);
  EXPECT_EQ(data.longest(), 6U);
  const Examples& examples = data.window(0);
  for (std::size_t s = 0; s < data.size(); ++s) {
    ASSERT_EQ(examples.transitions_of(s), 6U);
    const model::Feature& x = data.features().all()[0];
    for (std::size_t t = 0; t < 6; ++t) {
      const double state = set.series(s).states(t, 0);
      EXPECT_FLOAT_EQ(examples.c_of(s)[t * examples.features], static_cast<float>((state - x.mean) / x.scale));
    }
    EXPECT_FLOAT_EQ(examples.z_of(s)[0], static_cast<float>(set.theta_of(s)[0]));
  }
}

TEST(WholeSeries, HaveShortenedCopiesOnTheirOwnSideOfTheSplit) {
  TrainingData data(series_of("gaussian_rw", 5, 1000), {});
  EXPECT_EQ(data.held_out_size(), 20U);
  data.add_shortened(0.25, Streams(1));
  EXPECT_EQ(data.size(), 200U + 4 * 50);  // a quarter at each of four lengths
  const Examples& examples = data.window(0);
  std::vector<std::size_t> of_length(6, 0);
  std::set<std::size_t> trained, held_out;
  for (std::size_t i = 0; i < data.size(); ++i) {
    ++of_length[examples.series[i].length];
    (i < data.first_held_out(0) ? trained : held_out).insert(examples.series[i].first);
  }
  EXPECT_EQ(of_length, (std::vector<std::size_t>{0, 50, 50, 50, 50, 200}));
  EXPECT_EQ(held_out.size(), 20U);
  for (const std::size_t first : held_out) EXPECT_FALSE(trained.contains(first));
  EXPECT_EQ(data.training_rows(0, 0).count, data.training_size());
}

/// The whole network of training, on padded blocks with masks, against the two parts that inference uses: the embedding
/// of one series of any length, and the flow given its summaries.
void compare_embeddings(const model::EmbeddingKind& kind, int units) {
  constexpr std::size_t longest = 70, features = 3, d = 2;  // longer than the pieces in which a recurrent unit reads
  const std::vector<std::size_t> lengths{1, 2, 63, 64, 65, 70};
  model::PosteriorModelSettings settings;
  settings.embedding.embedding = kind.name;
  settings.embedding.summaries = 7;
  settings.embedding.units = units;
  settings.bins = 5;
  model::PosteriorGraph whole = model::record_posterior(settings, d, features, longest);
  const AlignedVector<float> weights = whole.graph.initial_weights(Streams(3));
  Stream stream = Streams(4).stream("series");
  std::vector<Matrix> series;
  Matrix z(lengths.size(), d);
  stream.fill_normal(z.values());
  nn::Workspace workspace(whole.graph, lengths.size(), nn::Purpose::inference());
  const Block block = workspace.value(whole.series, lengths.size());
  for (std::size_t l = 0; l < lengths.size(); ++l) {
    series.emplace_back(lengths[l], features);
    stream.fill_normal(series[l].values());
    for (std::size_t f = 0; f < longest * features; ++f) {
      block(f, l) = f < lengths[l] * features ? static_cast<float>(series[l].values()[f]) : 0.0F;
    }
    for (std::size_t f = 0; f < d; ++f) workspace.value(whole.z, lengths.size())(f, l) = static_cast<float>(z(l, f));
  }
  nn::fill_mask(lengths, 1, 1, workspace.value(whole.mask, lengths.size()));
  workspace.forward(weights, lengths.size());

  const model::NamedWeights named = model::named_weights(whole.graph, weights);
  const model::SummarisedGraph flow = model::record_posterior_flow(settings, d);
  const AlignedVector<float> flow_weights = model::flat_weights(flow.graph, named, "test");
  nn::Workspace one(flow.graph, 1, nn::Purpose::inference());
  for (std::size_t l = 0; l < lengths.size(); ++l) {
    const std::vector<float> summaries = kind.embed(settings.embedding, longest, series[l], named, "test");
    for (std::size_t f = 0; f < summaries.size(); ++f) one.value(flow.summaries, 1)(f, 0) = summaries[f];
    for (std::size_t f = 0; f < d; ++f) one.value(flow.z, 1)(f, 0) = static_cast<float>(z(l, f));
    one.forward(flow_weights, 1);
    // Sums of up to 70 · 100 products in single precision, in another order: 7,000 ε of values of size one.
    EXPECT_NEAR(one.value(flow.loss, 1)(0, 0), workspace.value(whole.loss, lengths.size())(0, l), 1e-3)
        << kind.name << " " << lengths[l];
  }
}

TEST(EveryEmbedding, GivesInferenceWhatTrainingSaw) {
  for (const model::EmbeddingKind& kind : model::embeddings()) compare_embeddings(kind, 0);
  compare_embeddings(model::gru_embedding(), 9);
}

TEST(EveryMethodOfWholeSeries, GivesTheSameBitsForAnyNumberOfThreads) {
  const simulate::SeriesSet set = series_of("gaussian_rw", 4, 2000, {{"dim", 2}});
  for (const Method& each : methods()) {
    if (!each.whole_series) continue;
    const model::TrainedModel one = train_briefly(each.name, set, small(each.name), 30, 300, 1);
    for (const int threads : {2, 5}) {
      const model::TrainedModel other = train_briefly(each.name, set, small(each.name), 30, 300, threads);
      ASSERT_EQ(other.networks.size(), one.networks.size());
      for (const auto& [name, network] : one.networks) {
        EXPECT_EQ(other.network(name).weights, network.weights) << each.name << " " << name << " " << threads;
      }
    }
  }
}

/// Ends the work after so many steps.
class Stops final : public Progress {
 public:
  explicit Stops(std::uint64_t after) : left_(after) {}
  void start(std::string_view, std::string_view, std::uint64_t) override {}
  void advance(std::uint64_t) override {
    if (left_ == 0) throw InputError("stopped");
    --left_;
  }
  void note(std::string_view) override {}
  void finish() override {}
  bool stop_requested() const override { return left_ == 0; }

 private:
  std::uint64_t left_;
};

class EveryCheckpoint : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Methods, EveryCheckpoint, ::testing::Values("npe", "npe_summary", "nle_summary"),
                         [](const auto& each) { return std::string(each.param); });

TEST_P(EveryCheckpoint, IsGoneOnFromWithTheSameBits) {
  const simulate::SeriesSet set = series_of("gaussian_rw", 4, 2000);
  const std::string method = GetParam(), file = method + ".safetensors";
  const fs::path path = fs::path(::testing::TempDir()) / file;
  const auto trained = [&](Progress& progress, bool resume) {
    TrainingData data(set, {});
    return train(method, {.data = data,
                          .loop = {.steps = 40, .batch_size = 200, .evaluations = 4},
                          .settings = small(method),
                          .streams = Streams(2),
                          .parallel = Parallel(2),
                          .progress = progress,
                          .checkpoint = {path, 1e9, resume}});
  };
  const model::TrainedModel whole = trained(silent_progress(), false);
  for (const std::uint64_t steps : {2U, 15U}) {  // in the first stage of two; in the last
    for (const auto& entry : fs::directory_iterator(path.parent_path())) {
      if (entry.path().filename().string().starts_with(file + ".")) fs::remove(entry.path());
    }
    Stops stops(steps);
    EXPECT_THROW(trained(stops, false), InputError);
    const model::TrainedModel resumed = trained(silent_progress(), true);
    for (const auto& [name, network] : whole.networks) {
      EXPECT_EQ(resumed.network(name).weights, network.weights) << name << " " << steps;
    }
  }
}

TEST(Npe, RefusesTransitionsAndOthersRefuseSeries) {
  static const nlohmann::json none = nlohmann::json::object();
  const auto sentence = [](const auto& work) {
    try {
      work();
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(sentence([] { train_briefly("npe", transitions_of("gaussian_rw", 100, none), none, 10, 50); }),
            "train: the kind of training data is single transitions, but must be whole series for npe (catena simulate "
            "--series, catena.simulate(…, series=10))");
  EXPECT_EQ(sentence([] { train_briefly("fnle", series_of("gaussian_rw", 5, 500), none, 10, 50); }),
            "train: the kind of training data is whole series, but must be single transitions for fnle");
  EXPECT_NE(sentence([] {
              train_briefly("npe", series_of("gaussian_rw", 5, 500), {{"window_width", 8}, {"embedding", "conv"}}, 10,
                            50);
            }),
            "");
}

}  // namespace catena::train::npe_test
