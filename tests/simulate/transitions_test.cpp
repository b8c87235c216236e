#include "catena/simulate/transitions/transitions.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <filesystem>

#include "catena/core/errors.h"
#include "catena/files/netcdf/netcdf.h"
#include "message_of.h"
#include "simulate/walk_model.h"

namespace catena::simulate::transitions_test {

namespace {

namespace fs = std::filesystem;

/// A directory of its own for each test, removed at the end.
class TransitionFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("catena-transitions-" + std::to_string(::getpid()) + "-" +
                                           ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

void expect_equal(const TransitionSet& a, const TransitionSet& b) {
  EXPECT_TRUE(a.z == b.z);
  EXPECT_TRUE(a.theta == b.theta);
  EXPECT_TRUE(a.x == b.x);
  EXPECT_TRUE(a.x_next == b.x_next);
  EXPECT_TRUE(a.time == b.time);
  EXPECT_EQ(a.prior.to_json(), b.prior.to_json());
  EXPECT_EQ(a.state_names, b.state_names);
  EXPECT_EQ(a.provenance, b.provenance);
}

}  // namespace

TEST_F(TransitionFiles, AreTheSameBitsForOneTwoAndFiveThreadsAndInMemory) {
  const Model model = walk_model(3);
  SimulationPlan plan;
  plan.budget = 10007;  // nine blocks and a bit
  plan.seed = 3;
  const TransitionSet one = simulate(model, plan, Parallel(1), silent_progress());
  EXPECT_EQ(one.size(), 10007U);
  for (const int threads : {1, 2, 5}) {
    expect_equal(simulate(model, plan, Parallel(threads), silent_progress()), one);
    const fs::path path = folder_ / ("t" + std::to_string(threads) + ".nc");
    const SimulationInfo info = simulate_to_file(path, model, plan, Parallel(threads), silent_progress());
    EXPECT_EQ(info.rows, 10007U);
    expect_equal(read_transitions(path), one);
    EXPECT_FALSE(fs::exists(path.string() + ".partial"));
  }
  plan.seed = 4;
  EXPECT_FALSE(simulate(model, plan, Parallel(1), silent_progress()).x_next == one.x_next);
}

TEST_F(TransitionFiles, OfASetInMemoryAreThoseOfTheSameRun) {
  SimulationPlan plan;
  plan.budget = 3000;
  plan.max_invalid = 0.5;
  const TransitionSet set = simulate(walk_model(2, {.not_finite_above = 1}), plan, Parallel(1), silent_progress());
  EXPECT_LT(set.size(), 3000U);
  write_transitions(folder_ / "set.nc", set);
  expect_equal(read_transitions(folder_ / "set.nc"), set);
}

TEST_F(TransitionFiles, AreSafeAfterEachOfTheSmallChunksThatAPlanAsksFor) {
  int calls = 0, last = 19;  // of 20 blocks: with one thread, two chunks of eight blocks are complete by then
  const Model model = walk_model(1, {.at_each_call = [&] {
                                   if (++calls == last) throw Interrupted();
                                 }});
  SimulationPlan plan;
  plan.budget = 20 * usual_lanes;
  plan.chunk_rows = 8 * usual_lanes;
  const fs::path path = folder_ / "a.nc";
  EXPECT_THROW(simulate_to_file(path, model, plan, Parallel(1), silent_progress()), Interrupted);
  last = -1;
  const SimulationInfo info = simulate_to_file(path, model, plan, Parallel(1), silent_progress(), /*resume=*/true);
  EXPECT_EQ(info.resumed_rows, 16 * usual_lanes);
  expect_equal(read_transitions(path), simulate(walk_model(1), plan, Parallel(1), silent_progress()));
}

TEST_F(TransitionFiles, LoseTheBlocksForWhichTheSimulatorFails) {
  std::atomic<int> calls = 0;
  const Model model = walk_model(1, {.at_each_call = [&] {
                                   const int call = ++calls;
                                   if (call == 3 || call == 7) throw InputError(fmt::format("failed at {}", call));
                                 }});
  SimulationPlan plan;
  plan.budget = 20 * usual_lanes;
  const fs::path path = folder_ / "a.nc";
  const SimulationInfo info = simulate_to_file(path, model, plan, Parallel(1), silent_progress());
  EXPECT_EQ(info.failed_blocks, 2);
  EXPECT_EQ(info.first_failure, "failed at 3");
  EXPECT_EQ(info.invalid, 2 * usual_lanes);
  EXPECT_EQ(read_transitions(path).size(), 18 * usual_lanes);
  // Blocks 2 and 6 are missing, the others are what they are.
  const TransitionSet lacking = read_transitions(path),
                      whole = simulate(walk_model(1), plan, Parallel(1), silent_progress());
  EXPECT_EQ(lacking.x_next(2 * usual_lanes, 0), whole.x_next(3 * usual_lanes, 0));
  EXPECT_EQ(lacking.x_next(18 * usual_lanes - 1, 0), whole.x_next(20 * usual_lanes - 1, 0));
  calls = 0;
  plan.max_invalid = 0.05;
  try {
    simulate(model, plan, Parallel(1), silent_progress());
    ADD_FAILURE() << "more than max_invalid were lost";
  } catch (const InputError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("failed at 3 (so it was for 2 blocks of 1024 transitions;"))
        << error.what();
  }
}

TEST(Transitions, ArePartOfAPlanWithTheirLanesAndAProposalOfItsOwn) {
  /// The state is the number of lanes that it was drawn with.
  class Counted final : public Proposal {
   public:
    void draw(Stream&, StateBlock state, double*) const override {
      for (std::size_t l = 0; l < state.lanes; ++l) state(0, l) = static_cast<double>(state.lanes);
    }
    nlohmann::json to_json() const override { return {{"proposal", "counted"}}; }
  };
  SimulationPlan plan;
  plan.budget = 1000;
  plan.lanes = 256;
  plan.own_proposal = std::make_shared<Counted>();
  const TransitionSet set = simulate(walk_model(1), plan, Parallel(2), silent_progress());
  EXPECT_EQ(set.x(0, 0), 256);
  EXPECT_EQ(set.x(999, 0), 1000 - 3 * 256);
  EXPECT_EQ(set.provenance["proposal"]["proposal"], "counted");
  EXPECT_EQ(set.provenance["lanes"], 256);
}

TEST_F(TransitionFiles, DoNotDependOnTheBudgetWhereTheyOverlap) {
  const Model model = walk_model(1);
  SimulationPlan plan;
  plan.budget = 5000;
  const TransitionSet large = simulate(model, plan, Parallel(2), silent_progress());
  plan.budget = 2048;  // two whole blocks
  const TransitionSet small = simulate(model, plan, Parallel(1), silent_progress());
  for (std::size_t r = 0; r < small.size(); ++r) ASSERT_EQ(small.x_next(r, 0), large.x_next(r, 0));
}

TEST_F(TransitionFiles, ResumeAfterKillNineToTheSameData) {
  // 53 MB in batches of 10 MB: the first child kills itself in the third batch, the second one in its own third.
  const std::size_t n = 20;
  SimulationPlan plan;
  plan.budget = 82000;
  plan.seed = 11;
  const TransitionSet whole = simulate(walk_model(n), plan, Parallel(2), silent_progress());
  const fs::path path = folder_ / "killed.nc";
  for (const int life : {0, 1}) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      // Batches are 16 blocks of 1,024 rows at this width: 40 calls end in the third one, with two of them safe.
      const auto calls = std::make_shared<std::atomic<int>>(0);
      WalkStepper stepper;
      stepper.at_each_call = [calls] {
        if (++*calls == 40) ::raise(SIGKILL);
      };
      try {
        simulate_to_file(path, walk_model(n, stepper), plan, Parallel(1), silent_progress(), life > 0);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "the child: %s\n", error.what());
      }
      ::_exit(1);  // it should not come this far
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the child was not killed, life " << life;
    EXPECT_FALSE(fs::exists(path)) << "a half file under the real name";
    EXPECT_TRUE(fs::exists(path.string() + ".partial"));
  }
  const SimulationInfo info =
      simulate_to_file(path, walk_model(n), plan, Parallel(2), silent_progress(), /*resume=*/true);
  EXPECT_EQ(info.resumed_rows, 4U * 16 * 1024);  // two batches of each child were safe
  EXPECT_LT(info.resumed_rows, 82000U);
  EXPECT_EQ(info.rows, 82000U);
  expect_equal(read_transitions(path), whole);
}

