#include "catena/evaluate/reference/file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "catena/tasks/likelihood.h"

namespace catena::evaluate::reference_file_test {

/// A small reference of gaussian_rw, and an empty directory for its cache.
class ReferenceFile : public ::testing::Test {
 protected:
  ReferenceFile() {
    series_(1, 0) = 1;
    series_(2, 0) = 0.5;
    const auto likelihood = tasks::series_likelihood(task_, series_);
    reference_ = sample_reference(*likelihood, task_.prior, 20, {}, Streams(3), Parallel(1), silent_progress());
    std::filesystem::remove_all(directory_);
  }
  ~ReferenceFile() override { std::filesystem::remove_all(directory_); }

  files::Group group() const { return reference_group(task_, series_, request_, reference_); }

  std::filesystem::path directory_ =
      std::filesystem::path(::testing::TempDir()) / ::testing::UnitTest::GetInstance()->current_test_info()->name();
  tasks::Task task_ = tasks::make_task("gaussian_rw");
  Matrix series_{3, 1};
  Reference reference_;
  nlohmann::json request_ = reference_request(task_, 20, 3, {});
  ReferenceCache cache_{directory_};
};

TEST_F(ReferenceFile, HoldsTheDrawsAsOneChainWithTheirHealth) {
  const files::Group written = group();
  const files::Variable& theta = written.group("posterior").variable(task_.simulator.parameter_names[0]);
  EXPECT_EQ(theta.dimensions, (std::vector<std::string>{"chain", "draw"}));
  const auto& values = std::get<std::vector<double>>(theta.values);
  for (std::size_t k = 0; k < 20; ++k) EXPECT_EQ(values[k], reference_.draws(k, 0));
  EXPECT_EQ(theta.attributes.at("r_hat"), 1);
  EXPECT_EQ(written.attributes.at("outcome"), "ok");
}

TEST_F(ReferenceFile, ComesBackFromTheCacheAsItWasStored) {
  EXPECT_FALSE(cache_.find(request_, series_).has_value());
  ASSERT_TRUE(cache_.store(request_, series_, group()));
  EXPECT_EQ(cache_.find(request_, series_), group());
}

TEST_F(ReferenceFile, IsNotTheAnswerToAnotherRequestOrSeries) {
  ASSERT_TRUE(cache_.store(request_, series_, group()));
  EXPECT_FALSE(cache_.find(reference_request(task_, 20, 4, {}), series_).has_value());
  EXPECT_FALSE(cache_.find(reference_request(task_, 21, 3, {}), series_).has_value());
  Matrix other = series_;
  other(2, 0) = std::nextafter(0.5, 1);
  EXPECT_FALSE(cache_.find(request_, other).has_value());
  // Even under the name that the other series would have, as if the hashes clashed.
  std::filesystem::copy_file(cache_.path(request_, series_), cache_.path(request_, other));
  EXPECT_FALSE(cache_.find(request_, other).has_value());
}

TEST_F(ReferenceFile, CountsAsMissingWhenItIsDamaged) {
  ASSERT_TRUE(cache_.store(request_, series_, group()));
  std::ofstream(cache_.path(request_, series_), std::ios::trunc) << "not netCDF";
  EXPECT_FALSE(cache_.find(request_, series_).has_value());
}

TEST_F(ReferenceFile, IsNotStoredWhereNothingCanBeWritten) {
  EXPECT_FALSE(ReferenceCache("/proc/catena").store(request_, series_, group()));
}

}  // namespace catena::evaluate::reference_file_test
