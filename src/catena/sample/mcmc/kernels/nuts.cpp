// The no-U-turn sampler (Hoffman and Gelman 2014, docs/refs.bib: hoffman2014) with multinomial choice of the point and
// the generalised criterion (Betancourt 2017, betancourt2017): a trajectory doubles, forwards or backwards in time,
// until it, or a half of it on any scale, turns back:
//
//   ρ·u_first ≤ 0 or ρ·u_last ≤ 0,   ρ = Σ u over the stretch − (u_first + u_last)/2   (the way in whitened space)
//
// A doubling is a loop over its leaves, not a recursion (Phan et al. 2019, docs/refs.bib: phan2019): all chains that
// need another leaf share one call of the target. Leaf n of a doubling ends one balanced stretch of 2^k leaves for each
// of the trailing ones of n in binary; the first leaf of each is in a checkpoint, of which one per level is enough.

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "catena/sample/mcmc/kernel.h"
#include "catena/sample/mcmc/kernels/leapfrog.h"

namespace catena::sample {

namespace {

/// log(e^a + e^b)
double log_add(double a, double b) {
  const double high = std::max(a, b), low = std::min(a, b);
  return std::isfinite(high) ? high + std::log1p(std::exp(low - high)) : high;
}

bool turns(std::span<const double> sum, std::span<const double> first, std::span<const double> last) {
  double along_first = 0, along_last = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    const double way = sum[i] - 0.5 * (first[i] + last[i]);
    along_first += way * first[i];
    along_last += way * last[i];
  }
  return along_first <= 0 || along_last <= 0;
}

void copy_row(const Matrix& from, std::size_t from_row, Matrix& to, std::size_t to_row) {
  std::ranges::copy(from.row(from_row), to.row(to_row).begin());
}

/// A candidate for the next state of each chain.
struct Choice {
  Choice(std::size_t chains, std::size_t d) : z(chains, d), gradient(chains, d), log_density(chains) {}
  Matrix z, gradient;
  std::vector<double> log_density;

  template <class Source>
  void take(std::size_t c, const Source& from) {
    copy_row(from.z, c, z, c);
    copy_row(from.gradient, c, gradient, c);
    log_density[c] = from.log_density[c];
  }
};

struct NutsSettings {
  int tree_depth = 10;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.tree_depth, "tree_depth", "at most 2^this leapfrog steps", between(1, 20));
  }
};

class Nuts final : public Kernel {
 public:
  explicit Nuts(const KernelContext& context)
      : Kernel(context.dimension, context.dense, 0.8, 1.2 * std::pow(static_cast<double>(context.dimension), -0.25)),
        depth_limit_(from_json<NutsSettings>("sample", context.settings).tree_depth),
        trees_(context.chains),
        ends_{PhasePoints(context.chains, context.dimension), PhasePoints(context.chains, context.dimension)},
        moving_(context.chains, context.dimension),
        in_tree_(context.chains, context.dimension),
        in_doubling_(context.chains, context.dimension),
        tree_sum_(context.chains, context.dimension),
        doubling_sum_(context.chains, context.dimension),
        leapfrog_(context.chains, context.dimension),
        between_(context.dimension) {
    const auto levels = static_cast<std::size_t>(std::max(1, depth_limit_));
    checkpoint_u_.assign(levels, Matrix(context.chains, context.dimension));
    checkpoint_sum_ = checkpoint_u_;
  }

  void init(const Target& target, Chains& chains) override {
    chains.log_density.resize(chains.size());
    chains.gradient = Matrix(chains.size(), chains.dimension());
    target.log_density_and_gradient(chains.z, chains.log_density, chains.gradient);
  }

  StepInfo step(const Target& target, Chains& chains) override {
    active_.clear();
    for (std::size_t c = 0; c < chains.size(); ++c) {
      begin_tree(chains, c);
      if (begin_doubling(chains, c)) active_.push_back(c);
    }
    while (!active_.empty()) {
      steps_.clear();
      for (const std::size_t c : active_) steps_.push_back(trees_[c].forwards ? step_size() : -step_size());
      leapfrog_(target, metric(), active_, steps_, moving_);
      std::erase_if(active_, [&](std::size_t c) { return !goes_on(chains, c); });
    }
    StepInfo info;
    for (std::size_t c = 0; c < chains.size(); ++c) {
      copy_row(in_tree_.z, c, chains.z, c);
      copy_row(in_tree_.gradient, c, chains.gradient, c);
      chains.log_density[c] = in_tree_.log_density[c];
      info.divergences += trees_[c].diverged;
      info.acceptance += trees_[c].acceptance / trees_[c].leaves / static_cast<double>(chains.size());
    }
    info.steered = info.acceptance;
    return info;
  }

 private:
  struct Tree {
    double energy = 0;      // H at the start
    double log_weight = 0;  // log Σ exp(H_start − H) over the tree
    int depth = 0;
    bool diverged = false;
    double acceptance = 0, leaves = 0;  // Σ min(1, exp(H_start − H)) and its number of terms
    // The doubling under way:
    bool forwards = true;
    std::uint64_t leaf = 0;
    double doubling_log_weight = 0;
  };

