#include "catena/evaluate/metric.h"

namespace catena::evaluate {

// In the file that computes it, which says what it is.
Metric c2st_metric();
Metric c2st_mlp_metric();
Metric sw1_metric();
Metric sw1_normalised_metric();
Metric mmd_metric();
Metric mean_difference_metric();
Metric log_sd_ratio_metric();

const Registry<Metric>& metrics() {
  static const Registry<Metric> registry(
      "metric", {c2st_metric(), c2st_mlp_metric(), sw1_metric(), sw1_normalised_metric(), mmd_metric(),
                 mean_difference_metric(), log_sd_ratio_metric()});
  return registry;
}

}  // namespace catena::evaluate
