// A round runs all chains with a fixed kernel and is examined. Chains that agree but have too few effective draws go
// on; chains that disagree have been a warm-up: the kernel learns from their points and a round of twice the length
// begins anew. Chains that disagree as much in the longer round as in the one before are stuck, in modes mostly: with
// kernel = auto, parallel tempering takes over.
//
// Draws are kept with a stride that doubles until every second kept draw is effective. R-hat of chains of n kept draws
// is about 1 + (τ − 1)/(2n) where all is well, τ their autocorrelation time, so draws that are nearly independent let
// many short chains show that they agree.

#include "catena/sample/mcmc/chains.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>

#include "catena/core/check.h"
#include "catena/core/stopwatch.h"
#include "catena/sample/mcmc/kernels/cloud_proposals.h"
#include "catena/sample/mcmc/start/long_start.h"
#include "catena/sample/mcmc/start/modes.h"
#include "catena/sample/mcmc/start/staged_start.h"

namespace catena::sample {

namespace {

std::vector<FieldInfo> fields_of(const KernelEntry& entry) {
  return entry.settings.describe != nullptr ? entry.settings.describe() : std::vector<FieldInfo>();
}

/// Of `json`, the settings that are the kernel's own.
nlohmann::json own_part(const KernelEntry& entry, const nlohmann::json& json) {
  nlohmann::json part = nlohmann::json::object();
  for (const FieldInfo& field : fields_of(entry)) {
    if (json.contains(field.name)) part[field.name] = json[field.name];
  }
  return part;
}

/// "auto" moves chains by cloud or delayed, and by tempering if they disagree.
bool may_use(std::string_view kernel, const KernelEntry& entry) {
  if (kernel != "auto") return kernel == entry.name;
  return entry.name == "cloud" || entry.name == "delayed" || entry.name == "tempering";
}

void check_own(const McmcSettings& settings) {
  nlohmann::json unknown = settings.own;
  for (const KernelEntry& entry : kernels()) {
    const nlohmann::json part = own_part(entry, settings.own);
    for (const auto& [name, value] : part.items()) {
      if (!may_use(settings.kernel, entry)) {
        throw InputError(fmt::format("sample: {} is {}, but is a setting of {}, not of {}", name,
                                     catena::detail::json_text(value), entry.name, settings.kernel));
      }
      unknown.erase(name);
    }
    if (!part.empty()) entry.settings.check(part);
  }
  check::that(unknown.empty(), "sample", "a kernel's own settings", unknown.dump(), "those of a kernel");
}

constexpr double worth_keeping = 1.05;  // R-hat below which a round is continued rather than begun anew
/// R-hat of chains in modes that do not meet; below it one round that is no better than the last may be chance.
constexpr double apart = 1.2;

struct Round {
  double r_hat = 1;
  double ess = 0;
};

/// Up to this dimension independent proposals are accepted often enough to beat gradients: `catena bench --only mcmc`.
constexpr std::size_t few_dimensions = 10;

/// From so many transitions on a density costs more than the surrogate's steps for one: `catena bench --only fnle`.
constexpr std::size_t many_terms = 500;

/// Transitions that a start in legs begins with: more than parameters, and a sixteenth of what is long at least.
constexpr std::size_t first_leg = 64;

/// `bent`: more pieces than the surrogate of `delayed` has.
std::string automatic(const Target& target, bool bent) {
  if (target.dimension() <= few_dimensions) {
    return target.costs_grow() && target.terms() >= many_terms && !bent ? "delayed" : "cloud";
  }
  return target.has_gradient() ? "hmc" : "slice";
}

class Run {
 public:
  Run(const Target& target, std::optional<GivenChains> given, std::size_t draws, const McmcSettings& settings,
      const Streams& streams, const Parallel& parallel, Progress& progress)
      : target_(target),
        given_(std::move(given)),
        draws_(draws),
        settings_(settings),
        streams_(streams),
        parallel_(parallel),
        progress_(progress),
        wanted_ess_(std::max(settings.least_ess, settings.ess_per_draw * static_cast<double>(draws))) {}

  McmcDraws operator()() {
    const Stopwatch watch;
    info().chains = static_cast<std::size_t>(settings_.chains);
    find_start();
    info().outcome = start_.outcome;
    before_steps_ = static_cast<double>(target_.counts().evaluations);
    if (start_.outcome == Outcome::ok) sample();
    info().evaluations = target_.counts().evaluations;
    info().gradients = target_.counts().gradients;
    info().not_finite = target_.counts().not_finite;
    info().seconds = watch.seconds();
    return std::move(result_);
  }

