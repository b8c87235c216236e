// Families that are symmetric about a location: Cauchy, Student's t, Laplace, logistic; and the positive half of a
// Cauchy. With X = (θ − location)/scale, a law says how |X| is distributed by the pair
//
//   folded = ( P(|X| < x), P(|X| > x) ),
//
// whose first is accurate near the middle and whose second in the tails; for a normal it is (erf(|z|/√2), 2 Φ(−|z|)).

#include <numbers>

#include "catena/prior/marginal.h"

namespace catena::prior {

namespace {

/// f(x) = 1/(π (1 + x²))
struct CauchyLaw {
  static constexpr std::string_view family = "cauchy";
  nlohmann::json to_json() const { return nlohmann::json::object(); }
  double point(Tails folded) const {
    constexpr double half_pi = std::numbers::pi / 2;
    return folded.lower < 0.5 ? std::tan(half_pi * folded.lower) : 1 / std::tan(half_pi * folded.upper);
  }
  Tails folded(double x) const {
    constexpr double two_over_pi = 2 * std::numbers::inv_pi;
    return {two_over_pi * std::atan(x), two_over_pi * std::atan2(1, x)};
  }
  double log_density(double x) const { return -std::log(std::numbers::pi) - 2 * std::log(std::hypot(1, x)); }
};

/// f(x) ∝ (1 + x²/ν)^(−(ν + 1)/2): P(|X| > x) = I_w(ν/2, ½) with w = ν/(ν + x²)
struct StudentLaw {
  static constexpr std::string_view family = "student_t";
  double df;
  nlohmann::json to_json() const { return {{"df", df}}; }
  double point(Tails folded) const {
    const auto [w, rest] = beta_from_tails(df / 2, 0.5, {folded.upper, folded.lower});
    return std::sqrt(df * rest / w);
  }
  Tails folded(double x) const {
    const double root = x / std::sqrt(df), w = 1 / (1 + root * root);
    const Tails tails = beta_tails(df / 2, 0.5, {w, root < 1 ? root * root * w : 1 / (1 + 1 / (root * root))});
    return {tails.upper, tails.lower};
  }
  double log_density(double x) const {
    return log_gamma_half_ratio(df / 2) - 0.5 * std::log(std::numbers::pi * df) -
           (df + 1) * std::log(std::hypot(1, x / std::sqrt(df)));
  }
};

/// f(x) = ½ e^(−|x|)
struct LaplaceLaw {
  static constexpr std::string_view family = "laplace";
  nlohmann::json to_json() const { return nlohmann::json::object(); }
  double point(Tails folded) const { return folded.lower < 0.5 ? -std::log1p(-folded.lower) : -std::log(folded.upper); }
  Tails folded(double x) const { return {-std::expm1(-x), std::exp(-x)}; }
  double log_density(double x) const { return -std::numbers::ln2 - x; }
};

/// f(x) = e^(−x)/(1 + e^(−x))²: P(|X| < x) = tanh(x/2)
struct LogisticLaw {
  static constexpr std::string_view family = "logistic";
  nlohmann::json to_json() const { return nlohmann::json::object(); }
  double point(Tails folded) const {
    return folded.lower < 0.5 ? 2 * std::atanh(folded.lower)
                              : std::log1p(-folded.upper / 2) - std::log(folded.upper / 2);
  }
  Tails folded(double x) const { return {std::tanh(x / 2), 2 * std::exp(-x) / (1 + std::exp(-x))}; }
  double log_density(double x) const { return -x - 2 * std::log1p(std::exp(-x)); }
};

/// |z| of folded tails, not beyond largest_z: further out θ has no digits that tell one z from another.
double score_of(Tails folded) { return std::min(normal_from_folded(folded), largest_z); }

/// θ = location ± scale · x, with the sign of z
template <class Law>
class Symmetric final : public Marginal {
 public:
  Symmetric(Law law, double location, double scale) : law_(law), location_(location), scale_(scale) {
    check::finite("prior", "location", location);
    check::positive("prior", "scale", scale);
  }
  nlohmann::json to_json() const override {
    nlohmann::json json = law_.to_json();
    json.update({{"family", Law::family}, {"location", location_}, {"scale", scale_}});
    return json;
  }
  Interval support() const override { return {-infinity, infinity}; }
  double quantile(double z) const override {
    return location_ + std::copysign(scale_ * law_.point(normal_folded(z)), z);
  }
  double normal_score(double theta) const override {
    const double x = (theta - location_) / scale_;
    return std::copysign(score_of(law_.folded(std::abs(x))), x);
  }
  double log_density_inside(double theta) const override {
    return law_.log_density(std::abs(theta - location_) / scale_) - std::log(scale_);
  }

 private:
  Law law_;
  double location_, scale_;
};

/// θ = scale · |X|
template <class Law>
class Half final : public Marginal {
 public:
  Half(Law law, double scale) : law_(law), scale_(scale) { check::positive("prior", "scale", scale); }
  nlohmann::json to_json() const override {
    nlohmann::json json = law_.to_json();
    json.update({{"family", fmt::format("half_{}", Law::family)}, {"scale", scale_}});
    return json;
  }
  Interval support() const override { return {0, infinity}; }
  double quantile(double z) const override { return keep_inside(scale_ * law_.point(normal_tails(z)), 0, infinity); }
  double normal_score(double theta) const override { return normal_from_tails(law_.folded(theta / scale_)); }
  double log_density_inside(double theta) const override {
    return std::numbers::ln2 + law_.log_density(theta / scale_) - std::log(scale_);
  }

 private:
  Law law_;
  double scale_;
};

}  // namespace

FactorPtr cauchy(double location, double scale) {
  return std::make_shared<Symmetric<CauchyLaw>>(CauchyLaw{}, location, scale);
}
FactorPtr half_cauchy(double scale) { return std::make_shared<Half<CauchyLaw>>(CauchyLaw{}, scale); }
FactorPtr student_t(double df, double location, double scale) {
  check::between("prior", "df", df, 0.5, largest_shape);  // with fewer, tails of ordinary z are no doubles any more
  return std::make_shared<Symmetric<StudentLaw>>(StudentLaw{df}, location, scale);
}
FactorPtr laplace(double location, double scale) {
  return std::make_shared<Symmetric<LaplaceLaw>>(LaplaceLaw{}, location, scale);
}
FactorPtr logistic(double location, double scale) {
  return std::make_shared<Symmetric<LogisticLaw>>(LogisticLaw{}, location, scale);
}

}  // namespace catena::prior
