#include "catena/model/joint_range.h"

#include <gtest/gtest.h>

#include "catena/core/errors.h"
#include "catena/core/random.h"

namespace catena::model::joint_range_test {

/// Increments that grow with the state: v = s e/3.
Matrix records(std::size_t count) {
  Stream stream = Streams(1).stream("records");
  Matrix c(count, 2);
  for (std::size_t r = 0; r < count; ++r) {
    c(r, 0) = stream.normal();
    c(r, 1) = c(r, 0) * stream.normal() / 3;
  }
  return c;
}

TEST(JointRange, EveryTrainingRecordIsInsideAndAPairThatNoneMadeIsNot) {
  const Matrix c = records(2000);
  const JointRange range(c);
  ASSERT_TRUE(range.known());
  for (std::size_t r = 0; r < c.rows(); ++r) EXPECT_EQ(range.excess(c.row(r)), 0) << r;
  const double usual[] = {1.5, 0.3}, never[] = {0.02, 0.8}, far[] = {20, 0};
  EXPECT_EQ(range.excess(usual), 0);
  EXPECT_GT(range.excess(never), 0);  // both coordinates are well inside their own ranges
  EXPECT_GT(range.excess(far), 10);
}

TEST(JointRange, ComesBackFromAFile) {
  const JointRange range(records(500));
  const JointRange again = JointRange::from_json("model", range.to_json(), 2);
  const double point[] = {3, -4};
  EXPECT_EQ(again.excess(point), range.excess(point));
  EXPECT_THROW(JointRange::from_json("model", range.to_json(), 3), FileError);
  EXPECT_THROW(JointRange::from_json("model", {{"centres", 1}}, 2), FileError);
}

TEST(JointRange, FewRecordsAndManyFeaturesHaveNone) {
  EXPECT_FALSE(JointRange(records(50)).known());
  EXPECT_FALSE(JointRange(Matrix(1000, 40)).known());
  const double point[] = {1e9, 0};
  EXPECT_EQ(JointRange().excess(point), 0);
}

}  // namespace catena::model::joint_range_test