  void begin_tree(Chains& chains, std::size_t c) {
    in_tree_.take(c, chains);
    chains.streams[c].fill_normal(tree_sum_.row(c));
    for (PhasePoints& end : ends_) {
      copy_row(chains.z, c, end.z, c);
      copy_row(chains.gradient, c, end.gradient, c);
      copy_row(tree_sum_, c, end.u, c);
      end.log_density[c] = chains.log_density[c];
    }
    trees_[c] = Tree{.energy = ends_[0].energy(c)};
  }

  /// False if the tree is as deep as it may be.
  bool begin_doubling(Chains& chains, std::size_t c) {
    Tree& tree = trees_[c];
    if (tree.depth == depth_limit_) return false;
    tree.forwards = chains.streams[c].integer(2) == 1;
    tree.leaf = 0;
    tree.doubling_log_weight = -std::numeric_limits<double>::infinity();
    std::ranges::fill(doubling_sum_.row(c), 0.0);
    copy_point(ends_[tree.forwards], moving_, c);
    return true;
  }

  static void copy_point(const PhasePoints& from, PhasePoints& to, std::size_t c) {
    copy_row(from.z, c, to.z, c);
    copy_row(from.u, c, to.u, c);
    copy_row(from.gradient, c, to.gradient, c);
    to.log_density[c] = from.log_density[c];
  }

  /// Takes in the leaf that the chain has just reached. False if its tree is finished.
  bool goes_on(Chains& chains, std::size_t c) {
    Tree& tree = trees_[c];
    const double log_weight = tree.energy - moving_.energy(c);
    tree.leaves += 1;
    if (!(log_weight > -largest_energy_error)) {
      tree.diverged = true;
      return false;
    }
    tree.acceptance += std::exp(std::min(0.0, log_weight));
    tree.doubling_log_weight = log_add(tree.doubling_log_weight, log_weight);
    if (std::log(chains.streams[c].uniform()) < log_weight - tree.doubling_log_weight) in_doubling_.take(c, moving_);
    const auto u = moving_.u.row(c), sum = doubling_sum_.row(c);
    for (std::size_t i = 0; i < u.size(); ++i) sum[i] += u[i];
    if (doubling_turns(c)) return false;
    return ++tree.leaf < std::uint64_t{1} << tree.depth || ends_doubling(chains, c);
  }

  /// Whether a balanced stretch that ends with this leaf turns. Even leaves begin stretches and end none.
  bool doubling_turns(std::size_t c) {
    const std::uint64_t n = trees_[c].leaf;
    const auto level = static_cast<std::size_t>(std::popcount(n >> 1));
    if (n % 2 == 0) {
      copy_row(moving_.u, c, checkpoint_u_[level], c);
      copy_row(doubling_sum_, c, checkpoint_sum_[level], c);
      return false;
    }
    const auto stretches = static_cast<std::size_t>(std::countr_one(n));
    for (std::size_t k = level + 1; k-- > level + 1 - stretches;) {
      const auto first = checkpoint_u_[k].row(c), before = checkpoint_sum_[k].row(c), now = doubling_sum_.row(c);
      for (std::size_t i = 0; i < between_.size(); ++i) between_[i] = now[i] - before[i] + first[i];
      if (turns(between_, first, moving_.u.row(c))) return true;
    }
    return false;
  }

  /// Joins a complete doubling to the tree; false if the tree then turns or is as deep as it may be.
  bool ends_doubling(Chains& chains, std::size_t c) {
    Tree& tree = trees_[c];
    // Biased progressive sampling (betancourt2017): the new half is taken with min(1, its weight / the old half's).
    if (std::log(chains.streams[c].uniform()) < tree.doubling_log_weight - tree.log_weight) {
      in_tree_.take(c, in_doubling_);
    }
    tree.log_weight = log_add(tree.log_weight, tree.doubling_log_weight);
    copy_point(moving_, ends_[tree.forwards], c);
    const auto sum = tree_sum_.row(c), added = doubling_sum_.row(c);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += added[i];
    ++tree.depth;
    return !turns(sum, ends_[0].u.row(c), ends_[1].u.row(c)) && begin_doubling(chains, c);
  }

  int depth_limit_;
  std::vector<Tree> trees_;
  std::array<PhasePoints, 2> ends_;  // backwards, forwards
  PhasePoints moving_;
  Choice in_tree_, in_doubling_;
  Matrix tree_sum_, doubling_sum_;
  std::vector<Matrix> checkpoint_u_, checkpoint_sum_;
  Leapfrog leapfrog_;
  std::vector<double> between_, steps_;
  std::vector<std::size_t> active_;
};

}  // namespace

KernelEntry nuts_kernel() {
  return {
      .name = "nuts",
      .help = "no-U-turn sampler, multinomial",
      .needs_gradient = true,
      .settings = own_settings<NutsSettings>(),
      .make = [](const KernelContext& context) -> std::unique_ptr<Kernel> { return std::make_unique<Nuts>(context); }};
}

}  // namespace catena::sample
