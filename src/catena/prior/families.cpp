// The first families of a prior's factors: normal, uniform, gamma, beta and their relatives.

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/core/check.h"
#include "catena/prior/marginal.h"
#include "catena/prior/special.h"

namespace catena::prior {

namespace {

/// θ = μ + σz
class Normal final : public Marginal {
 public:
  Normal(double mean, double sd) : mean_(mean), sd_(sd) {
    check::finite("prior", "mean", mean);
    check::positive("prior", "sd", sd);
  }
  nlohmann::json to_json() const override { return {{"family", "normal"}, {"mean", mean_}, {"sd", sd_}}; }

 private:
  Interval support() const override { return {-infinity, infinity}; }
  double quantile(double z) const override { return mean_ + sd_ * z; }
  double normal_score(double theta) const override { return (theta - mean_) / sd_; }
  double log_density_inside(double theta) const override {
    return normal_log_density((theta - mean_) / sd_) - std::log(sd_);
  }
  double log_slope(double) const override { return std::log(sd_); }
  void sample_lanes(Stream& stream, StateBlock theta) const override {
    double* to = theta.feature(0);
    stream.fill_normal({to, theta.lanes});
    for (std::size_t l = 0; l < theta.lanes; ++l) to[l] = mean_ + sd_ * to[l];
  }
  double mean_, sd_;
};

/// θ = a + (b − a) Φ(z), from the nearer end.
class Uniform final : public Marginal {
 public:
  Uniform(double low, double high) : low_(low), high_(high) {
    check::finite("prior", "low", low);
    check::finite("prior", "high", high);
    check::that(high > low && std::isfinite(high - low), "prior", "high", high,
                fmt::format("above low, which is {}", low));
  }
  nlohmann::json to_json() const override { return {{"family", "uniform"}, {"low", low_}, {"high", high_}}; }

 private:
  Interval support() const override { return {low_, high_}; }
  double quantile(double z) const override {
    const double tail = normal_lower(std::max(-std::abs(z), -largest_z)) * (high_ - low_);
    return keep_inside(z < 0 ? low_ + tail : high_ - tail, low_, high_);
  }
  double normal_score(double theta) const override {
    const double width = high_ - low_;
    return normal_from_tails({(theta - low_) / width, (high_ - theta) / width});
  }
  double log_density_inside(double) const override { return -std::log(high_ - low_); }
  void sample_lanes(Stream& stream, StateBlock theta) const override {
    double* to = theta.feature(0);
    stream.fill_uniform({to, theta.lanes});
    for (std::size_t l = 0; l < theta.lanes; ++l) to[l] = low_ + (high_ - low_) * to[l];
  }
  double low_, high_;
};

/// θ = e^(μ + σz)
class LogNormal final : public Marginal {
 public:
  LogNormal(double log_mean, double log_sd) : log_mean_(log_mean), log_sd_(log_sd) {
    check::finite("prior", "log_mean", log_mean);
    check::positive("prior", "log_sd", log_sd);
  }
  nlohmann::json to_json() const override {
    return {{"family", "log_normal"}, {"log_mean", log_mean_}, {"log_sd", log_sd_}};
  }

 private:
  Interval support() const override { return {0, infinity}; }
  double quantile(double z) const override { return keep_inside(std::exp(log_mean_ + log_sd_ * z), 0, infinity); }
  double normal_score(double theta) const override { return (std::log(theta) - log_mean_) / log_sd_; }
  double log_density_inside(double theta) const override {
    return normal_log_density(normal_score(theta)) - std::log(log_sd_) - std::log(theta);
  }
  double log_slope(double z) const override { return std::log(log_sd_) + log_mean_ + log_sd_ * z; }
  double log_mean_, log_sd_;
};

/// θ = low + (high − low)/(1 + e^(−(location + scale z))): rates and shares that stay between bounds. Each θ is
/// computed from the bound that it is closer to, so that both tails keep their digits.
class LogitNormal final : public Marginal {
 public:
  LogitNormal(double location, double scale, double low, double high)
      : location_(location), scale_(scale), low_(low), high_(high) {
    check::finite("prior", "location", location);
    check::positive("prior", "scale", scale);
    check::finite("prior", "low", low);
    check::finite("prior", "high", high);
    check::that(low < high, "prior", "low", low, fmt::format("smaller than high, {}", high));
  }
  nlohmann::json to_json() const override {
    return {{"family", "logit_normal"}, {"location", location_}, {"scale", scale_}, {"low", low_}, {"high", high_}};
  }

