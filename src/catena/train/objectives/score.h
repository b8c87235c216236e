/// FNSE's local estimator: denoising score matching on single transitions (paper section 3.1; docs/refs.bib:
/// vincent2011, gloeckler2025), with λ applied to every sample,
///
///   L = E_{θ, c, a, ε} λ(a) ‖ s(mθ + σε, a, c) + ε/σ ‖².
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "catena/core/config.h"
#include "catena/diffusion/schedule.h"
#include "catena/model/local_gaussian.h"
#include "catena/model/score/network.h"
#include "catena/train/objective.h"
#include "catena/train/objectives/noise_levels.h"

namespace catena::train {

struct ScoreLossSettings {
  std::string levels = "uniform";
  double smallest_eta = 0.01;
  std::string weight = "sigma";
  std::string pairing = "none";

  /// Without pairs of lanes.
  template <class Self, class Visit>
  static void list_levels(Self& c, Visit&& visit) {
    visit(c.levels, "levels", "how training draws a: uniform on [a_min, 1] (paper), or ln(sigma/m) uniform",
          one_of({"uniform", "log"}));
    visit(c.smallest_eta, "smallest_eta", "smallest sigma/m that training draws", when("levels", {"log"}, positive()));
    visit(c.weight, "weight",
          "lambda(a): sigma = max(sigma^2, 0.01) (paper), precondition = v(a), which weighs errors of y evenly",
          one_of({"sigma", "precondition"}));
  }
  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    list_levels(c, visit);
    visit(c.pairing, "pairing",
          "two lanes per transition against noise: antithetic (both signs of epsilon) or control_variate (paper)",
          one_of({"none", "antithetic", "control_variate"}));
  }
};

/// The loss without its constant λ‖ε‖²/σ²: with s = (m y − θ_a)/v and e = y − θ_a/m, λ(‖s‖² + 2 s·ε/σ) is
///
///   ‖w e‖² + g·e,   w² = λ m²/v²,   g = 2 (λ/σ)(m/v) ε.
///
/// At small a the second term is nearly all noise. Two lanes per transition take most of it away: `antithetic` has ε in
/// one and −ε in the other, `control_variate` has w = 0, −g and θ_a = mθ in the other, which has mean zero.
///
/// In the local posterior's coordinates (model/score/local_precondition.h) e = v Lᵀ V⁻¹ (y − ξ_a/m) takes the place of
/// y − θ_a/m, so that s = (m/v) e as well, and the rest stays.
class ScoreObjective : public Objective {
 public:
  ScoreObjective(const model::ScoreNetworkSettings& network, const std::string& schedule, const ScoreLossSettings& loss,
                 std::size_t parameters, std::size_t features,
                 std::shared_ptr<const model::LocalGaussianNetwork> local = nullptr);
  /// Of a network that is recorded already.
  ScoreObjective(model::ScoreGraph score, const std::string& schedule, const ScoreLossSettings& loss,
                 std::size_t parameters, double prior_share,
                 std::shared_ptr<const model::LocalGaussianNetwork> local = nullptr);

  const nn::Graph& graph() const override { return score_.graph; }
  nn::Value loss() const override { return loss_; }
  std::size_t lanes_per_example() const override { return pairing_ == Pairing::none ? 1 : 2; }
  std::size_t held_out_draws() const override { return 16; }
  void fill(nn::Workspace& workspace, const BatchPart& part, Stream stream) const final;

 protected:
  /// What the network is given of the part's examples beside z: their features.
  virtual void fill_condition(nn::Workspace& workspace, const BatchPart& part) const;

 private:
  enum class Pairing { none, antithetic, control_variate };
  /// θ_a stands in the lanes of `origin`.
  void fill_local(nn::Workspace& workspace, std::size_t lanes, std::span<const NoiseLevel* const> levels) const;

  model::ScoreGraph score_;
  std::shared_ptr<const model::LocalGaussianNetwork> local_;  // none: the paper's preconditioning
  nn::Value origin_, gain_, weight_, linear_, loss_;
  Pairing pairing_;
  NoiseLevels levels_;
};

}  // namespace catena::train
