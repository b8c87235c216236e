#include "catena/core/array.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace catena::array_test {

namespace {

bool aligned(const void* address) { return reinterpret_cast<std::uintptr_t>(address) % alignment == 0; }

double sum(ConstMatrixView values) {
  double total = 0;
  for (std::size_t r = 0; r < values.rows; ++r) {
    for (const double value : values.row(r)) total += value;
  }
  return total;
}

}  // namespace

TEST(Matrix, StartsAtZeroAlignedAndRowMajor) {
  Matrix matrix(3, 5);
  EXPECT_TRUE(aligned(matrix.data()));
  EXPECT_EQ(sum(matrix), 0);
  matrix(1, 2) = 7;
  EXPECT_EQ(matrix.data()[1 * 5 + 2], 7);
  EXPECT_EQ(matrix.row(1)[2], 7);
  EXPECT_EQ(matrix.values().size(), 15U);
}

TEST(Matrix, ComparesByShapeAndValues) {
  Matrix a(2, 3), b(2, 3);
  EXPECT_EQ(a, b);
  b(1, 1) = 1;
  EXPECT_NE(a, b);
  EXPECT_NE(Matrix(2, 3), Matrix(3, 2));
  const Matrix copy = b;
  b(0, 0) = 2;
  EXPECT_EQ(copy(0, 0), 0) << "a copy has its own memory";
}

TEST(Matrix, ViewsShareItsMemory) {
  Matrix matrix(4, 3);
  const MatrixView view = matrix;
  view(2, 1) = 5;
  EXPECT_EQ(matrix(2, 1), 5);
  const ConstMatrixView reader = view;  // a view to read from a view to write
  EXPECT_EQ(reader(2, 1), 5);
  EXPECT_TRUE(reader.contiguous());
}

TEST(MatrixView, SlicesRowsAndKeepsTheStride) {
  std::vector<double> memory(20);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<double>(i);
  const MatrixView view(memory.data(), 4, 3, 5);  // 3 of 5 columns
  EXPECT_FALSE(view.contiguous());
  EXPECT_EQ(view(2, 1), 11);
  const MatrixView slice = view.slice_rows(1, 3);
  EXPECT_EQ(slice.rows, 2U);
  EXPECT_EQ(slice(0, 0), 5);
  EXPECT_EQ(slice.row(1).back(), 12);
  EXPECT_EQ(view.slice_rows(2, 2).rows, 0U);
}

TEST(Matrix, RefusesSizesWhoseProductDoesNotFit) {
  const std::size_t huge = std::numeric_limits<std::size_t>::max() / 2 + 1;
  EXPECT_THROW(Matrix(huge, 2), std::length_error);  // the product would wrap round to 0
  EXPECT_THROW(LaneBlock(huge, 16), std::length_error);
  EXPECT_EQ(Matrix(huge, 0).values().size(), 0U);
}

TEST(LaneBlock, StartsEveryFeatureOnAVectorBoundary) {
  for (const std::size_t lanes : {1, 15, 16, 17, 64, 100}) {
    LaneBlock block(3, lanes);
    const Block view = block;
    EXPECT_EQ(view.stride % 16, 0U);
    EXPECT_GE(view.stride, lanes);
    EXPECT_LT(view.stride, lanes + 16);
    for (std::size_t f = 0; f < 3; ++f) EXPECT_TRUE(aligned(view.feature(f)));
  }
}

TEST(LaneBlock, ViewsAddressFeatureAndLane) {
  LaneBlock block(4, 20);
  block(2, 19) = 3.0F;
  const ConstBlock view = std::as_const(block).view();
  EXPECT_EQ(view(2, 19), 3.0F);
  EXPECT_EQ(view.feature(2)[19], 3.0F);
  const Block slice = block.view().slice_features(2, 4);
  EXPECT_EQ(slice.features, 2U);
  EXPECT_EQ(slice.lanes, 20U);
  slice(1, 0) = 4.0F;
  EXPECT_EQ(block(3, 0), 4.0F);
}

TEST(LaneBlock, MayBeEmpty) {
  const LaneBlock block(0, 0);
  EXPECT_EQ(block.view().features, 0U);
  EXPECT_EQ(padded_lanes(0), 0U);
}

}  // namespace catena::array_test
