/// How far Markov chains can be trusted: rank-normalised split R-hat, bulk and tail effective sample size
/// (Vehtari et al. 2021, docs/refs.bib: vehtari2021). The same definitions as ArviZ and Stan's posterior package.
#pragma once

#include <vector>

#include "catena/core/array.h"

namespace catena::sample {

/// One scalar quantity; chains × draws, at least 4 draws a chain. A quantity that never changes has R-hat 1 and as many
/// effective draws as draws.
double r_hat(ConstMatrixView draws);
double bulk_ess(ConstMatrixView draws);
double tail_ess(ConstMatrixView draws);

/// The health of one parameter.
struct ChainHealth {
  double r_hat = 0;
  double bulk_ess = 0;
  double tail_ess = 0;
};
ChainHealth chain_health(ConstMatrixView draws);

/// The worst of several parameters.
ChainHealth worst(const std::vector<ChainHealth>& parameters);

}  // namespace catena::sample
