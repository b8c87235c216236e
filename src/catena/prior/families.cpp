// The families of a prior's factors. A marginal with CDF F maps θ = F⁻¹(Φ(z)); then log |dθ/dz| = log φ(z) − log f(θ).
// Both tails travel along (special.h), so that z = +8 is as accurate as z = −8.

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/core/check.h"
#include "catena/prior/around.h"
#include "catena/prior/prior.h"
#include "catena/prior/special.h"

namespace catena::prior {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A factor of one parameter, by scalar functions of the derived class.
class Marginal : public Factor {
 public:
  std::size_t size() const final { return 1; }
  void to_theta(std::span<const double> z, std::span<double> theta) const final { theta[0] = quantile(z[0]); }
  void to_z(std::span<const double> theta, std::span<double> z, std::span<const std::string> names) const final {
    const auto [low, high] = support();
    if (!(theta[0] > low && theta[0] < high)) {
      check::fail("prior", names[0], theta[0], fmt::format("between {} and {}, both excluded", low, high));
    }
    z[0] = normal_score(theta[0]);
  }
  double log_density(std::span<const double> theta) const final {
    const auto [low, high] = support();
    return theta[0] > low && theta[0] < high ? log_density_inside(theta[0]) : -infinity;
  }
  double log_jacobian(std::span<const double> z) const final { return log_slope(z[0]); }
  void to_theta_lanes(ConstStateBlock z, StateBlock theta) const override {
    const double* from = z.feature(0);
    double* to = theta.feature(0);
    for (std::size_t l = 0; l < theta.lanes; ++l) to[l] = quantile(from[l]);
  }

 protected:
  struct Interval {
    double low, high;
  };
  virtual Interval support() const = 0;
  virtual double quantile(double z) const = 0;          // θ
  virtual double normal_score(double theta) const = 0;  // z; θ is inside the support
  virtual double log_density_inside(double theta) const = 0;
  virtual double log_slope(double z) const { return normal_log_density(z) - log_density_inside(quantile(z)); }

  /// Rounding must not put θ on a bound, where z would be infinite.
  static double keep_inside(double theta, double low, double high) {
    if (theta <= low) return std::nextafter(low, high);
    if (theta >= high) return std::nextafter(high, low);
    return theta;
  }
};

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

constexpr double smallest_shape = 1e-3, largest_shape = 1e6;  // where special.h holds its accuracy in reasonable time

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

// --- JSON ---

/// Reads the numbers of a factor; every setting that is left over is a mistake.
class Settings {
 public:
  explicit Settings(const nlohmann::json& json) : json_(json) {}
  double number(const char* name) { return number(name, std::numeric_limits<double>::quiet_NaN(), true); }
  double number(const char* name, double otherwise) { return number(name, otherwise, false); }
  const nlohmann::json& value(const char* name) {
    check::that(json_.contains(name), "prior", name, "missing", "given");
    known_.emplace_back(name);
    return json_[name];
  }
  void finish() {
    std::ranges::sort(known_);  // arguments are evaluated in any order; the sentence should not be
    for (const auto& [name, value] : json_.items()) {
      check::that(std::ranges::find(known_, name) != known_.end(), "prior", "setting", fmt::format("\"{}\"", name),
                  fmt::format("one of {}", fmt::join(known_, ", ")));
    }
  }

