/// Special functions that priors need: tails and quantiles of the normal, gamma and beta distributions, to about 1e-14
/// relative in both tails. A probability always travels as a pair (below, above), because 1 − p forgets a small p.
#pragma once

namespace catena::prior {

/// Probability below and above a point. Both are accurate; they add up to 1.
struct Tails {
  double lower;
  double upper;
};

/// Beyond this many standard deviations (Φ(−30) = 5e-198) Boost's inverses lose digits, and from 38 on a tail has no
/// normal double left; maps treat z as if it stood here.
inline constexpr double largest_z = 30;

double normal_log_density(double z);              ///< log φ(z)
double normal_lower(double z);                    ///< Φ(z)
Tails normal_tails(double z);                     ///< Φ(z), Φ(−z), with |z| cut at largest_z
double normal_from_tails(Tails tails);            ///< z with Φ(z) = lower; ±∞ where a tail is 0
Tails normal_folded(double z);                    ///< P(|Z| < |z|), P(|Z| > |z|), with |z| cut at largest_z
double normal_from_folded(Tails folded);          ///< |z| with these
double normal_mass(double start, double length);  ///< Φ(start + length) − Φ(start), length ≥ 0, relative accuracy
/// length with normal_mass(start, length) = mass; start may not be −∞, and the mass must be attainable.
double normal_length_of_mass(double start, double mass);

Tails gamma_tails(double shape, double x);           ///< P(a, x), Q(a, x); shape between 1e-3 and 1e6
double gamma_log_density(double shape, double x);    ///< log( x^(a−1) e^(−x) / Γ(a) )
double gamma_from_tails(double shape, Tails tails);  ///< x with P(a, x) = lower

double log_gamma(double a);             ///< log Γ(a), a > 0
double log_gamma_half_ratio(double a);  ///< log( Γ(a + ½)/Γ(a) )

/// A point of the unit interval with its complement: x + y = 1, both accurate.
struct UnitPoint {
  double x;
  double y;
};
Tails beta_tails(double a, double b, UnitPoint point);         ///< I_x(a, b), I_y(b, a); shapes between 1e-3 and 1e6
double beta_log_density(double a, double b, UnitPoint point);  ///< log( x^(a−1) y^(b−1) / B(a, b) )
UnitPoint beta_from_tails(double a, double b, Tails tails);    ///< x with I_x(a, b) = lower

}  // namespace catena::prior
