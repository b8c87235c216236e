#include "catena/train/joined_sets.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "catena/prior/around.h"
#include "catena/tasks/task.h"

namespace catena::train::joined_sets_test {
namespace {

class JoinedSets : public ::testing::Test {
 protected:
  void SetUp() override {
    // Tests run at the same time: a folder each.
    folder_ =
        std::filesystem::path(::testing::TempDir()) / ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
    tasks::Task task = tasks::make_task("gaussian_rw");
    write("first.nc", task, 300, 1);
    task.prior = prior::Around{task.prior, prior::NormalMixture::one(Eigen::VectorXd::Constant(1, 2),
                                                                     Eigen::MatrixXd::Constant(1, 1, 0.5))}
                     .prior();
    write("second.nc", task, 200, 2);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const char* name, const tasks::Task& task, std::uint64_t budget, std::uint64_t seed) const {
    simulate::SimulationPlan plan;
    plan.proposal = {{"proposal", "fixed"}};
    plan.budget = budget;
    plan.seed = seed;
    simulate::simulate_to_file(folder_ / name, task, plan, Parallel(1), silent_progress());
  }

  std::filesystem::path folder_;
};

TEST_F(JoinedSets, HoldEveryRecordOnceWithTheZOfThePriorBehindAll) {
  const simulate::TransitionSet all = joined_transitions({folder_ / "first.nc", folder_ / "second.nc"}, true);
  ASSERT_EQ(all.size(), 500U);
  EXPECT_EQ(all.prior.to_json(), tasks::make_task("gaussian_rw").prior.to_json());
  EXPECT_EQ(all.provenance["budget"], 500);
  std::vector<double> thetas;
  for (std::size_t r = 0; r < 500; ++r) {
    EXPECT_NEAR(all.z(r, 0), all.theta(r, 0), 1e-12);  // the task's prior is N(0, 1) itself
    thetas.push_back(all.theta(r, 0));
  }
  std::vector<double> expected;
  for (const char* name : {"first.nc", "second.nc"}) {
    const auto set = simulate::read_transitions(folder_ / name);
    expected.insert(expected.end(), set.theta.values().begin(), set.theta.values().end());
  }
  std::ranges::sort(thetas);
  std::ranges::sort(expected);
  EXPECT_EQ(thetas, expected);
  // Mixed: the last hundred rows, which are held out, are of both files; all of one with chance 0.6^100.
  double high = 0;
  for (std::size_t r = 400; r < 500; ++r) high += all.theta(r, 0) > 1.5 ? 1 : 0;
  EXPECT_GT(high, 10);
  EXPECT_LT(high, 90);
}

TEST_F(JoinedSets, OfDifferentPriorsAreRefusedToMethodsThatDependOnThem) {
  try {
    static_cast<void>(joined_transitions({folder_ / "first.nc", folder_ / "second.nc"}, false));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("is another one, but must be that of those before"), std::string::npos);
  }
  EXPECT_TRUE(needs_joining({folder_ / "second.nc"}, true));
  EXPECT_FALSE(needs_joining({folder_ / "second.nc"}, false));
  EXPECT_FALSE(needs_joining({folder_ / "first.nc"}, true));
}

}  // namespace
}  // namespace catena::train::joined_sets_test
