#include "catena/evaluate/moments.h"

#include <cmath>

#include "catena/core/check.h"
#include "catena/evaluate/metric.h"
#include "catena/evaluate/samples.h"

namespace catena::evaluate {

Moments moments(ConstMatrixView sample) {
  CATENA_ASSERT(sample.rows >= 2);
  Moments result{std::vector<double>(sample.cols), std::vector<double>(sample.cols)};
  for (std::size_t c = 0; c < sample.cols; ++c) {
    double& mean = result.mean[c];
    for (std::size_t r = 0; r < sample.rows; ++r) mean += sample(r, c);
    mean /= static_cast<double>(sample.rows);
    double square = 0;
    for (std::size_t r = 0; r < sample.rows; ++r) square += (sample(r, c) - mean) * (sample(r, c) - mean);
    result.deviation[c] = std::sqrt(square / static_cast<double>(sample.rows - 1));
  }
  return result;
}

std::vector<double> reference_deviations(std::string_view function, ConstMatrixView b) {
  std::vector<double> result = moments(b).deviation;
  for (std::size_t c = 0; c < result.size(); ++c) {
    check::positive(function, fmt::format("the standard deviation of parameter {} in B", c), result[c]);
  }
  return result;
}

std::vector<double> mean_difference(ConstMatrixView a, ConstMatrixView b) {
  check_samples("mean_difference", a, b, 2);
  const std::vector<double> unit = reference_deviations("mean_difference", b);
  const std::vector<double> of_a = moments(a).mean;
  const std::vector<double> of_b = moments(b).mean;
  std::vector<double> result(a.cols);
  for (std::size_t c = 0; c < a.cols; ++c) result[c] = (of_a[c] - of_b[c]) / unit[c];
  return result;
}

std::vector<double> log_deviation_ratio(ConstMatrixView a, ConstMatrixView b) {
  check_samples("log_deviation_ratio", a, b, 2);
  const std::vector<double> unit = reference_deviations("log_deviation_ratio", b);
  std::vector<double> result = moments(a).deviation;
  for (std::size_t c = 0; c < a.cols; ++c) result[c] = std::log(result[c] / unit[c]);
  return result;
}

Metric mean_difference_metric() {
  return {"mean_difference", "mean of A − mean of B, in standard deviations of B",
          [](ConstMatrixView a, ConstMatrixView b, const Streams&, const Parallel&) -> nlohmann::json {
            return mean_difference(a, b);
          }};
}

Metric log_sd_ratio_metric() {
  return {"log_sd_ratio", "log of the ratio of standard deviations, A over B",
          [](ConstMatrixView a, ConstMatrixView b, const Streams&, const Parallel&) -> nlohmann::json {
            return log_deviation_ratio(a, b);
          }};
}

}  // namespace catena::evaluate
