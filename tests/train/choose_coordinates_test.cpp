// Which states are learned by increments of their logarithms, and that densities in these coordinates are densities of
// x^(t+1). The walks are those of positive_walks.h.
#include "catena/train/choose/coordinates.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "catena/compose/density/series_likelihood.h"
#include "catena/train/methods/fnle.h"
#include "train/positive_walks.h"

namespace catena::train::choose_coordinates_test {
namespace {

using testing::Ricker;
using testing::small_density;

model::TrainedModel train_small(const simulate::TransitionSet& set, const nlohmann::json& settings, int steps = 300,
                                int threads = 2) {
  return train_briefly("fnle", set, settings, steps, 200, threads);
}

/// The log density of one transition, for every row of z.
std::vector<double> log_densities(const model::TrainedModel& model, double x, double x_next, const Matrix& z,
                                  MatrixView gradient = {}) {
  Matrix series(2, 1);
  series(0, 0) = x;
  series(1, 0) = x_next;
  const model::DensityModel density(model);
  std::vector<double> out(z.rows());
  compose::series_likelihood(density, compose::observed_series("test", model, series, {}), Parallel(1))
      ->evaluate(z, out, gradient);
  return out;
}

TEST(ChooseCoordinates, TakesLogarithmsWhereNoiseMultiplies) {
  const model::TrainedModel model = train_small(testing::ricker_set(3000), small_density("gaussian"), 600);
  EXPECT_EQ(model.settings["log_increments"], "N") << model.notes.dump();
  EXPECT_EQ(model.features.logarithmic(), std::vector<std::size_t>{0});
  // Both are losses of densities of x^(t+1): the difference is that of two fits, not of two units.
  const nlohmann::json& losses = model.notes["log_increments"];
  EXPECT_EQ(losses["none"].size(), 3U);
  EXPECT_EQ(losses["N"].size(), 3U);
  const double gain = losses["none"][0].get<double>() - losses["N"][0].get<double>();
  EXPECT_GT(gain, 0.05);
  EXPECT_LT(gain, 3);
  // 0.1 nats above the exact density, over transitions that training has not seen.
  const simulate::TransitionSet others = testing::ricker_set(200, 4);
  double excess = 0;
  for (std::size_t r = 0; r < others.size(); ++r) {
    Matrix z(1, 3);
    std::ranges::copy(others.z.row(r), z.row(0).begin());
    excess += (Ricker(z.row(0)).log_density(others.x(r, 0), others.x_next(r, 0)) -
               log_densities(model, others.x(r, 0), others.x_next(r, 0), z)[0]) /
              200;
  }
  EXPECT_LT(excess, 0.1);
  EXPECT_GT(excess, -0.1);
}

TEST(ChooseCoordinates, KeepsIncrementsOfWhatAdds) {
  const model::TrainedModel model = train_small(testing::one_multiplies_one_adds(4000), small_density("gaussian"), 600);
  EXPECT_EQ(model.settings["log_increments"], "a") << model.notes.dump();
  // none, both, a, b
  EXPECT_EQ(model.notes["log_increments"].size(), 4U);
}

TEST(ChooseCoordinates, HasNothingToChooseWhereAStateIsNotPositiveOrIsClipped) {
  simulate::TransitionSet set = testing::one_multiplies_one_adds(2000);
  set.x(17, 0) = -1;
  for (std::size_t r = 0; r < 20; ++r) set.x_next(r, 1) = 1e-6;  // one in 100 is the smallest
  const model::TrainedModel model = train_small(set, small_density("gaussian"), 20);
  EXPECT_EQ(model.settings["log_increments"], "none");
  EXPECT_FALSE(model.notes.contains("log_increments"));
  EXPECT_TRUE(model.features.logarithmic().empty());
  EXPECT_FALSE(model.features.to_json().contains("logarithmic"));
}

TEST(ChooseCoordinates, RefusesWhatHasNoLogarithm) {
  simulate::TransitionSet set = testing::one_multiplies_one_adds(500);
  nlohmann::json settings = small_density("gaussian");
  settings["log_increments"] = "c";
  EXPECT_THROW(train_small(set, settings, 20), InputError);  // no state
  settings["log_increments"] = "a";
  settings["point_masses"] = "a=0";
  EXPECT_THROW(train_small(set, settings, 20), InputError);
  settings["point_masses"] = "none";
  const model::TrainedModel model = train_small(set, settings, 20);
  Matrix series(3, 2);
  std::ranges::fill(series.values(), 1.0);
  series(2, 1) = -4;  // b may be anything
  EXPECT_NO_THROW(compose::observed_series("sample", model, series, {}));
  series(1, 0) = 0;
  try {
    compose::observed_series("sample", model, series, {});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()),
              "sample: a value of the state a is 0, but must be positive: the model has learned increments of its "
              "logarithm");
  }
  Matrix z(3, 1);
  EXPECT_THROW(model::draw_transitions(model::DensityModel(model), z, series, {}, Streams(1)), InputError);
  set.x_next(3, 0) = 0;
  try {
    train_small(set, settings, 20);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()),
              "train: log_increments is a, but must be a state that is positive in all training transitions, without "
              "point masses, and no whole number");
  }
}

