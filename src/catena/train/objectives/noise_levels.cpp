#include "catena/train/objectives/noise_levels.h"

#include <cmath>

#include "catena/core/check.h"

namespace catena::train {

NoiseLevels::NoiseLevels(const diffusion::Schedule& schedule, const std::string& spacing, double smallest_eta,
                         const std::string& weight, double prior_share) {
  constexpr std::size_t count = 4096;  // far finer than what a network can tell apart
  const double low = std::log(smallest_eta), high = std::log(schedule.eta(1));
  check::that(low < high, "train", "smallest_eta", smallest_eta, "below the largest noise");
  for (std::size_t i = 0; i < count; ++i) {
    const double u = (static_cast<double>(i) + 0.5) / count;
    const double a = spacing == "uniform" ? schedule.a_min + u * (1 - schedule.a_min)
                                          : schedule.a_at(std::exp(low + u * (high - low)));
    const model::Precondition p(schedule, a, prior_share);
    const double lambda = weight == "sigma" ? schedule.weight(a) : p.v;
    levels_.push_back({.m = static_cast<float>(p.m),
                       .sigma = static_cast<float>(p.sigma),
                       .v = static_cast<float>(p.v),
                       .c_in = static_cast<float>(p.c_in),
                       .weight = static_cast<float>(std::sqrt(lambda) * p.m / p.v),
                       .over_m = static_cast<float>(1 / p.m),
                       .linear = static_cast<float>(2 * lambda / p.sigma * p.m / p.v),
                       .prior = static_cast<float>((1 - p.v / (p.m * p.m + p.sigma * p.sigma)) / p.m)});
  }
}

}  // namespace catena::train