 private:
  double number(const char* name, double otherwise, bool required) {
    known_.emplace_back(name);
    if (!json_.contains(name)) {
      check::that(!required, "prior", name, "missing", "given");
      return otherwise;
    }
    check::that(json_[name].is_number(), "prior", name, json_[name].dump(), "a number");
    return json_[name].get<double>();
  }
  const nlohmann::json& json_;
  std::vector<std::string> known_;
};

template <class Read>
FactorPtr read(const nlohmann::json& json, Read make) {
  Settings settings(json);
  FactorPtr factor = make(settings);
  settings.finish();
  return factor;
}

template <class T>
T typed(const char* name, const nlohmann::json& value, std::string_view must_be) {
  try {
    return value.get<T>();
  } catch (const nlohmann::json::exception&) {
    check::fail("prior", name, value.dump(), must_be);
  }
}

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
FactorPtr gamma(double shape, double scale) { return std::make_shared<Gamma>(shape, scale); }
FactorPtr beta(double a, double b, double low, double high) { return std::make_shared<Beta>(a, b, low, high); }
FactorPtr exponential(double rate) { return std::make_shared<Exponential>(rate); }
FactorPtr half_normal(double sd) { return truncated_normal(0, sd, 0, infinity); }
FactorPtr truncated_normal(double mean, double sd, double low, double high) {
  return std::make_shared<TruncatedNormal>(mean, sd, low, high);
}

const Registry<FamilyEntry>& prior_families() {
  using Json = nlohmann::json;
  static const Registry<FamilyEntry> registry(
      "prior family",
      {
          {"normal", "mean, sd",
           [](const Json& json) {
             return read(json, [](Settings& s) { return normal(s.number("mean", 0), s.number("sd", 1)); });
           },
           [] { return normal(-1.5, 0.25); }},
          {"correlated_normal", "mean (a list), covariance (a list of rows)",
           [](const Json& json) {
             return read(json, [](Settings& s) {
               return correlated_normal(typed<std::vector<double>>("mean", s.value("mean"), "a list of numbers"),
                                        typed<std::vector<std::vector<double>>>("covariance", s.value("covariance"),
                                                                                "a list of rows of numbers"));
             });
           },
           [] { return correlated_normal({1, -2}, {{2, 0.6}, {0.6, 0.5}}); }},
          {"standard_normal", "size",
           [](const Json& json) {
             return read(json, [](Settings& s) {
               const double size = s.number("size");
               check::that(size >= 1 && size <= 1000 && size == std::floor(size), "prior", "size", size,
                           "a whole number from 1 to 1000");
               return standard_normal(static_cast<std::size_t>(size));
             });
           },
           [] { return standard_normal(3); }},
          {"uniform", "low, high",
           [](const Json& json) {
             return read(json, [](Settings& s) { return uniform(s.number("low"), s.number("high")); });
           },
           [] { return uniform(1, 3); }},
          {"log_normal", "log_mean, log_sd",
           [](const Json& json) {
             return read(json, [](Settings& s) { return log_normal(s.number("log_mean"), s.number("log_sd")); });
           },
           [] { return log_normal(0.5, 0.75); }},
          {"gamma", "shape, scale",
           [](const Json& json) {
             return read(json, [](Settings& s) { return gamma(s.number("shape"), s.number("scale", 1)); });
           },
           [] { return gamma(2.5, 0.5); }},
          {"beta", "a, b, low, high",
           [](const Json& json) {
             return read(json, [](Settings& s) {
               return beta(s.number("a"), s.number("b"), s.number("low", 0), s.number("high", 1));
             });
           },
           [] { return beta(2, 5, 0, 1); }},
          {"exponential", "rate",
           [](const Json& json) { return read(json, [](Settings& s) { return exponential(s.number("rate")); }); },
           [] { return exponential(3); }},
          {"half_normal", "sd",
           [](const Json& json) { return read(json, [](Settings& s) { return half_normal(s.number("sd")); }); },
           [] { return half_normal(2); }},
          {"truncated_normal", "mean, sd, low, high",
           [](const Json& json) {
             return read(json, [](Settings& s) {
               return truncated_normal(s.number("mean"), s.number("sd"), s.number("low", -infinity),
                                       s.number("high", infinity));
             });
           },
           [] { return truncated_normal(1, 2, 0, 2.5); }},
          {"around",
           "base (a prior), mean (a list), lower (a list of rows): base with z ~ N(mean, lower lower'); or weights, "
           "means "
           "and lowers, of several normals",
           [](const Json& json) { return around_from_json(json); },
           [] {
             Prior base;
             base.add({"a"}, uniform(1, 3));
             base.add({"b"}, normal(2, 1));
             return around_factor({base,
                                   {{{0.3, Eigen::Vector2d(0.5, -1), Eigen::Matrix2d{{0.5, 0}, {0.2, 0.7}}},
                                     {0.7, Eigen::Vector2d(-0.6, 0.4), Eigen::Matrix2d{{0.6, 0}, {-0.3, 0.4}}}}}});
           }},
      });
  return registry;
}

}  // namespace catena::prior
