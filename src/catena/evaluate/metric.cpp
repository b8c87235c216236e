#include "catena/evaluate/metric.h"

#include "catena/evaluate/c2st/c2st.h"
#include "catena/evaluate/mmd.h"
#include "catena/evaluate/moments.h"
#include "catena/evaluate/wasserstein.h"

namespace catena::evaluate {

const Registry<Metric>& metrics() {
  using View = ConstMatrixView;
  using Json = nlohmann::json;
  static const Registry<Metric> registry(
      "metric", {
                    {"c2st", "how often a random forest tells A from B: 0.5 never, 1 always",
                     [](View a, View b, const Streams& s, const Parallel& p) -> Json {
                       return c2st(a, b, Classifier::forest, s, p);
                     }},
                    {"c2st_mlp", "the same with a multilayer perceptron",
                     [](View a, View b, const Streams& s, const Parallel& p) -> Json {
                       return c2st(a, b, Classifier::mlp, s, p);
                     }},
                    {"sw1", "sliced Wasserstein-1 distance, 1,000 projections",
                     [](View a, View b, const Streams& s, const Parallel& p) -> Json {
                       return sliced_wasserstein(a, b, {}, s, p);
                     }},
                    {"sw1_normalised", "the same with every parameter in standard deviations of B",
                     [](View a, View b, const Streams& s, const Parallel& p) -> Json {
                       return sliced_wasserstein(a, b, {.normalised = true}, s, p);
                     }},
                    {"mmd", "squared maximum mean discrepancy, unbiased, Gaussian kernel, median distance",
                     [](View a, View b, const Streams&, const Parallel& p) -> Json { return mmd_squared(a, b, p); }},
                    {"mean_difference", "mean of A − mean of B, in standard deviations of B",
                     [](View a, View b, const Streams&, const Parallel&) -> Json { return mean_difference(a, b); }},
                    {"log_sd_ratio", "log of the ratio of standard deviations, A over B",
                     [](View a, View b, const Streams&, const Parallel&) -> Json { return log_deviation_ratio(a, b); }},
                });
  return registry;
}

}  // namespace catena::evaluate
