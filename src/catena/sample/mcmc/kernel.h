/// Markov-chain kernels by name: each is one file of kernels/ that moves all chains at once and returns its entry, and
/// its name in kernel.cpp. Every chain has a random stream of its own, so that draws depend on the seed alone.
///
/// A kernel leaves the target invariant as long as it is not adapted; warm-up adapts it: after each step a step size,
/// after each window whatever is learned from the points of that window.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/config.h"
#include "catena/core/random.h"
#include "catena/core/registry.h"
#include "catena/sample/mcmc/kernels/dual_averaging.h"
#include "catena/sample/mcmc/kernels/mass_matrix.h"
#include "catena/sample/mcmc/start/tempered_smc.h"
#include "catena/sample/mcmc/target.h"

namespace catena::sample {

/// What the next step needs: one chain a row.
struct Chains {
  Matrix z;
  std::vector<double> log_density;
  Matrix gradient;  // for kernels that use it, else empty
  std::vector<Stream> streams;

  std::size_t size() const { return z.rows(); }
  std::size_t dimension() const { return z.cols(); }
};

/// What a report needs, of one step of all chains.
struct StepInfo {
  double acceptance = 0;          // mean over chains
  double steered = 0;             // what the step size is adapted by; mostly the same
  std::uint64_t divergences = 0;  // trajectories whose energy left all bounds
};

class Kernel {
 public:
  /// Adapts the step size from `step` on, in units of the metric, towards `wanted` of StepInfo::steered.
  Kernel(std::size_t dimension, bool dense, double wanted, double step);
  virtual ~Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  /// Evaluates the chains' points, which must be possible.
  virtual void init(const Target& target, Chains& chains);
  /// Moves all chains.
  virtual StepInfo step(const Target& target, Chains& chains) = 0;

  /// After each step of warm-up: adapts the step size and remembers the points.
  virtual void adapt(const Chains& chains, const StepInfo& info);
  /// Learns from the points remembered since the last window, and begins to adapt the step size anew.
  virtual void end_window();
  /// Learns the metric, and whatever else a kernel needs, from points, one a row.
  virtual void learn(ConstMatrixView points);
  /// Ends warm-up: from here on the kernel stays as it is.
  virtual void freeze();

  double step_size() const { return step_size_; }
  void set_step_size(double step) { step_size_ = step; }
  const Metric& metric() const { return metric_; }

 protected:
  bool remembered_enough() const { return remembered_ >= 2; }

 private:
  bool dense_;
  double wanted_;
  Metric metric_;
  double step_size_;
  DualAveraging averaging_;
  Matrix window_;               // points of the window, at most largest_cloud or one of each chain
  std::size_t remembered_ = 0;  // rows of it in use
  std::size_t stride_ = 1, skipped_ = 0;
};

/// Settings that one kernel alone has, as its own list of fields (core/config.h) tells them.
struct KernelSettings {
  std::vector<FieldInfo> (*describe)() = nullptr;      // null: it has none
  void (*check)(const nlohmann::json& own) = nullptr;  // throws InputError
};
template <Config C>
KernelSettings own_settings() {
  return {describe_fields<C>, [](const nlohmann::json& own) { from_json<C>("sample", own); }};
}

/// What kernels are made from.
struct KernelContext {
  std::size_t dimension = 0;
  std::size_t chains = 0;
  bool dense = true;
  nlohmann::json settings = nlohmann::json::object();  // the kernel's own, of which all have defaults
  const Start* start = nullptr;
  Streams streams{0};
};

struct KernelEntry {
  std::string_view name;
  std::string_view help;
  bool needs_gradient = false;
  bool crosses_modes = false;   // finds the weights of separated modes, given chains in each
  bool handles_funnel = false;  // keeps up with a scale that changes by e^10 over the target
  std::size_t most_dimensions = 1000;
  std::size_t least_chains = 1;
  int warm_up = 64;  // steps that many chains need to teach it
  KernelSettings settings{};
  std::function<std::unique_ptr<Kernel>(const KernelContext&)> make;
};

const Registry<KernelEntry>& kernels();

/// Metropolis–Hastings for the chains from `first` on, one for each row of `proposals`, with log_correction[i] =
/// log q(z | z') − log q(z' | z): chains move or stay. Returns the sum of the acceptance probabilities.
double metropolis(const Target& target, ConstMatrixView proposals, std::span<const double> log_correction,
                  std::size_t first, std::span<double> scratch, Chains& chains);

}  // namespace catena::sample
