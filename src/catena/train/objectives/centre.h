/// What a score network gets wrong in the same way for all transitions. For a true score
///
///   E[ s(θ_a, a, c) | θ_a, x^t ] = ∇ log p(θ_a) = −θ_a/(m² + σ²)
///
/// holds exactly, where c = (x^t, x^(t+1)) follows the simulator: the score of a likelihood has mean zero. The mean of
/// a network's score deviates by some B(θ_a, a, x^t), and over a series these errors do not average out but add up:
/// T of them move the posterior by T B while it narrows like 1/√T. B is learned by plain regression (its target has no
/// 1/σ noise) and subtracted.
#pragma once

#include <memory>

#include "catena/model/score/score_model.h"
#include "catena/model/weights.h"
#include "catena/nn/workspace_pool.h"
#include "catena/train/objectives/score.h"

namespace catena::train {

/// B in the preconditioning of y (model/score/network.h): the centred network is y − y_B. Regression of y's mean given
/// (θ_a, a, x^t): the loss is w²‖y_B − (y − y₀)‖², where y₀ = θ_a (1/m − v/(m (m² + σ²))) is the y of the prior's
/// score; where members have local coordinates, y is what gives their s in this preconditioning, (v s + θ_a)/m. Of an
/// ensemble, an example is judged by a member that did not train on it, if there is one: what a network has learned by
/// heart is not its mean elsewhere.
class CentreObjective final : public Objective {
 public:
  CentreObjective(const model::ScoreNetworkSettings& network, const std::string& schedule,
                  const ScoreLossSettings& loss, const std::vector<const model::NamedWeights*>& members,
                  const std::string& source, const TrainingData& data,
                  std::shared_ptr<const model::LocalGaussianNetwork> local = nullptr);

  const nn::Graph& graph() const override { return centre_.graph; }
  nn::Value loss() const override { return loss_; }
  void fill(nn::Workspace& workspace, const BatchPart& part, Stream stream) const override;

 private:
  /// A row that some member has not seen, for any row.
  std::size_t unseen_row(std::size_t row) const;
  /// How much a member counts for a row: those that have not seen it share it.
  float share_of(std::size_t member, std::size_t row) const;

  NoiseLevels levels_;
  const TrainingData& data_;
  model::ScoreGraph score_, centre_;
  std::vector<AlignedVector<float>> members_;
  mutable nn::WorkspacePool frozen_;
  std::shared_ptr<const model::LocalGaussianNetwork> local_;  // as the members have it (score.h)
  nn::Value target_, weight_, loss_;
};

}  // namespace catena::train
