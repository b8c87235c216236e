#include "catena/sample/mcmc/traces.h"

#include <algorithm>
#include <cmath>

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

ChainDraws thin_by_chain(const Traces& traces, std::size_t n) {
  const std::size_t all = traces[0].rows(), kept = traces[0].cols();
  std::size_t chains = std::min({all, n / 4, static_cast<std::size_t>(std::sqrt(static_cast<double>(n)))});
  while (chains > 1 && n % chains != 0) --chains;
  if (chains < 2) return {thin(traces, n), 1};
  const std::size_t per_chain = n / chains;
  ChainDraws draws{Matrix(n, traces.size()), chains};
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t chain = k / per_chain * all / chains, place = (2 * (k % per_chain) + 1) * kept / (2 * per_chain);
    for (std::size_t i = 0; i < traces.size(); ++i) draws.z(k, i) = traces[i](chain, place);
  }
  return draws;
}

}  // namespace catena::sample
