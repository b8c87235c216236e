/// The chains of a reference as a kernel of sample/mcmc, given to its loop of rounds (sample/mcmc/chains.h) beside
/// their start: the proposals of the kernel `cloud`, the task's symmetries, and auxiliary variables u that each chain
/// keeps here, since z is θ alone (chain.h has the moves and their source).
#pragma once

#include <vector>

#include "catena/core/parallel.h"
#include "catena/evaluate/reference/chain.h"
#include "catena/sample/mcmc/kernel.h"

namespace catena::evaluate {

/// Chains begin at the states of `population` that sample::pick takes; what they do is added to `moves`. All of these
/// must outlive the kernel.
sample::KernelEntry reference_kernel(const ReferenceTarget& target, const std::vector<ReferenceState>& population,
                                     const Parallel& parallel, MoveInfo& moves);

}  // namespace catena::evaluate
