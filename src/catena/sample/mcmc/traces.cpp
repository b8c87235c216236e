#include "catena/sample/mcmc/traces.h"

namespace catena::sample {

std::vector<ChainHealth> health_of(const Traces& traces, const Parallel& parallel) {
  std::vector<ChainHealth> health(traces.size());
  parallel.for_each(traces.size(), [&](std::size_t i) { health[i] = chain_health(traces[i]); });
  return health;
}

Matrix thin(const Traces& traces, std::size_t n) {
  const std::size_t chains = traces[0].rows(), kept = traces[0].cols();
  const std::size_t per_chain = (n + chains - 1) / chains;
  Matrix draws(n, traces.size());
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t place = (2 * (k / chains) + 1) * kept / (2 * per_chain);
    for (std::size_t i = 0; i < traces.size(); ++i) draws(k, i) = traces[i](k % chains, place);
  }
  return draws;
}

}  // namespace catena::sample
