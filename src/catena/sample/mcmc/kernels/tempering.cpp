// Parallel tempering: beside every chain on the target run others on prior^(1−β) target^β, and neighbours in β exchange
// their points with min(1, exp((β_j − β_k)(ℓ_k − ℓ_j))), ℓ = log target − log prior. At β = 0 stand independent draws
// of the prior, which know nothing of modes. Neighbours are tried in alternation, even and odd pairs, which carries
// points through the ladder without turning back at random, and the ladder is moved to equal rates of rejection
// (Syed et al. 2022, docs/refs.bib: syed2022).

#include <algorithm>
#include <cmath>

#include "catena/core/check.h"
#include "catena/sample/mcmc/kernel.h"

namespace catena::sample {

namespace {

/// What can move the chains at a temperature: the kernels without gradient and without a ladder of their own.
std::vector<std::string> tempered_kernel_choices() {
  std::vector<std::string> names;
  for (const KernelEntry& entry : kernels()) {
    if (!entry.needs_gradient && entry.name != "tempering") names.emplace_back(entry.name);
  }
  return names;
}

struct TemperingSettings {
  std::string tempered_kernel = "cloud";

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.tempered_kernel, "tempered_kernel", "what moves the chains at each temperature",
          one_of(tempered_kernel_choices()));
  }
};

/// A temperature with β > 0.
struct Rung {
  TemperedTarget target;
  std::unique_ptr<Kernel> kernel;
  Chains chains;  // of the coldest rung: empty, they are the caller's

  double log_likelihood(const Chains& state, std::size_t c) const {
    return (state.log_density[c] - log_prior(state.z.row(c))) / target.beta();
  }
};

class Tempering final : public Kernel {
 public:
  explicit Tempering(const KernelContext& context)
      : Kernel(context.dimension, context.dense, 0.5, 1),
        context_(context),
        tempered_kernel_(from_json<TemperingSettings>("sample", context.settings).tempered_kernel),
        betas_(context.start->betas.rbegin(), context.start->betas.rend()) {
    context_.settings = nlohmann::json::object();  // for the kernels of the rungs, which keep their defaults
    CATENA_ASSERT(betas_.size() >= 2 && betas_.front() == 1 && betas_.back() == 0);
    prior_.z = Matrix(context.chains, context.dimension);
    prior_.log_density.resize(context.chains);
    for (std::size_t c = 0; c < context.chains; ++c) {
      prior_.streams.push_back(context.streams.stream("prior", c));
      swaps_.push_back(context.streams.stream("swaps", c));
    }
    rejections_.assign(betas_.size() - 1, 0);
    tried_ = rejections_;
  }

  void init(const Target& target, Chains& chains) override {
    Kernel::init(target, chains);
    const std::vector<Matrix>& points = context_.start->points;
    for (std::size_t k = 0; k + 1 < betas_.size(); ++k) {
      const Matrix& population = points[points.size() - 1 - k];
      Rung rung{TemperedTarget(target, betas_[k]), kernels().at("tempering", tempered_kernel_).make(context_), {}};
      rung.kernel->learn(population);
      if (k > 0) {
        rung.chains.z = pick(population, chains.size());
        for (std::size_t c = 0; c < chains.size(); ++c) {
          rung.chains.streams.push_back(context_.streams.stream("rung", k, c));
        }
        rung.kernel->init(rung.target, rung.chains);
      }
      rungs_.push_back(std::move(rung));
    }
  }

  StepInfo step(const Target& target, Chains& chains) override {
    StepInfo info;
    for (std::size_t k = 0; k < rungs_.size(); ++k) {
      infos_.resize(rungs_.size());
      infos_[k] = rungs_[k].kernel->step(rungs_[k].target, state(k, chains));
      info.divergences += infos_[k].divergences;
    }
    info.acceptance = infos_[0].acceptance;
    for (std::size_t c = 0; c < chains.size(); ++c) prior_.streams[c].fill_normal(prior_.z.row(c));
    // The prior's points are asked for only when they are the neighbours of this step.
    if ((parity_ + rungs_.size()) % 2 == 1) target.log_density(prior_.z, prior_.log_density);
    for (std::size_t k = parity_; k + 1 < betas_.size(); k += 2) exchange(k, chains);
    parity_ = 1 - parity_;
    return info;
  }