 private:
  Interval support() const override { return {low_, high_}; }
  double quantile(double z) const override {
    const double logit = location_ + scale_ * z, width = high_ - low_;
    const double theta = logit < 0 ? low_ + width * (std::exp(logit) / (1 + std::exp(logit)))
                                   : high_ - width * (std::exp(-logit) / (1 + std::exp(-logit)));
    return keep_inside(theta, low_, high_);
  }
  double normal_score(double theta) const override {
    return (std::log(theta - low_) - std::log(high_ - theta) - location_) / scale_;
  }
  double log_density_inside(double theta) const override {
    return normal_log_density(normal_score(theta)) - std::log(scale_) + std::log(high_ - low_) -
           std::log(theta - low_) - std::log(high_ - theta);
  }
  /// dθ/dz = scale (high − low) s (1 − s) with s = 1/(1 + e^(−logit)).
  double log_slope(double z) const override {
    const double logit = std::abs(location_ + scale_ * z);
    return std::log(scale_) + std::log(high_ - low_) - logit - 2 * std::log1p(std::exp(-logit));
  }
  double location_, scale_, low_, high_;
};

/// f(θ) ∝ θ^(a−1) e^(−θ/s)
class Gamma final : public Marginal {
 public:
  Gamma(double shape, double scale) : shape_(shape), scale_(scale) {
    check::between("prior", "shape", shape, smallest_shape, largest_shape);
    check::positive("prior", "scale", scale);
  }
  nlohmann::json to_json() const override { return {{"family", "gamma"}, {"shape", shape_}, {"scale", scale_}}; }

 private:
  Interval support() const override { return {0, infinity}; }
  double quantile(double z) const override {
    return keep_inside(scale_ * gamma_from_tails(shape_, normal_tails(z)), 0, infinity);
  }
  double normal_score(double theta) const override { return normal_from_tails(gamma_tails(shape_, theta / scale_)); }
  double log_density_inside(double theta) const override {
    return gamma_log_density(shape_, theta / scale_) - std::log(scale_);
  }
  double shape_, scale_;
};

/// (θ − low)/(high − low) ~ Beta(a, b)
class Beta final : public Marginal {
 public:
  Beta(double a, double b, double low, double high) : a_(a), b_(b), low_(low), high_(high) {
    check::between("prior", "a", a, smallest_shape, largest_shape);
    check::between("prior", "b", b, smallest_shape, largest_shape);
    check::finite("prior", "low", low);
    check::that(high > low && std::isfinite(high - low), "prior", "high", high,
                fmt::format("above low, which is {}", low));
  }
  nlohmann::json to_json() const override {
    return {{"family", "beta"}, {"a", a_}, {"b", b_}, {"low", low_}, {"high", high_}};
  }

 private:
  Interval support() const override { return {low_, high_}; }
  double quantile(double z) const override {
    const auto [x, y] = beta_from_tails(a_, b_, normal_tails(z));
    return keep_inside(x < y ? low_ + (high_ - low_) * x : high_ - (high_ - low_) * y, low_, high_);
  }
  UnitPoint unit(double theta) const { return {(theta - low_) / (high_ - low_), (high_ - theta) / (high_ - low_)}; }
  double normal_score(double theta) const override { return normal_from_tails(beta_tails(a_, b_, unit(theta))); }
  double log_density_inside(double theta) const override {
    return beta_log_density(a_, b_, unit(theta)) - std::log(high_ - low_);
  }
  double log_slope(double z) const override {
    // By the point itself, not by θ, whose distance to the far end is rounded.
    const UnitPoint point = beta_from_tails(a_, b_, normal_tails(z));
    return normal_log_density(z) - beta_log_density(a_, b_, point) + std::log(high_ - low_);
  }
  double a_, b_, low_, high_;
};

/// θ = −log(1 − Φ(z)) / λ
class Exponential final : public Marginal {
 public:
  explicit Exponential(double rate) : rate_(rate) { check::positive("prior", "rate", rate); }
  nlohmann::json to_json() const override { return {{"family", "exponential"}, {"rate", rate_}}; }

