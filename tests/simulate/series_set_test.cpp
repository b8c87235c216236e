#include "catena/simulate/whole_series/series_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "catena/core/errors.h"
#include "catena/files/netcdf/netcdf.h"
#include "catena/nn/execute.h"
#include "catena/nn/layers.h"
#include "catena/nn/sequences.h"

namespace catena::simulate::series_set_test {

constexpr std::size_t states = 2;

/// Series of these lengths with random states, each with its own θ; every second one has times of its own.
SeriesSet ragged(std::span<const std::size_t> lengths) {
  SeriesSet set;
  set.prior = prior::Prior::standard({"a", "b", "c"});
  set.state_names = {"prey", "predator"};
  set.provenance = {{"seed", 3}};
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    Stream stream = Streams(3).stream("series", r);
    std::vector<double> theta(3), times(lengths[r]);
    Matrix values(lengths[r], states);
    stream.fill_normal(theta);
    stream.fill_normal(values.values());
    for (std::size_t t = 0; t < times.size(); ++t) times[t] = 0.5 * static_cast<double>(t * t);
    SeriesView one{values};
    if (r % 2 == 1) one.times = times;
    set.add(theta, one);
  }
  return set;
}

constexpr std::array<std::size_t, 7> lengths = {4, 0, 1, 9, 1, 0, 6};

class SeriesSetFile : public ::testing::Test {
 protected:
  ~SeriesSetFile() override { std::filesystem::remove(path_); }
  std::filesystem::path path_ = std::filesystem::path(::testing::TempDir()) /
                                (std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + ".nc");
};

TEST_F(SeriesSetFile, ComesBackAsItWasWritten) {
  const std::vector<std::vector<std::size_t>> cases = {
      {lengths.begin(), lengths.end()}, {0}, {1}, {0, 0, 0}, {1000, 1}, {}};
  for (const auto& each : cases) {
    const SeriesSet set = ragged(each);
    write_series_set(path_, set);
    const SeriesSet read = read_series_set(path_);
    EXPECT_EQ(read.prior.to_json(), set.prior.to_json());
    EXPECT_EQ(read.state_names, set.state_names);
    EXPECT_EQ(read.provenance, set.provenance);
    EXPECT_EQ(read.theta, set.theta);
    EXPECT_EQ(read.states, set.states);
    EXPECT_EQ(read.times, set.times);
    EXPECT_EQ(read.offsets, set.offsets);
  }
}

TEST_F(SeriesSetFile, IsAContiguousRaggedArrayOfTheCfConventions) {
  write_series_set(path_, ragged(lengths));
  const files::Group root = files::read_netcdf(path_);
  EXPECT_EQ(root.attributes.at("featureType"), "timeSeries");
  const files::Variable& row_size = root.variable("row_size");
  EXPECT_EQ(row_size.attributes.at("sample_dimension"), "observation");
  EXPECT_EQ(row_size.dimensions, std::vector<std::string>{"series"});
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(row_size.values),
            std::vector<std::int64_t>(lengths.begin(), lengths.end()));
  EXPECT_EQ(root.dimension("observation"), 21U);
}

TEST_F(SeriesSetFile, IsRefusedIfLengthsDoNotAddUp) {
  for (const std::vector<std::int64_t>& wrong :
       {std::vector<std::int64_t>{4, 0, 1, 9, 1, 0, 5}, {4, 0, 1, 9, 1, 0, 7}, {4, 0, 1, 9, 1, -2, 8}}) {
    write_series_set(path_, ragged(lengths));
    files::Group root = files::read_netcdf(path_);
    std::ranges::find(root.variables, "row_size", &files::Variable::name)->values = wrong;
    files::write_netcdf(path_, root);
    EXPECT_THROW(read_series_set(path_), FileError);
  }
  files::write_netcdf(path_, files::Group{});
  EXPECT_THROW(read_series_set(path_), FileError);
}

TEST(SeriesSet, ShowsEachSeriesWithItsTimesAndItsTheta) {
  const SeriesSet set = ragged(lengths);
  ASSERT_EQ(set.size(), lengths.size());
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    const SeriesView one = set.series(r);
    ASSERT_EQ(one.states.rows, lengths[r]);
    std::vector<double> theta(3);
    Stream stream = Streams(3).stream("series", r);
    stream.fill_normal(theta);
    EXPECT_TRUE(std::ranges::equal(set.theta_of(r), theta));
    for (std::size_t t = 0; t < lengths[r]; ++t) {
      const auto index = static_cast<double>(t);
      EXPECT_EQ(one.time(t), r % 2 == 1 ? 0.5 * index * index : index);
    }
    EXPECT_EQ(one.names[1], "predator");
  }
}

