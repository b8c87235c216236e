// Families of positive parameters beside gamma and log-normal: inverse gamma, log-uniform, Weibull.

#include "catena/prior/marginal.h"

namespace catena::prior {

namespace {

/// θ = s/G with G ~ Gamma(a): f(θ) ∝ θ^(−a−1) e^(−s/θ)
class InverseGamma final : public Marginal {
 public:
  InverseGamma(double shape, double scale) : shape_(shape), scale_(scale) {
    check::between("prior", "shape", shape, smallest_shape, largest_shape);
    check::positive("prior", "scale", scale);
  }
  nlohmann::json to_json() const override {
    return {{"family", "inverse_gamma"}, {"shape", shape_}, {"scale", scale_}};
  }
  Interval support() const override { return {0, infinity}; }
  double quantile(double z) const override {
    return keep_inside(scale_ / gamma_from_tails(shape_, normal_tails(-z)), 0, infinity);
  }
  double normal_score(double theta) const override { return -normal_from_tails(gamma_tails(shape_, scale_ / theta)); }
  double log_density_inside(double theta) const override {
    return gamma_log_density(shape_, scale_ / theta) + std::log(scale_) - 2 * std::log(theta);
  }

 private:
  double shape_, scale_;
};

/// log θ is uniform: θ = a (b/a)^Φ(z), from the nearer end
class LogUniform final : public Marginal {
 public:
  LogUniform(double low, double high) : low_(low), high_(high), width_(std::log(high / low)) {
    check::positive("prior", "low", low);
    check::that(high > low && std::isfinite(width_) && width_ > 0, "prior", "high", high,
                fmt::format("above low, which is {}, and finite", low));
  }
  nlohmann::json to_json() const override { return {{"family", "log_uniform"}, {"low", low_}, {"high", high_}}; }
  Interval support() const override { return {low_, high_}; }
  double quantile(double z) const override {
    const Tails tails = normal_tails(z);
    return keep_inside(z < 0 ? low_ * std::exp(width_ * tails.lower) : high_ * std::exp(-width_ * tails.upper), low_,
                       high_);
  }
  double normal_score(double theta) const override {
    return normal_from_tails(
        {std::log1p((theta - low_) / low_) / width_, -std::log1p((theta - high_) / high_) / width_});
  }
  double log_density_inside(double theta) const override { return -std::log(theta) - std::log(width_); }

 private:
  double low_, high_, width_;
};

/// P(θ > x) = e^(−(x/λ)^k)
class Weibull final : public Marginal {
 public:
  Weibull(double shape, double scale) : shape_(shape), scale_(scale) {
    check::between("prior", "shape", shape, 1e-2, 1e4);  // beyond these, quantiles of ordinary z overflow or coincide
    check::positive("prior", "scale", scale);
  }
  nlohmann::json to_json() const override { return {{"family", "weibull"}, {"shape", shape_}, {"scale", scale_}}; }
  Interval support() const override { return {0, infinity}; }
  double quantile(double z) const override {
    const Tails tails = normal_tails(z);
    const double power = z < 0 ? -std::log1p(-tails.lower) : -std::log(tails.upper);  // (θ/λ)^k
    return keep_inside(scale_ * std::pow(power, 1 / shape_), 0, infinity);
  }
  double normal_score(double theta) const override {
    const double power = std::pow(theta / scale_, shape_);
    return normal_from_tails({-std::expm1(-power), std::exp(-power)});
  }
  double log_density_inside(double theta) const override {
    const double log_x = std::log(theta / scale_);
    return std::log(shape_ / scale_) + (shape_ - 1) * log_x - std::exp(shape_ * log_x);
  }

 private:
  double shape_, scale_;
};

}  // namespace

FactorPtr inverse_gamma(double shape, double scale) { return std::make_shared<InverseGamma>(shape, scale); }
FactorPtr log_uniform(double low, double high) { return std::make_shared<LogUniform>(low, high); }
FactorPtr weibull(double shape, double scale) { return std::make_shared<Weibull>(shape, scale); }

}  // namespace catena::prior
