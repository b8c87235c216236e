#include "catena/train/choose/inputs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "catena/tasks/task.h"
#include "train/train_cases.h"

namespace catena::train::choose_inputs_test {
namespace {

simulate::TransitionSet set_of(std::size_t rows, const std::function<void(Stream&, std::span<double>)>& next) {
  simulate::TransitionSet set = two_state_set(rows);
  Stream stream = Streams(3).stream("set");
  for (std::size_t r = 0; r < rows; ++r) {
    set.z(r, 0) = set.theta(r, 0) = stream.normal();
    for (std::size_t i = 0; i < 2; ++i) set.x(r, i) = stream.normal();
    next(stream, set.x_next.row(r));
  }
  return set;
}

TEST(DensityInputs, FindAStateThatIsClippedAtZero) {
  const auto set = set_of(5000, [](Stream& stream, std::span<double> next) {
    next[0] = std::max(0.0, 2 + stream.normal());  // 2.3 % at zero
    next[1] = stream.normal();
  });
  const TrainingData data(set, {});
  const model::DensityInputSettings found = choose_inputs({}, data);
  EXPECT_EQ(found.point_masses, "a=0");
  EXPECT_EQ(found.integers, "none");
  EXPECT_EQ(found.logarithms, "none");  // x^t has both signs

  const model::DensityMap map(data.features(), data.state_names(), found, false);
  EXPECT_EQ(map.shape(1).atoms, 1U);
  std::size_t at_zero = 0, marked = 0;
  for (std::size_t r = 0; r < set.size(); ++r) {
    std::vector<float> c(4), v(2), atom(1), keep(2);
    data.features().apply(set.record(r), c);
    map.increment(c.data(), {}, v, atom, keep);
    const bool zero = set.x_next(r, 0) == 0;
    at_zero += zero;
    marked += atom[0] == 1;
    EXPECT_EQ(keep[0], zero ? 0.0F : 1.0F) << r;
    EXPECT_EQ(keep[1], 1.0F);
    // v has no mean taken off: it turns back into the next state.
    std::vector<double> next(2);
    map.next_state(set.x.row(r), c.data(), std::vector<double>(v.begin(), v.end()),
                   std::vector<double>(keep.begin(), keep.end()), next);
    EXPECT_NEAR(next[0], set.x_next(r, 0), 1e-5);
    EXPECT_NEAR(next[1], set.x_next(r, 1), 1e-5);
  }
  EXPECT_EQ(at_zero, marked);
  EXPECT_GT(at_zero, 50U);
}

TEST(DensityInputs, TakeTinyStatesForWhatTheyAre) {
  auto set = set_of(1000, [](Stream& stream, std::span<double> next) {
    next[0] = 1e-12 * stream.normal();
    next[1] = stream.normal();
  });
  for (std::size_t r = 0; r < set.size(); ++r) set.x(r, 0) *= 1e-12;
  EXPECT_EQ(choose_inputs({}, TrainingData(set, {})).integers, "none");
}

TEST(DensityInputs, LeaveOutACoordinateThatStandsStill) {
  auto set = set_of(1000, [](Stream& stream, std::span<double> next) { next[0] = stream.normal(); });
  for (std::size_t r = 0; r < set.size(); ++r) set.x_next(r, 1) = set.x(r, 1);
  const TrainingData data(set, {});
  const model::DensityInputSettings found = choose_inputs({}, data);
  EXPECT_EQ(found.point_masses, "b=still");
  const model::DensityMap map(data.features(), data.state_names(), found, false);
  std::vector<float> c(4), v(2), atom(1), keep(2);
  data.features().apply(set.record(0), c);
  map.increment(c.data(), {}, v, atom, keep);
  EXPECT_EQ(atom[0], 1.0F);
  EXPECT_EQ(keep[1], 0.0F);
  std::vector<double> next(2);
  map.next_state(set.x.row(0), c.data(), std::vector<double>(v.begin(), v.end()),
                 std::vector<double>(keep.begin(), keep.end()), next);
  EXPECT_DOUBLE_EQ(next[1], set.x(0, 1));
}

TEST(DensityInputs, DequantiseIntegers) {
  const auto set = set_of(1000, [](Stream& stream, std::span<double> next) {
    next[0] = static_cast<double>(stream.integer(7));
    next[1] = stream.normal();
  });
  const TrainingData data(set, {});
  const model::DensityInputSettings found = choose_inputs({}, data);
  EXPECT_EQ(found.integers, "a");
  EXPECT_EQ(found.point_masses, "none");
  const model::DensityMap map(data.features(), data.state_names(), found, false);
  std::vector<float> c(4), v(2);
  data.features().apply(set.record(0), c);
  map.increment(c.data(), {}, v, {}, {});
  std::vector<double> next(2);
  map.next_state(set.x.row(0), c.data(), std::vector<double>(v.begin(), v.end()), std::vector<double>{1, 1}, next);
  EXPECT_EQ(next[0], set.x_next(0, 0));
}

TEST(DensityInputs, RefuseNamesThatAreNotStates) {
  const auto set = set_of(100, [](Stream& stream, std::span<double> next) { next[0] = next[1] = stream.normal(); });
  const TrainingData data(set, {});
  EXPECT_THROW(model::DensityMap(data.features(), data.state_names(), {"c", "none", "none"}, false), InputError);
  EXPECT_THROW(model::DensityMap(data.features(), data.state_names(), {"none", "a", "none"}, false), InputError);
}

}  // namespace
}  // namespace catena::train::choose_inputs_test
