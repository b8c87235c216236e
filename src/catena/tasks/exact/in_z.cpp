// A likelihood as a function of z: θ = map(z), where the prior on z is N(0, I).

#include "catena/core/check.h"
#include "catena/tasks/likelihood.h"

namespace catena::tasks {

namespace {

class InZ final : public SeriesLikelihood {
 public:
  InZ(const SeriesLikelihood& likelihood, prior::Prior prior)
      : likelihood_(likelihood),
        prior_(std::move(prior)),
        same_(prior_.to_json() == prior::Prior::standard(prior_.names()).to_json()) {
    check::equal("reference", "the number of parameters of the likelihood", likelihood.parameters(), prior_.size());
  }

  std::size_t parameters() const override { return likelihood_.parameters(); }
  std::size_t transitions() const override { return likelihood_.transitions(); }
  std::size_t normals_per_transition() const override { return likelihood_.normals_per_transition(); }
  std::size_t residuals_per_transition() const override { return likelihood_.residuals_per_transition(); }
  void residuals(std::span<const double> z, std::size_t t, std::span<double> out) const override {
    if (same_) return likelihood_.residuals(z, t, out);
    likelihood_.residuals(theta_of(z), t, out);
  }

  void log_transitions(std::span<const double> z, std::span<const double> u, std::span<double> out) const override {
    if (same_) return likelihood_.log_transitions(z, u, out);
    likelihood_.log_transitions(theta_of(z), u, out);
  }
  double log_likelihood(std::span<const double> z) const override {
    return same_ ? likelihood_.log_likelihood(z) : likelihood_.log_likelihood(theta_of(z));
  }

  std::vector<PinnedParameter> pinned() const override {
    std::vector<PinnedParameter> pins = likelihood_.pinned();
    if (same_ || pins.empty()) return pins;
    // Each parameter's z depends on it alone, or it could not be pinned alone; the others are anywhere.
    std::vector<double> z(parameters(), 0.0), theta = theta_of(z);
    for (const PinnedParameter& pin : pins) theta[pin.index] = pin.value;
    prior_.to_z(theta, z);
    for (PinnedParameter& pin : pins) pin.value = z[pin.index];
    return pins;
  }

  // Both speak of θ ~ N(0, I).
  std::optional<NormalPosterior> closed_form_posterior() const override {
    return same_ ? likelihood_.closed_form_posterior() : std::nullopt;
  }
  bool move_to_equivalent(std::span<double> z, Stream& stream) const override {
    return same_ && likelihood_.move_to_equivalent(z, stream);
  }

 private:
  std::vector<double> theta_of(std::span<const double> z) const {
    std::vector<double> theta(z.size());
    prior_.to_theta(z, theta);
    return theta;
  }

  const SeriesLikelihood& likelihood_;
  prior::Prior prior_;
  bool same_;  // θ is z
};

}  // namespace

std::unique_ptr<SeriesLikelihood> likelihood_in_z(const SeriesLikelihood& likelihood, const prior::Prior& prior) {
  return std::make_unique<InZ>(likelihood, prior);
}

}  // namespace catena::tasks
