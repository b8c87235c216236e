// Our register tiles beside Debian's OpenBLAS on the products of a layer of 50 units. Not part of the build, because
// catena does not need OpenBLAS:
//
//   apt-get install libopenblas-serial-dev && make build
//   g++ -std=c++20 -O2 -Isrc -I/usr/include/x86_64-linux-gnu/openblas-serial benchmarks/compare/products.cpp
//   build/libcatena.a \
//       -L/usr/lib/x86_64-linux-gnu/openblas-serial -lopenblas -lfmt -lhwy -o build/compare-products &&
//       build/compare-products
//
// OPENBLAS_CORETYPE=SkylakeX shows what OpenBLAS could do if it knew the core.

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "catena/nn/kernels/products.h"

namespace {

/// GFLOP/s of the fastest of 30 runs of 1,000 calls.
template <class Work>
double gflops(double flops, const Work& work) {
  double best = 0;
  for (int run = 0; run < 30; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 1000; ++i) work();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    best = std::max(best, 1000 * flops / seconds / 1e9);
  }
  return best;
}

}  // namespace

int main() {
  using namespace catena;
  fmt::print("OpenBLAS takes this core for: {}\n", openblas_get_corename());
  constexpr int width = 50;
  for (const int lanes : {64, 128, 256}) {
    const auto n = static_cast<std::size_t>(lanes);
    LaneBlock x(width, n), y(width, n);
    AlignedVector<float> w(width * width, 0.01F);
    const double flops = 2.0 * width * width * lanes;
    float *a = w.data(), *b = x.view().data, *c = y.view().data;
    const double tiles = gflops(flops, [&] { nn::kernels::product({a, width, width, width, 1}, x, nullptr, {}, y); });
    const double blas = gflops(flops, [&] {
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, width, lanes, width, 1, a, width, b, lanes, 0, c, lanes);
    });
    const double tiles_outer = gflops(flops, [&] { nn::kernels::outer_product(y, x, a, true); });
    const double blas_outer = gflops(flops, [&] {
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, width, width, lanes, 1, c, lanes, b, lanes, 1, a, width);
    });
    fmt::print(
        "{:3} lanes   W x: tiles {:5.0f}, OpenBLAS {:5.0f} GFLOP/s   g xᵀ: tiles {:5.0f}, OpenBLAS {:5.0f} GFLOP/s\n",
        lanes, tiles, blas, tiles_outer, blas_outer);
  }
}