/// ∫ q(x' | x, z) dx' = 1 for any weights, here on a grid that is even in log x', where dx' = x' d log x'.
TEST(EveryDensity, OfALogarithmIsOneOfTheState) {
  for (const model::DensityKind& kind : model::densities()) {
    nlohmann::json settings = {{"density", std::string(kind.name)}, {"decay", 0.1}, {"log_increments", "N"}};
    for (const char* size : {"width", "z_width", "flow_width"}) settings[size] = 8;
    for (const char* size : {"layers", "terms", "components", "flow_layers", "bins"}) settings[size] = 2;
    const model::TrainedModel model = train_small(testing::ricker_set(500), settings, 30);
    Matrix z(3, 3);
    Streams(2).stream("z").fill_normal(z.values());
    std::vector<double> integral(3);
    constexpr double width = 0.05, x = 6;
    for (int k = -400; k <= 400; ++k) {
      const double x_next = x * std::exp(width * k);
      const std::vector<double> log_q = log_densities(model, x, x_next, z);
      for (std::size_t i = 0; i < 3; ++i) integral[i] += std::exp(log_q[i]) * width * x_next;
    }
    for (const double value : integral) EXPECT_NEAR(value, 1, 1e-3) << kind.name;

    Matrix gradient(3, 3), nothing(3, 3);
    const std::vector<double> at = log_densities(model, x, 8, z, gradient);
    for (std::size_t f = 0; f < 3; ++f) {
      Matrix above = z, below = z;
      for (std::size_t i = 0; i < 3; ++i) above(i, f) += 0.01, below(i, f) -= 0.01;
      const std::vector<double> up = log_densities(model, x, 8, above), down = log_densities(model, x, 8, below);
      // Floats: 1e-6 of a log density of some units over a difference of 0.02.
      for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_NEAR(gradient(i, f), (up[i] - down[i]) / 0.02, 2e-3 * (1 + std::abs(at[i]))) << kind.name;
      }
    }
  }
}

/// 4,000 draws of log x': their mean has the deviation s/63 = 0.005, of a network after 600 steps 0.1 is asked.
TEST(Fnle, DrawsPositiveStates) {
  nlohmann::json settings = small_density("gaussian");
  settings["log_increments"] = "N";
  const model::TrainedModel model = train_small(testing::ricker_set(3000), settings, 600);
  constexpr std::size_t n = 4000;
  Matrix z(n, 3), x(n, 1);
  std::ranges::fill(x.values(), 5.0);
  const Matrix next = model::draw_transitions(model::DensityModel(model), z, x, {}, Streams(3));
  double mean = 0, square = 0;
  for (const double value : next.values()) {
    ASSERT_GT(value, 0);
    mean += std::log(value / 5) / n;
  }
  for (const double value : next.values()) square += std::pow(std::log(value / 5) - mean, 2) / n;
  const Ricker exact(std::vector<double>{0, 0, 0});
  EXPECT_NEAR(mean, exact.mean_increment(5), 0.1);
  EXPECT_NEAR(std::sqrt(square), exact.s, 0.1);
}

