// Factors of which a simulator sees more values than there are parameters to learn: a known value, and the parts of a
// whole.

#include <algorithm>
#include <numeric>

#include "catena/prior/marginal.h"

namespace catena::prior {

namespace {

/// A value that is known: no parameter at all.
class Fixed final : public Factor {
 public:
  explicit Fixed(double value) : value_(value) { check::finite("prior", "value", value); }
  std::size_t size() const override { return 0; }
  std::vector<bool> free() const override { return {false}; }
  void complete(std::span<const double>, std::span<double> seen) const override { seen[0] = value_; }
  void to_theta(std::span<const double>, std::span<double>) const override {}
  void to_z(std::span<const double>, std::span<double>, std::span<const std::string>) const override {}
  double log_density(std::span<const double>) const override { return 0; }
  double log_jacobian(std::span<const double>) const override { return 0; }
  void to_theta_lanes(ConstStateBlock, StateBlock) const override {}
  void sample_lanes(Stream&, StateBlock) const override {}
  nlohmann::json to_json() const override { return {{"family", "fixed"}, {"value", value_}}; }

 private:
  double value_;
};

/// Parts θ_1, …, θ_K of 1 with density ∝ Π θ_i^(a_i − 1). The last is what the others leave, so that K − 1 are
/// parameters. Each takes its share of what those before it left (stick breaking):
///
///   θ_i = r_i b_i,   b_i ~ Beta(a_i, a_(i+1) + … + a_K),   r_1 = 1,   r_(i+1) = r_i (1 − b_i).
class Dirichlet final : public Factor {
 public:
  explicit Dirichlet(std::vector<double> concentration) : a_(std::move(concentration)), after_(a_.size()) {
    check::between("prior", "the length of concentration", a_.size(), std::size_t{2}, std::size_t{20});
    for (std::size_t i = 0; i < a_.size(); ++i) {
      // Below 0.1, a part is often smaller than the last digit of the others.
      check::between("prior", fmt::format("concentration[{}]", i), a_[i], 0.1, largest_shape / 10);
    }
    for (std::size_t i = a_.size() - 1; i-- > 0;) after_[i] = after_[i + 1] + a_[i + 1];
    check::that(after_[0] <= largest_shape, "prior", "the sum of concentration", after_[0] + a_[0], "at most 1e6");
  }
  std::size_t size() const override { return a_.size() - 1; }
  std::vector<bool> free() const override {
    std::vector<bool> free(a_.size(), true);
    free.back() = false;
    return free;
  }
  void complete(std::span<const double> theta, std::span<double> seen) const override {
    std::ranges::copy(theta, seen.begin());
    seen.back() = rest_of(theta);
  }
  void to_theta(std::span<const double> z, std::span<double> theta) const override {
    double left = 1;
    for (std::size_t i = 0; i < size(); ++i) {
      const UnitPoint share = share_of(i, z[i], left);
      theta[i] = left * share.x;
      left *= share.y;
    }
  }
  void to_z(std::span<const double> theta, std::span<double> z, std::span<const std::string> names) const override {
    double left = 1;
    for (std::size_t i = 0; i < size(); ++i) {
      if (!(theta[i] > 0 && theta[i] < left)) {
        check::fail("prior", names[i], theta[i], fmt::format("between 0 and {}, both excluded", left));
      }
      z[i] = std::clamp(normal_from_tails(beta_tails(a_[i], after_[i], {theta[i] / left, (left - theta[i]) / left})),
                        -largest_z, largest_z);
      left -= theta[i];
    }
  }
  double log_density(std::span<const double> theta) const override {
    double sum = log_gamma(a_[0] + after_[0]) - log_gamma(a_.back());
    double last = rest_of(theta);
    for (std::size_t i = 0; i < size(); ++i) {
      if (!(theta[i] > 0)) return -infinity;
      sum += (a_[i] - 1) * std::log(theta[i]) - log_gamma(a_[i]);
    }
    return last > 0 ? sum + (a_.back() - 1) * std::log(last) : -infinity;
  }
  double log_jacobian(std::span<const double> z) const override {
    double left = 1, sum = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      const UnitPoint share = share_of(i, z[i], left);
      sum += normal_log_density(z[i]) - beta_log_density(a_[i], after_[i], share) + std::log(left);
      left *= share.y;
    }
    return sum;
  }
  nlohmann::json to_json() const override { return {{"family", "dirichlet"}, {"concentration", a_}}; }

 private:
  /// What parts 0 … i leave must stay a number that 1 − Σ θ can hold, for each of those that come after.
  double least_left(std::size_t i) const { return std::ldexp(1.0, static_cast<int>(size() - i) - 50); }

  static double rest_of(std::span<const double> theta) {
    double left = 1;
    for (const double part : theta) left -= part;
    return left;
  }
  UnitPoint share_of(std::size_t i, double z, double left) const {
    UnitPoint share = beta_from_tails(a_[i], after_[i], normal_tails(z));
    const double least = least_left(i) / left;
    return share.y < least ? UnitPoint{1 - least, least} : share;
  }
  std::vector<double> a_, after_;  // after_[i] = a_[i + 1] + … + a_[K − 1]
};

}  // namespace

FactorPtr fixed(double value) { return std::make_shared<Fixed>(value); }
FactorPtr dirichlet(std::vector<double> concentration) { return std::make_shared<Dirichlet>(std::move(concentration)); }

}  // namespace catena::prior
