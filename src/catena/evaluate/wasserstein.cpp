#include "catena/evaluate/wasserstein.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "catena/core/check.h"
#include "catena/evaluate/metric.h"
#include "catena/evaluate/moments.h"
#include "catena/evaluate/samples.h"

namespace catena::evaluate {

double wasserstein_1(std::span<const double> a, std::span<const double> b) {
  CATENA_ASSERT(!a.empty() && !b.empty());
  double sum = 0;
  if (a.size() == b.size()) {
    for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
    return sum / static_cast<double>(a.size());
  }
  // Quantile steps end at i/n and j/m; counted in units of 1/(n·m) they are integers, so that no step is lost.
  const std::size_t n = a.size();
  const std::size_t m = b.size();
  std::size_t done = 0;
  for (std::size_t i = 0, j = 0; i < n && j < m;) {
    const std::size_t end = std::min((i + 1) * m, (j + 1) * n);
    sum += std::abs(a[i] - b[j]) * static_cast<double>(end - done);
    done = end;
    if (end == (i + 1) * m) ++i;
    if (end == (j + 1) * n) ++j;
  }
  return sum / (static_cast<double>(n) * static_cast<double>(m));
}

namespace {

/// Uniform on the sphere, then divided by `scale`, which is the same as dividing the parameters.
std::vector<double> direction(std::size_t dimension, std::span<const double> scale, Stream stream) {
  std::vector<double> result(dimension);
  double square = 0;
  while (square == 0) {
    for (double& x : result) {
      x = stream.normal();
      square += x * x;
    }
  }
  for (std::size_t c = 0; c < dimension; ++c) result[c] /= std::sqrt(square) * scale[c];
  return result;
}

std::vector<double> sorted_projection(ConstMatrixView sample, std::span<const double> direction) {
  std::vector<double> result(sample.rows);
  for (std::size_t r = 0; r < sample.rows; ++r) {
    const std::span<const double> row = sample.row(r);
    result[r] = std::inner_product(row.begin(), row.end(), direction.begin(), 0.0);
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace

double sliced_wasserstein(ConstMatrixView a, ConstMatrixView b, const SlicedWasserstein& settings,
                          const Streams& streams, const Parallel& parallel) {
  check_samples("sliced_wasserstein", a, b, 2);
  check::at_least("sliced_wasserstein", "projections", settings.projections, std::size_t{1});
  std::vector<double> scale(a.cols, 1.0);
  if (settings.normalised) scale = reference_deviations("sliced_wasserstein", b);
  std::vector<double> distances(settings.projections);
  parallel.for_each(settings.projections, [&](std::size_t i) {
    const std::vector<double> onto = direction(a.cols, scale, streams.stream("sliced_wasserstein", i));
    distances[i] = wasserstein_1(sorted_projection(a, onto), sorted_projection(b, onto));
  });
  return std::accumulate(distances.begin(), distances.end(), 0.0) / static_cast<double>(settings.projections);
}

Metric sw1_metric() {
  return {"sw1", "sliced Wasserstein-1 distance, 1,000 projections",
          [](ConstMatrixView a, ConstMatrixView b, const Streams& streams, const Parallel& parallel) -> nlohmann::json {
            return sliced_wasserstein(a, b, {}, streams, parallel);
          }};
}

Metric sw1_normalised_metric() {
  return {"sw1_normalised", "the same with every parameter in standard deviations of B",
          [](ConstMatrixView a, ConstMatrixView b, const Streams& streams, const Parallel& parallel) -> nlohmann::json {
            return sliced_wasserstein(a, b, {.normalised = true}, streams, parallel);
          }};
}

}  // namespace catena::evaluate