TEST_F(TransitionFiles, ResumeRefusesAnotherPlan) {
  const fs::path path = folder_ / "other.nc";
  SimulationPlan plan;
  plan.budget = 3000;
  const auto stop = std::make_shared<std::atomic<int>>(0);
  WalkStepper stepper;
  stepper.at_each_call = [stop] {
    if (++*stop == 2) throw InputError("test: stopped");
  };
  EXPECT_THROW(simulate_to_file(path, walk_model(1, stepper), plan, Parallel(1), silent_progress()), InputError);
  plan.seed = 1;
  const std::string message =
      message_of([&] { simulate_to_file(path, walk_model(1), plan, Parallel(1), silent_progress(), true); });
  EXPECT_NE(message.find("was begun with other settings (provenance differs)"), std::string::npos) << message;
  // Without resume it is simply replaced.
  EXPECT_EQ(simulate_to_file(path, walk_model(1), plan, Parallel(1), silent_progress()).rows, 3000U);
}

TEST_F(TransitionFiles, DropCountAndReportWhatIsNotFinite) {
  WalkStepper stepper;
  stepper.not_finite_above = 1.6448536269514722;  // one in twenty of N(0, 1)
  const Model model = walk_model(2, stepper);
  SimulationPlan plan;
  plan.budget = 20000;
  const TransitionSet set = simulate(model, plan, Parallel(2), silent_progress());
  const auto invalid = set.provenance["invalid"].get<std::uint64_t>();
  // 20,000 draws of probability 0.05: standard deviation 31, so 4.5 of them is 139 (false alarm 7e-6).
  EXPECT_NEAR(static_cast<double>(invalid), 1000, 139);
  EXPECT_EQ(set.size() + invalid, 20000U);
  for (std::size_t r = 0; r < set.size(); ++r) {
    ASSERT_TRUE(std::isfinite(set.x_next(r, 0)));
    ASSERT_LE(set.x(r, 0), stepper.not_finite_above);
  }
  const fs::path path = folder_ / "dropped.nc";
  const SimulationInfo info = simulate_to_file(path, model, plan, Parallel(2), silent_progress());
  EXPECT_EQ(info.invalid, invalid);
  expect_equal(read_transitions(path), set);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1) << "files are left over";

  plan.max_invalid = 0.03;
  EXPECT_NE(message_of([&] { simulate(model, plan, Parallel(1), silent_progress()); }).find("must be at most 0.03"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              simulate_to_file(folder_ / "no.nc", model, plan, Parallel(1), silent_progress());
            }).find("must be at most 0.03"),
            std::string::npos);
}

