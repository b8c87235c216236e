// Any marginal between two bounds. In its z-space that is a normal between the bounds' own z,
//
//   θ = base( u ),   u = truncated_normal(0, 1, z(low), z(high))( z ),
//
// so that truncated_normal's care for both tails serves them all.

#include <algorithm>

#include "catena/prior/marginal.h"

namespace catena::prior {

namespace {

class Truncated final : public Marginal {
 public:
  Truncated(const FactorPtr& base, double low, double high) : base_(std::dynamic_pointer_cast<const Marginal>(base)) {
    check::that(base_ != nullptr, "prior", "base of truncated", "a distribution of several parameters",
                "one of a single parameter");
    check::that(high > low, "prior", "high", high, fmt::format("above low, which is {}", low));
    const auto [least, most] = base_->support();
    check::that(low < most && high > least, "prior", "the interval between low and high",
                fmt::format("[{}, {}]", low, high),
                fmt::format("one that the base's own, from {} to {}, has a part of", least, most));
    low_ = std::max(low, least);
    high_ = std::min(high, most);
    inside_ = std::static_pointer_cast<const Marginal>(truncated_normal(
        0, 1, low > least ? base_->normal_score(low) : -infinity, high < most ? base_->normal_score(high) : infinity));
    log_mass_ = normal_log_density(0) - inside_->log_density_inside(0);
  }
  nlohmann::json to_json() const override {
    nlohmann::json json = {{"family", "truncated"}, {"base", base_->to_json()}};
    const auto [least, most] = base_->support();
    if (low_ > least) json["low"] = low_;  // a missing bound is the base's own
    if (high_ < most) json["high"] = high_;
    return json;
  }
  Interval support() const override { return {low_, high_}; }
  double quantile(double z) const override { return keep_inside(base_->quantile(inside_->quantile(z)), low_, high_); }
  double normal_score(double theta) const override {
    // θ may be so near a bound that they have one z.
    return std::clamp(inside_->normal_score(base_->normal_score(theta)), -largest_z, largest_z);
  }
  double log_density_inside(double theta) const override { return base_->log_density_inside(theta) - log_mass_; }

 private:
  std::shared_ptr<const Marginal> base_, inside_;
  double low_ = 0, high_ = 0, log_mass_ = 0;
};

}  // namespace

FactorPtr truncated(const FactorPtr& base, double low, double high) {
  return std::make_shared<Truncated>(base, low, high);
}

}  // namespace catena::prior