 private:
  McmcInfo& info() { return result_.info; }
  const McmcInfo& info() const { return result_.info; }
  Traces& traces() { return result_.traces; }
  std::size_t kept() const { return result_.traces[0].cols(); }

  /// In six to ten dimensions a posterior may be thin and bent (linear_sde: two rings in eight), and its pieces take
  /// points to be seen: `cloud` needed 217,000 densities for linear_sde at T = 1,000 after a population of 4,096, and
  /// had R-hat 1.36 when it gave up after one of 1,024.
  bool may_be_bent() const { return target_.dimension() > 5 && target_.dimension() <= few_dimensions; }

  std::size_t population() const {
    if (settings_.population > 0) return static_cast<std::size_t>(settings_.population);
    return may_be_bent() ? 512 * target_.dimension() : 400;
  }

  void find_start() {
    if (given_) {
      start_ = std::move(given_->start);
      info().temperatures = start_.betas.size() - 1;
      return;
    }
    const auto some = static_cast<std::size_t>(settings_.thin_start);
    const bool is_long =
        some > 0 && target_.terms() >= 4 * some && target_.has_gradient() && (target_.costs_grow() || !may_be_bent());
    if (const auto thinned = is_long && settings_.kernel != "tempering" ? target_.thinned(some) : nullptr) {
      const CountedTarget counted(*thinned);
      start_ = long_start(target_, counted, population(), settings_.moves, streams_.child("start"), progress_);
      info().thinned_evaluations = counted.counts().evaluations;
      if (start_.outcome == Outcome::ok) return;
    }
    if (!may_be_bent() || settings_.kernel == "tempering") return temper();
    const bool in_legs =
        some > 0 && target_.costs_grow() && target_.terms() >= 4 * first_leg && target_.thinned(first_leg) != nullptr;
    StagedStart staged = staged_start(target_, in_legs ? first_leg : target_.terms(), population(), settings_.moves,
                                      streams_.child("start"), progress_);
    start_ = std::move(staged.start);
    info().temperatures = staged.temperatures;
    info().thinned_evaluations += staged.thinned_evaluations;
    bent_ = find_modes(start_.points.back(), usual_modes + 1).all.size() > usual_modes;
  }

  /// The whole way from the prior, which tempering needs.
  void temper() {
    start_ = temper_start(target_, population(), settings_.moves, streams_.child("start"), progress_);
    info().temperatures = start_.betas.size() - 1;
    has_ladder_ = true;
  }

  void sample() {
    use_kernel(given_ ? given_->kernel
                      : registered(settings_.kernel == "auto" ? automatic(target_, bent_) : settings_.kernel));
    std::size_t length = first_length();
    Round last;
    for (int failures = 0, stalls = 0;;) {
      run(std::min(length, affordable_steps()));
      const Round round = examine();
      if (round.r_hat <= settings_.largest_r_hat && round.ess >= wanted_ess_) break;
      if (info().steps >= static_cast<std::size_t>(settings_.most_steps) || affordable_steps() == least_steps) {
        info().outcome = Outcome::not_mixed;
        break;
      }
      const std::size_t done = kept() * info().stride;
      if (round.r_hat <= worth_keeping) {
        // As many steps more as the effective draws so far promise to be enough, at most as many again.
        const double missing = wanted_ess_ / round.ess - 1;
        const double share = round.r_hat > settings_.largest_r_hat ? 1 : std::clamp(1.1 * missing, 0.1, 1.0);
        length = static_cast<std::size_t>(std::ceil(share * static_cast<double>(done)));
        continue;
      }
      const auto excess = [](double r_hat) { return r_hat * r_hat - 1; };
      stalls = failures > 0 && excess(round.r_hat) > 0.7 * excess(last.r_hat) ? stalls + 1 : 0;
      const bool stuck = stalls >= (round.r_hat > apart ? 1 : 2);
      last = round;
      ++failures;
      if (stuck && !given_ && settings_.kernel == "auto" && info().kernel != "tempering") {
        failures = stalls = 0;
        if (!has_ladder_) temper();
        use_kernel(registered("tempering"));
        length = first_length();
      } else {
        kernel_->learn(thin(traces(), std::min(largest_cloud, kept() * info().chains)));
        warm_up(warm_up_steps() / 2);
        forget();
        length = 2 * done;
      }
    }
    result_.z = thin(traces(), draws_);
  }

