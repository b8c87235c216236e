// Slice sampling along each axis of the metric in turn, with step-out and shrinkage (Neal 2003 section 4,
// docs/refs.bib: neal2003), vectorised over chains: every chain is a small machine on its way through its d axes, and
// one call evaluates whatever the chains that are not done need next, both ends of an interval at once.

#include <cmath>

#include "catena/sample/mcmc/kernel.h"

namespace catena::sample {

namespace {

constexpr int most_widths = 64;    // Neal's m: no interval is wider than this many times its first width
constexpr int most_shrinks = 200;  // the interval is below rounding long before

class Slice final : public Kernel {
 public:
  explicit Slice(const KernelContext& context)
      // As many step-outs as rejected points, in interval widths of one or two standard deviations.
      : Kernel(context.dimension, context.dense, 0.5, 2),
        walkers_(context.chains),
        direction_(context.dimension),
        points_(2 * context.chains, context.dimension),
        densities_(2 * context.chains) {}

  StepInfo step(const Target& target, Chains& chains) override {
    const std::size_t n = chains.size();
    for (std::size_t c = 0; c < n; ++c) begin_axis(walkers_[c], 0, chains, c);
    step_outs_ = rejections_ = 0;
    std::uint64_t points = 0;
    while (const std::size_t rows = collect(chains)) {
      target.log_density(points_.view().slice_rows(0, rows), densities_);
      points += rows;
      answer(chains);
    }
    const double failures = static_cast<double>(step_outs_ + rejections_);
    return {.acceptance = static_cast<double>(n * chains.dimension()) / static_cast<double>(points),
            .steered = failures > 0 ? static_cast<double>(step_outs_) / failures : 0.5};
  }

 private:
  struct Walker {
    std::size_t axis = 0;
    double level = 0;          // log of the slice's height
    double low = 0, high = 0;  // the interval, in widths of the metric; the chain stands at 0
    int low_left = 0;          // step-outs that this end may still make
    int high_left = 0;
    bool low_open = true, high_open = true;
    double x = 0;  // the point of the interval that was asked about
    int shrinks = 0;
  };

  void begin_axis(Walker& walker, std::size_t axis, Chains& chains, std::size_t c) const {
    walker.axis = axis;
    if (axis == chains.dimension()) return;
    Stream& stream = chains.streams[c];
    walker.level = chains.log_density[c] + std::log(stream.uniform());
    walker.low = -step_size() * stream.uniform();
    walker.high = walker.low + step_size();
    walker.low_left = static_cast<int>(stream.integer(most_widths));
    walker.high_left = most_widths - 1 - walker.low_left;
    walker.low_open = walker.high_open = true;
    walker.shrinks = 0;
  }

  void place(const Chains& chains, std::size_t c, double x, std::size_t row) {
    metric().along(walkers_[c].axis, x, direction_);
    for (std::size_t i = 0; i < direction_.size(); ++i) points_(row, i) = chains.z(c, i) + direction_[i];
  }

  /// The points that the chains ask about next; none when all have been through every axis.
  std::size_t collect(Chains& chains) {
    std::size_t rows = 0;
    for (std::size_t c = 0; c < chains.size(); ++c) {
      Walker& walker = walkers_[c];
      if (walker.axis == chains.dimension()) continue;
      if (walker.low_open) place(chains, c, walker.low, rows++);
      if (walker.high_open) place(chains, c, walker.high, rows++);
      if (walker.low_open || walker.high_open) continue;
      walker.x = walker.low + (walker.high - walker.low) * chains.streams[c].uniform();
      place(chains, c, walker.x, rows++);
    }
    return rows;
  }

  void step_out(double density, double level, double width, double& end, int& left, bool& open) {
    open = density > level && left > 0;
    if (!open) return;
    end += width;
    --left;
    ++step_outs_;
  }

  /// The densities, in the order of collect().
  void answer(Chains& chains) {
    std::size_t row = 0;
    for (std::size_t c = 0; c < chains.size(); ++c) {
      Walker& walker = walkers_[c];
      if (walker.axis == chains.dimension()) continue;
      if (walker.low_open || walker.high_open) {
        if (walker.low_open) {
          step_out(densities_[row++], walker.level, -step_size(), walker.low, walker.low_left, walker.low_open);
        }
        if (walker.high_open) {
          step_out(densities_[row++], walker.level, step_size(), walker.high, walker.high_left, walker.high_open);
        }
        continue;
      }
      const double density = densities_[row];
      if (density > walker.level) {
        std::ranges::copy(points_.row(row), chains.z.row(c).begin());
        chains.log_density[c] = density;
        begin_axis(walker, walker.axis + 1, chains, c);
      } else if (++walker.shrinks == most_shrinks) {
        begin_axis(walker, walker.axis + 1, chains, c);
      } else {
        (walker.x < 0 ? walker.low : walker.high) = walker.x;
        ++rejections_;
      }
      ++row;
    }
  }

  std::vector<Walker> walkers_;
  std::vector<double> direction_;
  Matrix points_;
  std::vector<double> densities_;
  std::uint64_t step_outs_ = 0, rejections_ = 0;
};

}  // namespace

KernelEntry slice_kernel() {
  return {
      .name = "slice",
      .help = "slice sampling along each axis of the metric, with step-out and shrinkage; the paper's",
      .handles_funnel = true,
      .make = [](const KernelContext& context) -> std::unique_ptr<Kernel> { return std::make_unique<Slice>(context); }};
}

}  // namespace catena::sample