 private:
  Interval support() const override { return {0, infinity}; }
  double quantile(double z) const override {
    const Tails tails = normal_tails(z);
    return keep_inside((z < 0 ? -std::log1p(-tails.lower) : -std::log(tails.upper)) / rate_, 0, infinity);
  }
  double normal_score(double theta) const override {
    return normal_from_tails({-std::expm1(-rate_ * theta), std::exp(-rate_ * theta)});
  }
  double log_density_inside(double theta) const override { return std::log(rate_) - rate_ * theta; }
  double rate_;
};

/// N(μ, σ²) between two bounds: Φ((θ−μ)/σ) runs from Φ(α) to Φ(β), measured from the nearer bound.
class TruncatedNormal final : public Marginal {
 public:
  TruncatedNormal(double mean, double sd, double low, double high) : mean_(mean), sd_(sd), low_(low), high_(high) {
    check::finite("prior", "mean", mean);
    check::positive("prior", "sd", sd);
    check::that(high > low, "prior", "high", high, fmt::format("above low, which is {}", low));
    alpha_ = (low - mean) / sd;
    beta_ = (high - mean) / sd;
    mass_ = mass_between(alpha_, beta_, (high - low) / sd);
    check::that(mass_ > 1e-280, "prior", "the normal's mass between low and high", mass_, "above 1e-280");
  }
  nlohmann::json to_json() const override {
    nlohmann::json json = {{"family", "truncated_normal"}, {"mean", mean_}, {"sd", sd_}};
    if (std::isfinite(low_)) json["low"] = low_;  // JSON has no infinity: a missing bound is none
    if (std::isfinite(high_)) json["high"] = high_;
    return json;
  }

 private:
  Interval support() const override { return {low_, high_}; }
  /// Φ(β) − Φ(α) with β − α = length.
  static double mass_between(double alpha, double beta, double length) {
    return std::isinf(alpha) ? normal_lower(beta) : normal_mass(alpha, length);
  }
  double quantile(double z) const override {
    const Tails tails = normal_tails(z);
    if (tails.lower <= tails.upper) {
      if (std::isinf(low_)) return mean_ + sd_ * normal_from_tails({tails.lower * mass_, 1 - tails.lower * mass_});
      return keep_inside(low_ + sd_ * normal_length_of_mass(alpha_, tails.lower * mass_), low_, high_);
    }
    if (std::isinf(high_)) return mean_ + sd_ * normal_from_tails({1 - tails.upper * mass_, tails.upper * mass_});
    return keep_inside(high_ - sd_ * normal_length_of_mass(-beta_, tails.upper * mass_), low_, high_);
  }
  double normal_score(double theta) const override {
    const double x = (theta - mean_) / sd_;
    return normal_from_tails({mass_between(alpha_, x, (theta - low_) / sd_) / mass_,
                              mass_between(-beta_, -x, (high_ - theta) / sd_) / mass_});
  }
  double log_density_inside(double theta) const override {
    return normal_log_density((theta - mean_) / sd_) - std::log(sd_) - std::log(mass_);
  }
  double mean_, sd_, low_, high_, alpha_ = 0, beta_ = 0, mass_ = 0;
};

/// θ = μ + Lz, Σ = LLᵀ
class CorrelatedNormal final : public Factor {
 public:
  CorrelatedNormal(std::vector<double> mean, std::vector<std::vector<double>> covariance)
      : mean_(std::move(mean)), covariance_(std::move(covariance)) {
    const auto n = static_cast<Eigen::Index>(mean_.size());
    check::at_least("prior", "the length of mean", mean_.size(), std::size_t{1});
    check::all_finite("prior", "mean", mean_);
    check::equal("prior", "the number of covariance's rows", covariance_.size(), mean_.size());
    Eigen::MatrixXd sigma(n, n);
    for (Eigen::Index r = 0; r < n; ++r) {
      const auto& row = covariance_[static_cast<std::size_t>(r)];
      check::equal("prior", fmt::format("the length of covariance[{}]", r), row.size(), mean_.size());
      check::all_finite("prior", fmt::format("covariance[{}]", r), row);
      for (Eigen::Index c = 0; c < n; ++c) sigma(r, c) = row[static_cast<std::size_t>(c)];
    }
    check::that(sigma.isApprox(sigma.transpose(), 1e-12), "prior", "covariance", "not symmetric", "symmetric");
    const Eigen::LLT<Eigen::MatrixXd> cholesky(sigma);
    check::that(cholesky.info() == Eigen::Success, "prior", "covariance", "not positive definite", "positive definite");
    factor_ = cholesky.matrixL();
    identity_ = factor_.isIdentity(0) && std::ranges::all_of(mean_, [](double m) { return m == 0; });
    log_determinant_ = factor_.diagonal().array().log().sum();
  }
  std::size_t size() const override { return mean_.size(); }
  void to_theta(std::span<const double> z, std::span<double> theta) const override {
    for (std::size_t i = 0; i < size(); ++i) {
      double sum = mean_[i];
      for (std::size_t j = 0; j <= i; ++j) sum += lower(i, j) * z[j];
      theta[i] = sum;
    }
  }
  void to_z(std::span<const double> theta, std::span<double> z, std::span<const std::string> names) const override {
    for (std::size_t i = 0; i < size(); ++i) {
      check::finite("prior", names[i], theta[i]);
      double rest = theta[i] - mean_[i];
      for (std::size_t j = 0; j < i; ++j) rest -= lower(i, j) * z[j];
      z[i] = rest / lower(i, i);
    }
  }
  double log_density(std::span<const double> theta) const override {
    std::vector<double> z(size());
    double sum = -log_determinant_;
    for (std::size_t i = 0; i < size(); ++i) {
      double rest = theta[i] - mean_[i];
      for (std::size_t j = 0; j < i; ++j) rest -= lower(i, j) * z[j];
      z[i] = rest / lower(i, i);
      sum += normal_log_density(z[i]);
    }
    return sum;
  }
  double log_jacobian(std::span<const double>) const override { return log_determinant_; }
  nlohmann::json to_json() const override {
    if (identity_) return {{"family", "standard_normal"}, {"size", size()}};
    return {{"family", "correlated_normal"}, {"mean", mean_}, {"covariance", covariance_}};
  }
  void to_theta_lanes(ConstStateBlock z, StateBlock theta) const override {
    for (std::size_t i = 0; i < size(); ++i) {
      double* to = theta.feature(i);
      if (identity_) {
        std::copy_n(z.feature(i), theta.lanes, to);
        continue;
      }
      std::fill_n(to, theta.lanes, mean_[i]);
      for (std::size_t j = 0; j <= i; ++j) {
        const double weight = lower(i, j);
        const double* from = z.feature(j);
        for (std::size_t l = 0; l < theta.lanes; ++l) to[l] += weight * from[l];
      }
    }
  }
  void sample_lanes(Stream& stream, StateBlock theta) const override {
    if (identity_) return fill_normal(stream, theta);
    Factor::sample_lanes(stream, theta);
  }