  /// How many more steps most_evaluations allows, by what steps have cost so far; at least so many as can be examined.
  static constexpr std::size_t least_steps = 8;
  std::size_t affordable_steps() const {
    if (settings_.most_evaluations == 0) return std::numeric_limits<std::size_t>::max();
    const auto used = static_cast<double>(target_.counts().evaluations);
    const double left = static_cast<double>(settings_.most_evaluations) - used;
    const double cost = (used - before_steps_) / static_cast<double>(std::max<std::size_t>(info().steps, 1));
    return std::max(least_steps, static_cast<std::size_t>(std::max(0.0, left) / std::max(cost, 1.0)));
  }

  /// All chains teach the kernel together, so one alone needs more steps; a step size takes some dozens in any case.
  int warm_up_steps() const {
    const int enough = entry_->warm_up;
    return settings_.warm_up >= 0 ? settings_.warm_up : enough + 1000 * enough / (64 * settings_.chains);
  }

  std::size_t first_length() const {
    const double least = std::max(wanted_ess_, static_cast<double>(draws_)) / settings_.chains;
    return std::max(static_cast<std::size_t>(settings_.round), static_cast<std::size_t>(std::ceil(least)));
  }

  void forget() {
    result_.traces.assign(target_.dimension(), Matrix());
    info().stride = 1;
    info().divergences = 0;
    accepted_ = kept_steps_ = 0;
  }

  static const KernelEntry& registered(const std::string& name) { return kernels().at("sample", name); }

  /// Chains at points of the start, and a kernel that is warmed up on them.
  void use_kernel(const KernelEntry& entry) {
    const std::string name(entry.name);
    entry_ = &entry;
    check::that(!entry.needs_gradient || target_.has_gradient(), "sample", "kernel", name,
                "one that needs no gradient, since the target has none");
    check::at_least("sample", "chains", info().chains, entry.least_chains);
    info().kernel = name;
    kernel_ = entry.make({.dimension = target_.dimension(),
                          .chains = info().chains,
                          .dense = settings_.dense,
                          .settings = own_part(entry, settings_.own),
                          .start = &start_,
                          .streams = streams_.child(name)});
    chains_ = Chains{pick(start_.points.back(), info().chains), {}, {}, {}};
    for (std::size_t c = 0; c < info().chains; ++c) chains_.streams.push_back(streams_.stream(name, c));
    kernel_->learn(start_.points.back());
    kernel_->init(target_, chains_);
    warm_up(warm_up_steps());
    forget();
  }

  /// Windows of 1/8, 1/8, 1/4 and 1/2 of the steps; the last adapts the step size to what the others taught.
  void warm_up(int steps) {
    progress_.start(fmt::format("warming up {}", info().kernel), "steps", static_cast<std::uint64_t>(steps));
    for (int step = 1; step <= steps; ++step) {
      kernel_->adapt(chains_, kernel_->step(target_, chains_));
      if (step == steps / 8 || step == steps / 4 || step == steps / 2) kernel_->end_window();
      progress_.advance(1);
    }
    kernel_->freeze();
    info().step_size = kernel_->step_size();
    info().steps += static_cast<std::size_t>(steps);
    progress_.finish();
  }

  /// Whole strides that fit into `length` steps and one more, added to the traces.
  void run(std::size_t length) {
    const std::size_t stride = info().stride, more = (length + stride - 1) / stride;
    const std::size_t before = kept();
    for (Matrix& trace : traces()) {
      Matrix longer(info().chains, before + more);
      for (std::size_t c = 0; before > 0 && c < info().chains; ++c) {
        std::ranges::copy(trace.row(c), longer.row(c).begin());
      }
      trace = std::move(longer);
    }
    progress_.start(fmt::format("sampling by {}", info().kernel), "steps", more * stride);
    for (std::size_t k = 0; k < more; ++k) {
      for (std::size_t s = 0; s < stride; ++s) {
        const StepInfo step = kernel_->step(target_, chains_);
        info().divergences += step.divergences;
        accepted_ += step.acceptance;
        progress_.advance(1);
      }
      for (std::size_t i = 0; i < traces().size(); ++i) {
        for (std::size_t c = 0; c < info().chains; ++c) traces()[i](c, before + k) = chains_.z(c, i);
      }
    }
    kept_steps_ += static_cast<double>(more * stride);
    info().steps += more * stride;
    info().acceptance = accepted_ / kept_steps_;
    progress_.finish();
  }