  void adapt(const Chains& chains, const StepInfo&) override {
    for (std::size_t k = 0; k < rungs_.size(); ++k) {
      rungs_[k].kernel->adapt(k == 0 ? chains : rungs_[k].chains, infos_[k]);
    }
  }

  void end_window() override {
    for (Rung& rung : rungs_) rung.kernel->end_window();
    move_ladder();
  }

  void learn(ConstMatrixView) override {}  // every rung learns from its own points

  void freeze() override {
    for (Rung& rung : rungs_) rung.kernel->freeze();
    set_step_size(rungs_[0].kernel->step_size());
  }

 private:
  Chains& state(std::size_t k, Chains& coldest) { return k == 0 ? coldest : rungs_[k].chains; }

  /// Rungs k and k + 1, of which the last is the prior.
  void exchange(std::size_t k, Chains& coldest) {
    const bool with_prior = k + 1 == rungs_.size();
    Chains& cold = state(k, coldest);
    Chains& hot = with_prior ? prior_ : rungs_[k + 1].chains;
    for (std::size_t c = 0; c < cold.size(); ++c) {
      const double cold_likelihood = rungs_[k].log_likelihood(cold, c);
      const double hot_likelihood =
          with_prior ? hot.log_density[c] - log_prior(hot.z.row(c)) : rungs_[k + 1].log_likelihood(hot, c);
      const double log_ratio = (betas_[k] - betas_[k + 1]) * (hot_likelihood - cold_likelihood);
      rejections_[k] += 1 - std::exp(std::min(0.0, log_ratio));
      tried_[k] += 1;
      if (!(std::log(swaps_[c].uniform()) < log_ratio)) continue;
      std::ranges::swap_ranges(cold.z.row(c), hot.z.row(c));
      cold.log_density[c] = betas_[k] * hot_likelihood + log_prior(cold.z.row(c));
      hot.log_density[c] = (with_prior ? 1 : betas_[k + 1]) * cold_likelihood + log_prior(hot.z.row(c));
    }
  }

  /// With Λ(β) the rejections added up from the target on, the new β_k are equally spaced in Λ.
  void move_ladder() {
    std::vector<double> barrier{0};
    for (std::size_t k = 0; k < rejections_.size(); ++k) {
      // No pair is so good that its rungs could be moved without bound.
      barrier.push_back(barrier.back() + (tried_[k] > 0 ? std::max(rejections_[k] / tried_[k], 0.02) : 0.02));
    }
    const std::vector<double> old = betas_;
    for (std::size_t k = 1; k < rungs_.size(); ++k) {
      const double wanted = barrier.back() * static_cast<double>(k) / static_cast<double>(rungs_.size());
      const auto above = static_cast<std::size_t>(std::ranges::upper_bound(barrier, wanted) - barrier.begin());
      const double share = (wanted - barrier[above - 1]) / (barrier[above] - barrier[above - 1]);
      betas_[k] = old[above - 1] + share * (old[above] - old[above - 1]);
    }
    for (std::size_t k = 1; k < rungs_.size(); ++k) {
      Rung& rung = rungs_[k];
      for (std::size_t c = 0; c < rung.chains.size(); ++c) {
        rung.chains.log_density[c] = betas_[k] * rung.log_likelihood(rung.chains, c) + log_prior(rung.chains.z.row(c));
      }
      rung.target.set_beta(betas_[k]);
    }
    std::ranges::fill(rejections_, 0.0);
    std::ranges::fill(tried_, 0.0);
  }

  KernelContext context_;
  std::string tempered_kernel_;
  std::vector<double> betas_;  // from 1 down to 0
  std::vector<Rung> rungs_;    // all of them but the prior
  Chains prior_;
  std::vector<Stream> swaps_;
  std::vector<StepInfo> infos_;
  std::vector<double> rejections_, tried_;
  std::size_t parity_ = 0;
};

}  // namespace

KernelEntry tempering_kernel() {
  return {.name = "tempering",
          .help = "parallel tempering from the prior to the target",
          .crosses_modes = true,
          .settings = own_settings<TemperingSettings>(),
          .make = [](const KernelContext& context) -> std::unique_ptr<Kernel> {
            return std::make_unique<Tempering>(context);
          }};
}

}  // namespace catena::sample
