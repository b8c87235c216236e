/// One chain of a reference posterior: its state, and the moves that leave p(θ | series) invariant. The kernel of such
/// chains is kernel.h, their start start.h.
///
/// For an estimated likelihood the state is (θ, u) with target N(θ; 0, I) N(u; 0, I) Π_t p̂_t(θ, u_t)^β: θ moves with u
/// held, so that both estimates of a ratio share their noise, and each u_t moves on its own with θ held. That is the
/// correlated pseudo-marginal method (docs/refs.bib: deligiannidis2018) in blocks (tran2016); θ has the exact
/// posterior as its margin at β = 1, because every p̂_t is unbiased.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/random.h"
#include "catena/sample/mcmc/kernels/cloud_proposals.h"
#include "catena/sample/mcmc/target.h"
#include "catena/tasks/likelihood.h"

namespace catena::evaluate {

/// What the next step needs.
struct ReferenceState {
  std::vector<double> theta;  // d values, pinned ones included
  std::vector<double> u;      // T × normals_per_transition
  std::vector<double> terms;  // log p̂_t(θ, u_t); none if the likelihood is exact, where the sum may cost less
  double log_likelihood = 0;  // their sum
};

/// What a report needs.
struct MoveInfo {
  std::uint64_t proposed = 0;
  std::uint64_t accepted = 0;
  std::uint64_t evaluations = 0;  // of the likelihood of the whole series
  void add(const MoveInfo& other) {
    proposed += other.proposed;
    accepted += other.accepted;
    evaluations += other.evaluations;
  }
};

/// The posterior of one series under θ ~ N(0, I), pinned parameters included.
class ReferenceTarget final : public sample::Target {
 public:
  explicit ReferenceTarget(const tasks::SeriesLikelihood& likelihood);

  std::size_t dimension() const override { return likelihood_.parameters(); }
  /// Of an exact likelihood. An estimate is a function of u too, which the kernel has, so that nobody asks here.
  void log_density(ConstMatrixView theta, std::span<double> out) const override;

  const tasks::SeriesLikelihood& likelihood() const { return likelihood_; }
  /// The parameters that are not pinned, by index.
  const std::vector<std::size_t>& free() const { return free_; }
  /// Their columns.
  Matrix free_columns(ConstMatrixView theta) const;

  ReferenceState prior_draw(Stream& stream) const;

 private:
  const tasks::SeriesLikelihood& likelihood_;
  std::vector<std::size_t> free_;
  std::vector<tasks::PinnedParameter> pinned_;
};

/// One random-walk or difference move at temperature β: the step of the tempered population.
MoveInfo local_step(const ReferenceTarget& target, const sample::CloudProposals& proposals, double beta, double scale,
                    ReferenceState& state, Stream& stream);

/// One sweep of a chain at β = 1: a symmetry of the task, one of the three proposals, and the auxiliary variables.
MoveInfo chain_step(const ReferenceTarget& target, const sample::CloudProposals& proposals, ReferenceState& state,
                    Stream& stream);

}  // namespace catena::evaluate
