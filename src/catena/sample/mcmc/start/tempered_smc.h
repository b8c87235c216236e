/// Where chains start: a population carried from the prior N(0, I) to the target through prior^(1−β) target^β,
/// 0 = β_0 < β_1 < … = 1, reweighted, resampled and moved at each (docs/refs.bib: delmoral2006). Where one reweighting
/// is enough this is sampling-importance-resampling of the prior; it begins spread over the whole prior, so it finds
/// separate modes and their weights.
#pragma once

#include <cstddef>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/outcome.h"
#include "catena/core/progress.h"
#include "catena/core/random.h"
#include "catena/sample/mcmc/target.h"

namespace catena::sample {

struct Start {
  Outcome outcome = Outcome::ok;  // diverged: no point of the prior is possible
  std::vector<double> betas;      // from 0 to 1
  std::vector<Matrix> points;     // the population at each; the order is that of ancestors in the prior
};

/// `moves` random-walk steps at each temperature; `population` points, at least 4.
Start temper_start(const Target& target, std::size_t population, int moves, const Streams& streams, Progress& progress);

/// `n` points of the population, equally spaced, so from all over it; repeated if n is larger.
Matrix pick(const Matrix& population, std::size_t n);

}  // namespace catena::sample