  /// The health of the traces, after thinning them as far as they allow.
  Round examine() {
    const std::size_t per_chain = (draws_ + info().chains - 1) / info().chains;
    const std::size_t fewest = 2 * std::max<std::size_t>(per_chain, 16);
    const auto size = [&] { return static_cast<double>(kept() * info().chains); };
    // A chain's trace must stay of a size to be examined, whatever its length.
    constexpr std::size_t longest = 8192;
    while (kept() > longest) halve();
    Round round;
    for (;;) {
      info().health = health_of(traces(), parallel_);
      const ChainHealth health = worst(info().health);
      round = {health.r_hat, std::min(health.bulk_ess, health.tail_ess)};
      if (kept() < fewest || 2 * round.ess > size()) break;
      halve();
    }
    progress_.note(fmt::format("R-hat {:.3f}, ESS {:.0f}", round.r_hat, round.ess));
    return round;
  }

  void halve() {
    for (Matrix& trace : traces()) {
      Matrix shorter(trace.rows(), trace.cols() / 2);
      for (std::size_t c = 0; c < trace.rows(); ++c) {
        for (std::size_t k = 0; k < shorter.cols(); ++k) shorter(c, k) = trace(c, 2 * k + 1);
      }
      trace = std::move(shorter);
    }
    info().stride *= 2;
  }

  CountedTarget target_;
  std::optional<GivenChains> given_;
  std::size_t draws_;
  const McmcSettings& settings_;
  const Streams& streams_;
  const Parallel& parallel_;
  Progress& progress_;
  double wanted_ess_;
  Start start_;
  bool has_ladder_ = false;  // whether the start has all temperatures from the prior on
  bool bent_ = false;        // whether its points are of more pieces than a posterior has modes
  Chains chains_;
  const KernelEntry* entry_ = nullptr;
  std::unique_ptr<Kernel> kernel_;  // made by it
  McmcDraws result_;
  double accepted_ = 0, kept_steps_ = 0;
  double before_steps_ = 0;  // evaluations by the start
};

}  // namespace

std::vector<std::string> kernel_choices() {
  std::vector<std::string> names = kernels().names();
  names.emplace_back("auto");
  return names;
}

std::vector<FieldInfo> mcmc_fields() {
  std::vector<FieldInfo> all = describe_fields<McmcSettings>();
  for (const KernelEntry& entry : kernels()) {
    for (FieldInfo field : fields_of(entry)) {
      std::vector<std::string> users{std::string(entry.name)};
      if (may_use("auto", entry)) users.emplace_back("auto");
      field.uses = {{{"kernel", std::move(users)}}};
      field.help = help_with_uses(field.help, field.uses);
      all.push_back(std::move(field));
    }
  }
  return all;
}

McmcSettings mcmc_settings_from(const nlohmann::json& json) {
  nlohmann::json common = json, own = nlohmann::json::object();
  for (const KernelEntry& entry : kernels()) {
    const nlohmann::json part = own_part(entry, json);
    for (const auto& [name, value] : part.items()) common.erase(name);
    own.update(part);
  }
  auto settings = from_json<McmcSettings>("sample", common);
  settings.own = std::move(own);
  return settings;
}

nlohmann::json mcmc_settings_json(const McmcSettings& settings) {
  nlohmann::json json = to_json(settings);
  json.update(settings.own);
  return json;
}

McmcDraws mcmc_sample(const Target& target, std::size_t draws, const McmcSettings& settings, const Streams& streams,
                      const Parallel& parallel, Progress& progress) {
  check_config("sample", settings);
  check_own(settings);
  check::at_least("sample", "draws", draws, std::size_t{1});
  check::that(settings.population == 0 || settings.population >= 16, "sample", "population", settings.population,
              "0 or at least 16");
  return Run(SharedTarget(target, parallel.ranks()), std::nullopt, draws, settings, streams, parallel, progress)();
}

McmcDraws mcmc_sample(const Target& target, GivenChains given, std::size_t draws, const McmcSettings& settings,
                      const Streams& streams, const Parallel& parallel, Progress& progress) {
  check_config("sample", settings);
  check::at_least("sample", "draws", draws, std::size_t{1});
  return Run(SharedTarget(target, parallel.ranks()), std::move(given), draws, settings, streams, parallel, progress)();
}

}  // namespace catena::sample