/// Sums that are added up over pieces of a series, and the file in between.
TEST(Fnle, OfLogarithmsStreamsAndSurvivesItsFile) {
  nlohmann::json settings = small_density("separable");
  settings["log_increments"] = "N";
  const model::TrainedModel model = train_small(testing::ricker_set(500), settings, 30);
  const auto path = std::filesystem::temp_directory_path() / "catena_choose_coordinates_test.safetensors";
  model::write_model(path, model);
  const model::TrainedModel back = model::read_model(path);
  std::filesystem::remove(path);
  Matrix series(9, 1), z(4, 3);
  Stream stream = Streams(7).stream("series");
  for (std::size_t t = 0; t < 9; ++t) series(t, 0) = std::exp(1 + stream.normal());
  stream.fill_normal(z.values());
  const model::DensityModel density(model), read(back);
  const compose::ObservedSeries observed = compose::observed_series("test", back, series, {});
  std::vector<double> whole(4), of_sums(4);
  compose::series_likelihood(density, observed, Parallel(1))->evaluate(z, whole, {});
  compose::likelihood_of_sums(read, compose::likelihood_sums(read, observed), Parallel(1))->evaluate(z, of_sums, {});
  EXPECT_EQ(whole, of_sums);
}

TEST(ChooseCoordinates, DoesNotDependOnThreads) {
  const simulate::TransitionSet set = testing::ricker_set(800);
  const auto bytes = [&](int threads) {
    model::TrainedModel model = train_small(set, small_density("gaussian"), 60, threads);
    EXPECT_EQ(model.settings["log_increments"], "N");
    model.networks.begin()->second.curve = {};  // has seconds
    return model::model_bytes(model);
  };
  const std::string one = bytes(1);
  EXPECT_EQ(bytes(2), one);
  EXPECT_EQ(bytes(5), one);
}

/// Longer records: two states before, two after, with a step; and initial states.
TEST(ChooseCoordinates, FollowsLongerRecords) {
  const simulate::TransitionSet walk = testing::ricker_set(600);
  simulate::TransitionSet set = walk;
  set.x = set.x_next = Matrix(600, 2);
  set.step = Matrix(600, 1);
  Stream stream = Streams(8).stream("records");
  for (std::size_t r = 0; r < 600; ++r) {
    set.step(r, 0) = 1 + stream.uniform();
    set.x(r, 0) = walk.x(r, 0);
    set.x(r, 1) = walk.x(r, 0) * std::exp(stream.normal());
    set.x_next(r, 0) = walk.x_next(r, 0);
    set.x_next(r, 1) = walk.x_next(r, 0) * std::exp(stream.normal());
  }
  nlohmann::json settings = small_density("gaussian");
  settings["log_increments"] = "N";
  const model::TrainedModel model = train_small(set, settings, 20);
  const model::DensityModel density(model);
  std::vector<float> c(model.features.size());
  model.features.apply(set.record(5), c);
  EXPECT_NEAR(model::next_of(model.features, c.data(), 0), set.x_next(5, 0), 1e-5 * set.x_next(5, 0));
  EXPECT_NEAR(model::next_of(model.features, c.data(), 1), set.x_next(5, 1), 1e-5 * set.x_next(5, 1));
  const auto all = model.features.all();
  EXPECT_NEAR(density.map.log_jacobian(c.data(), {}),
              -std::log(all[2].scale * all[3].scale * set.x_next(5, 0) * set.x_next(5, 1)), 1e-4);

  simulate::TransitionSet initial = walk;
  initial.x = Matrix(600, 0);
  const model::TrainedModel start = train_small(initial, settings, 20);
  std::vector<float> c0(start.features.size());
  start.features.apply(initial.record(5), c0);
  EXPECT_NEAR(model::next_of(start.features, c0.data(), 0), initial.x_next(5, 0), 1e-5 * initial.x_next(5, 0));
  EXPECT_NEAR(model::DensityModel(start).map.log_jacobian(c0.data(), {}),
              -std::log(start.features.all()[0].scale * initial.x_next(5, 0)), 1e-4);
}

}  // namespace
}  // namespace catena::train::choose_coordinates_test