TEST(SeriesSet, RefusesWhatDoesNotFit) {
  SeriesSet set = ragged(lengths);
  const std::vector<double> theta(3), times(2);
  Matrix three(1, 3), missing(1, 2);
  missing(0, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(set.add(std::vector<double>(2), {}), InputError);
  EXPECT_THROW(set.add(theta, {three}), InputError);
  EXPECT_THROW(set.add(theta, {missing}), InputError);
  EXPECT_THROW(set.add(theta, {Matrix(1, 2), times}), InputError);
  EXPECT_EQ(set.size(), lengths.size());
}

TEST(SeriesSet, PacksTimesOneAfterAnotherWithZerosAfterTheEnd) {
  const SeriesSet set = ragged(lengths);
  const std::vector<std::size_t> records = {6, 1, 2};
  EXPECT_EQ(lengths_of(set, records), (std::vector<std::size_t>{6, 0, 1}));
  LaneBlock block(8 * states, records.size());
  std::fill_n(block.view().data, block.view().features * block.view().stride, 7.0F);
  pack(set, records, block);
  for (std::size_t l = 0; l < records.size(); ++l) {
    const SeriesView one = set.series(records[l]);
    for (std::size_t t = 0; t < 8; ++t) {
      for (std::size_t i = 0; i < states; ++i) {
        EXPECT_EQ(block(t * states + i, l), t < one.states.rows ? static_cast<float>(one.states(t, i)) : 0.0F);
      }
    }
  }
}

/// A summary of a series as an embedding makes it: a recurrent state and a sum over windows of two.
struct Summary {
  nn::Graph graph;
  nn::Value series, times_mask, windows_mask, output;

  explicit Summary(std::size_t longest) {
    series = graph.input("series", nn::Shape(longest, 1, states));
    times_mask = graph.input("times", nn::Shape(longest, 1, 1));
    windows_mask = graph.input("windows", nn::Shape(nn::window_count(longest, 2, 1), 1, 1));
    const nn::Value state = nn::last_state(graph, nn::gru_layer(graph, "gru", series, 5, {.mask = times_mask}));
    const nn::Value windows =
        nn::window_sum(graph, "windows", series, 5, {.window = 2, .width = 8, .mask = windows_mask});
    output = nn::add(graph, state, windows);
  }

  /// The gradient of the weights of Σ over records of Σ_i sin(1 + i) y_i.
  AlignedVector<float> gradient(const SeriesSet& set, std::span<const std::size_t> records,
                                std::span<const float> weights) const {
    nn::Workspace workspace(graph, records.size(), nn::Purpose::training());
    const std::size_t count = records.size();
    pack(set, records, workspace.value(series, count));
    const std::vector<std::size_t> own = lengths_of(set, records);
    nn::fill_mask(own, 1, 1, workspace.value(times_mask, count));
    nn::fill_mask(own, 2, 1, workspace.value(windows_mask, count));
    workspace.forward(weights, count);
    const Block seed = workspace.gradient(output, count);
    for (std::size_t f = 0; f < seed.features; ++f) {
      for (std::size_t l = 0; l < count; ++l) seed(f, l) = std::sin(static_cast<float>(1 + f));
    }
    AlignedVector<float> result(weights.size());
    workspace.reverse(weights, count, output, result);
    return result;
  }
};

TEST(SeriesSet, GivesABatchTheGradientsOfEachSeriesAlone) {
  const SeriesSet set = ragged(lengths);
  const Summary summary(9);
  const AlignedVector<float> weights = summary.graph.initial_weights(Streams(4));
  std::vector<std::size_t> all(set.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const AlignedVector<float> batch = summary.gradient(set, all, weights);
  std::vector<double> expected(weights.size(), 0.0);
  for (const std::size_t record : all) {
    // In a graph no longer than the series, but long enough for one window.
    const Summary own(std::max<std::size_t>(2, set.length(record)));
    const AlignedVector<float> part = own.gradient(set, {&record, 1}, weights);
    for (std::size_t k = 0; k < part.size(); ++k) expected[k] += part[k];
  }
  double largest = 0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  EXPECT_GT(largest, 0.1);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    EXPECT_NEAR(batch[k], expected[k], 1e-5 * largest) << k;  // 100 ε: sums of 7 lanes × 9 times
  }
}

}  // namespace catena::simulate::series_set_test
