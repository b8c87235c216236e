// Model files: what is written comes back, and what was tampered with is refused in one sentence.
#include "catena/model/trained_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "catena/compose/scores/network_scores.h"
#include "catena/files/safetensors.h"
#include "catena/train/method.h"
#include "train/train_cases.h"

namespace catena::model::model_test {
namespace {

namespace fs = std::filesystem;

TrainedModel small_model(std::string_view method) {
  const bool whole_series = train::methods().at("test", method).whole_series;
  train::TrainingData data =
      whole_series ? train::TrainingData(train::series_of("gaussian_rw", 5, 500, {{"dim", 2}}), train::Split{})
                   : train::TrainingData(train::transitions_of("gaussian_rw", 500, {{"dim", 2}}), train::Split{});
  return train::train(method, {.data = data,
                               .loop = {.steps = 20, .batch_size = 100, .evaluations = 2},
                               .settings = {{whole_series ? "summaries" : "width", 12}},
                               .streams = Streams(3),
                               .parallel = Parallel(2),
                               .progress = silent_progress(),
                               .checkpoint = {}});
}

TEST(EveryMethod, WritesAModelThatComesBack) {
  const fs::path path = fs::path(::testing::TempDir()) / "model.safetensors";
  for (const train::Method& method : train::methods()) {
    const TrainedModel model = small_model(method.name);
    write_model(path, model);
    const TrainedModel back = read_model(path);
    EXPECT_EQ(back.method, method.name);
    EXPECT_EQ(back.settings, model.settings);
    EXPECT_EQ(back.training, model.training);
    EXPECT_EQ(back.seed, 3U);
    EXPECT_EQ(back.prior.to_json(), model.prior.to_json());
    EXPECT_EQ(back.features.to_json(), model.features.to_json());
    EXPECT_EQ(back.provenance, model.provenance);
    ASSERT_EQ(back.networks.size(), model.networks.size());
    for (const auto& [name, network] : model.networks) {
      EXPECT_EQ(back.network(name).weights, network.weights);
      EXPECT_EQ(back.network(name).curve.held_out_loss, network.curve.held_out_loss);
      EXPECT_EQ(back.network(name).best_step, network.best_step);
    }
    const std::string bytes = model_bytes(model);
    EXPECT_EQ(bytes, files::read_file(path, bytes.size()));
    EXPECT_EQ(model_bytes(parse_model(bytes, "bytes")), bytes);
  }
  fs::remove(path);
}

TEST(ModelFile, IsRefusedIfItsMetadataAreNotAModels) {
  const fs::path path = fs::path(::testing::TempDir()) / "bad.safetensors";
  write_model(path, small_model("fnse"));
  const files::TensorFile good = files::read_safetensors(path);
  for (const char* key : {"kind", "model_version", "method", "settings", "seed", "prior", "state_names", "features",
                          "networks", "transitions", "training"}) {
    files::TensorFile bad = good;
    bad.metadata.erase(key);
    files::write_safetensors(path, bad);
    EXPECT_THROW(read_model(path), InputError) << key;
    bad.metadata[key] = -1.5;
    files::write_safetensors(path, bad);
    if (std::string(key) != "settings" && std::string(key) != "training" && std::string(key) != "transitions") {
      EXPECT_THROW(read_model(path), InputError) << key;
    }
  }
  fs::remove(path);
}

TEST(ModelFile, IsRefusedIfItsWeightsDoNotFitItsSettings) {
  const TrainedModel good = small_model("fnse");
  const compose::ObservedSeries series{Matrix(1, 4)};
  const auto refused = [&](const TrainedModel& model) {
    EXPECT_THROW(compose::network_scores(model::ScoreModel(model), series), InputError);
  };
  TrainedModel bad = good;
  bad.networks[good.main_network].weights.pop_back();
  refused(bad);
  bad = good;
  std::get<std::vector<float>>(bad.networks[good.main_network].weights[0].values)[0] =
      std::numeric_limits<float>::quiet_NaN();
  refused(bad);
  bad = good;
  bad.settings["width"] = 13;
  refused(bad);
  bad = good;
  bad.settings["network"] = "convolutional";
  refused(bad);
  bad = good;
  bad.settings["schedule"] = "steep";
  refused(bad);
  bad = good;
  bad.networks.erase(good.main_network);
  refused(bad);
  bad = good;
  bad.method = "fnle";
  refused(bad);
}

}  // namespace
}  // namespace catena::model::model_test