 private:
  double lower(std::size_t i, std::size_t j) const {
    return factor_(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
  }
  std::vector<double> mean_;
  std::vector<std::vector<double>> covariance_;
  Eigen::MatrixXd factor_;  // L
  bool identity_ = false;
  double log_determinant_ = 0;  // log |L|
};

}  // namespace

FactorPtr normal(double mean, double sd) { return std::make_shared<Normal>(mean, sd); }
FactorPtr correlated_normal(std::vector<double> mean, std::vector<std::vector<double>> covariance) {
  return std::make_shared<CorrelatedNormal>(std::move(mean), std::move(covariance));
}
FactorPtr standard_normal(std::size_t size) {
  std::vector<std::vector<double>> identity(size, std::vector<double>(size, 0.0));
  for (std::size_t i = 0; i < size; ++i) identity[i][i] = 1;
  return correlated_normal(std::vector<double>(size, 0.0), std::move(identity));
}
FactorPtr uniform(double low, double high) { return std::make_shared<Uniform>(low, high); }
FactorPtr log_normal(double log_mean, double log_sd) { return std::make_shared<LogNormal>(log_mean, log_sd); }
FactorPtr logit_normal(double location, double scale, double low, double high) {
  return std::make_shared<LogitNormal>(location, scale, low, high);
}
FactorPtr gamma(double shape, double scale) { return std::make_shared<Gamma>(shape, scale); }
FactorPtr beta(double a, double b, double low, double high) { return std::make_shared<Beta>(a, b, low, high); }
FactorPtr exponential(double rate) { return std::make_shared<Exponential>(rate); }
FactorPtr half_normal(double sd) { return truncated_normal(0, sd, 0, infinity); }
FactorPtr truncated_normal(double mean, double sd, double low, double high) {
  return std::make_shared<TruncatedNormal>(mean, sd, low, high);
}

}  // namespace catena::prior
