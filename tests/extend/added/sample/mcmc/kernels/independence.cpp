// Independence Metropolis from the prior N(0, I), for the test that CONTRIBUTING's table is true:
// log q(z) − log q(z') = ½ ‖z'‖² − ½ ‖z‖².

#include <vector>

#include "catena/sample/mcmc/kernel.h"

namespace catena::sample {

namespace {

class Independence final : public Kernel {
 public:
  explicit Independence(const KernelContext& context)
      : Kernel(context.dimension, context.dense, 0.5, 1),
        proposals_(context.chains, context.dimension),
        correction_(context.chains),
        scratch_(context.chains) {}

  StepInfo step(const Target& target, Chains& chains) override {
    for (std::size_t c = 0; c < chains.size(); ++c) {
      chains.streams[c].fill_normal(proposals_.row(c));
      correction_[c] = 0;
      for (std::size_t i = 0; i < chains.dimension(); ++i) {
        correction_[c] += 0.5 * (proposals_(c, i) * proposals_(c, i) - chains.z(c, i) * chains.z(c, i));
      }
    }
    const double rate =
        metropolis(target, proposals_, correction_, 0, scratch_, chains) / static_cast<double>(chains.size());
    return {.acceptance = rate, .steered = rate};
  }

 private:
  Matrix proposals_;
  std::vector<double> correction_, scratch_;
};

}  // namespace

KernelEntry independence_kernel() {
  return {.name = "independence",
          .help = "independent draws from the prior",
          .make = [](const KernelContext& context) -> std::unique_ptr<Kernel> {
            return std::make_unique<Independence>(context);
          }};
}

}  // namespace catena::sample
