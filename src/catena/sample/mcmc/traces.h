/// The kept draws of Markov chains, parameter by parameter: their health, and a thinned set of them.
#pragma once

#include <cstddef>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/parallel.h"
#include "catena/sample/mcmc/chain_health.h"

namespace catena::sample {

/// Parameter i is traces[i], chains × draws.
using Traces = std::vector<Matrix>;

std::vector<ChainHealth> health_of(const Traces& traces, const Parallel& parallel);

/// n draws, dealt to the chains in turn, equally spaced within each; one draw a row.
Matrix thin(const Traces& traces, std::size_t n);

/// n draws as chains: `chains` times as many draws of each, one chain after the other.
struct ChainDraws {
  Matrix z;
  std::size_t chains = 1;
};

/// n draws of as many chains as divide n, spread over all of them: no more chains than draws of each, as ArviZ expects,
/// and four draws or more, as split R-hat needs; where that leaves fewer than two chains, the draws of thin() as one.
ChainDraws thin_by_chain(const Traces& traces, std::size_t n);

}  // namespace catena::sample
