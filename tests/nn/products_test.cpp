#include "catena/nn/kernels/products.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "catena/core/random.h"
#include "nn/targets.h"

namespace catena::nn::products_test {

namespace {

/// A block of normals whose padding is NaN.
LaneBlock random_block(std::size_t features, std::size_t lanes, std::size_t index) {
  LaneBlock block(features, lanes);
  Block view = block.view();
  std::fill_n(view.data, view.features * view.stride, std::numeric_limits<float>::quiet_NaN());
  Stream stream = Streams(3).stream("block", index);
  for (std::size_t f = 0; f < features; ++f) stream.fill_normal(std::span<float>(view.feature(f), lanes));
  return block;
}

/// A sum of n products in floats errs by at most n ε/2 times the sum of absolute values (Higham 2002, eq. 3.5); doubled
/// for the final additions.
double bound(std::size_t terms, double absolute_sum) {
  return static_cast<double>(terms + 2) * std::numeric_limits<float>::epsilon() * absolute_sum + 1e-30;
}

}  // namespace

TEST(Products, AgreeWithTheirSlowTwinForAllShapes) {
  catena::testing::for_each_target([] {
    for (const std::size_t rows : {1, 2, 5, 6, 7, 13, 50}) {
      for (const std::size_t cols : {1, 3, 4, 9, 50}) {
        for (const std::size_t lanes : {1, 15, 16, 17, 64, 100, 128, 129, 256}) {
          const LaneBlock x = random_block(cols, lanes, 1), g = random_block(rows, lanes, 2),
                          w = random_block(1, rows * cols, 3);
          const LaneBlock b = random_block(1, rows, 4);
          const float* a = w.view().data;
          for (const bool accumulate : {false, true}) {
            LaneBlock y = random_block(rows, lanes, 5);
            const LaneBlock before = y;
            kernels::product({a, rows, cols, cols, 1}, x, b.view().data, accumulate ? y.view() : ConstBlock(), y);
            for (std::size_t i = 0; i < rows; ++i) {
              for (std::size_t l = 0; l < lanes; ++l) {
                double sum = b(0, i) + (accumulate ? before(i, l) : 0.0F);
                double absolute = std::abs(sum);
                for (std::size_t k = 0; k < cols; ++k) {
                  sum += static_cast<double>(a[i * cols + k]) * x(k, l);
                  absolute += std::abs(static_cast<double>(a[i * cols + k]) * x(k, l));
                }
                ASSERT_NEAR(y(i, l), sum, bound(cols, absolute)) << rows << "×" << cols << ", lanes " << lanes;
              }
            }
          }
          LaneBlock back(cols, lanes);
          kernels::product({a, cols, rows, 1, cols}, g, nullptr, {}, back);
          AlignedVector<float> added(rows * cols, 1.0F), written(rows * cols, 1.0F);
          kernels::outer_product(g, x, added.data(), true);
          kernels::outer_product(g, x, written.data(), false);
          for (std::size_t k = 0; k < cols; ++k) {
            for (std::size_t l = 0; l < lanes; ++l) {
              double sum = 0, absolute = 0;
              for (std::size_t i = 0; i < rows; ++i) {
                sum += static_cast<double>(a[i * cols + k]) * g(i, l);
                absolute += std::abs(static_cast<double>(a[i * cols + k]) * g(i, l));
              }
              ASSERT_NEAR(back(k, l), sum, bound(rows, absolute));
            }
            for (std::size_t i = 0; i < rows; ++i) {
              double sum = 0, absolute = 1;
              for (std::size_t l = 0; l < lanes; ++l) {
                sum += static_cast<double>(g(i, l)) * x(k, l);
                absolute += std::abs(static_cast<double>(g(i, l)) * x(k, l));
              }
              ASSERT_NEAR(added[i * cols + k], 1 + sum, bound(lanes, absolute));
              ASSERT_NEAR(written[i * cols + k], sum, bound(lanes, absolute));
            }
          }
        }
      }
    }
  });
}

}  // namespace catena::nn::products_test