TEST_F(TransitionFiles, CountTheProposalInTheBudget) {
  const Model model = walk_model(2);
  SimulationPlan plan;
  plan.proposal = {{"proposal", "predictive"}};  // 50 series of 100
  plan.budget = 12000;
  const SimulationInfo info = simulate_to_file(folder_ / "p.nc", model, plan, Parallel(1), silent_progress());
  EXPECT_EQ(info.proposal_cost, 5000U);
  EXPECT_EQ(info.rows, 7000U);
  const TransitionSet set = read_transitions(folder_ / "p.nc");
  EXPECT_EQ(set.size(), 7000U);
  EXPECT_EQ(set.provenance["proposal_cost"], 5000);
  EXPECT_EQ(set.provenance["budget"], 12000);
  EXPECT_EQ(set.provenance["proposal"]["series"], 50);
  plan.budget = 5000;
  EXPECT_EQ(message_of([&] { simulate(model, plan, Parallel(1), silent_progress()); }),
            "simulate: budget is 5000, but must be more than 5000, what the proposal costs");
}

TEST_F(TransitionFiles, NothingElseIsTakenForOne) {
  const fs::path path = folder_ / "else.nc";
  files::write_netcdf(path,
                      {"", {{"a", 2}}, {{"v", {"a"}, std::vector<double>{1, 2}}}, {{"catena_kind", "samples"}}, {}});
  EXPECT_NE(message_of([&] { read_transitions(path); }).find("holds samples, not transitions"), std::string::npos);
}

TEST(Transitions, KeepTheIndependenceOfStatesAndParameters) {
  // z is standard normal, θ is its map, and x^t does not depend on θ: correlations of 20,000 rows have a standard
  // deviation of 0.0071, so 4.5 of them is 0.032.
  for (const char* name : {"fixed", "predictive", "rollout"}) {
    const Model model = walk_model(1);
    SimulationPlan plan;
    plan.proposal = {{"proposal", name}};
    plan.budget = 25000;
    const TransitionSet set = simulate(model, plan, Parallel(2), silent_progress());
    double sx = 0, sxx = 0, sz = 0, szz = 0, sxz = 0;
    const double count = static_cast<double>(set.size());
    for (std::size_t r = 0; r < set.size(); ++r) {
      const double x = set.x(r, 0), z = set.z(r, 0);
      ASSERT_EQ(set.theta(r, 0), z);
      sx += x, sxx += x * x, sz += z, szz += z * z, sxz += x * z;
    }
    const double cov = sxz / count - sx * sz / count / count;
    const double vx = sxx / count - sx * sx / count / count, vz = szz / count - sz * sz / count / count;
    EXPECT_LT(std::abs(cov / std::sqrt(vx * vz)), 0.032) << name;
    EXPECT_NEAR(vz, 1, 4.5 * std::sqrt(2 / count)) << name;
  }
}

}  // namespace catena::simulate::transitions_test
