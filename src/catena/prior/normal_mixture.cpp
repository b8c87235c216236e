#include "catena/prior/normal_mixture.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "catena/prior/special.h"

namespace catena::prior {

namespace {

/// What the coordinates before the i-th say about a component.
struct Seen {
  double log_share;   // log π_j − Σ_(k<i) (u_k²/2 + log L_kk)
  Eigen::VectorXd u;  // of the coordinates so far
};

/// The law of z_i given those before it: Σ_j shares_j N(means_j, sds_j²).
struct Conditional {
  std::vector<double> shares, means, sds;
};

std::vector<Seen> nothing_seen(const NormalMixture& mixture) {
  std::vector<Seen> seen;
  for (const auto& component : mixture.components) {
    seen.push_back({std::log(component.weight), Eigen::VectorXd::Zero(component.mean.size())});
  }
  return seen;
}

Conditional conditional(const NormalMixture& mixture, const std::vector<Seen>& seen, Eigen::Index i) {
  Conditional law;
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const Seen& one : seen) largest = std::max(largest, one.log_share);
  for (std::size_t j = 0; j < seen.size(); ++j) {
    const auto& component = mixture.components[j];
    law.shares.push_back(std::exp(seen[j].log_share - largest));
    sum += law.shares.back();
    law.means.push_back(component.mean[i] + component.lower.row(i).head(i).dot(seen[j].u.head(i)));
    law.sds.push_back(component.lower(i, i));
  }
  for (double& share : law.shares) share /= sum;
  return law;
}

void see(std::vector<Seen>& seen, const Conditional& law, Eigen::Index i, double z) {
  for (std::size_t j = 0; j < seen.size(); ++j) {
    const double u = (z - law.means[j]) / law.sds[j];
    seen[j].u[i] = u;
    seen[j].log_share -= 0.5 * u * u + std::log(law.sds[j]);
  }
}

Tails tails_at(const Conditional& law, double z) {
  Tails tails{0, 0};
  for (std::size_t j = 0; j < law.shares.size(); ++j) {
    const Tails one = normal_tails((z - law.means[j]) / law.sds[j]);
    tails.lower += law.shares[j] * one.lower;
    tails.upper += law.shares[j] * one.upper;
  }
  return tails;
}

double density_at(const Conditional& law, double z) {
  double density = 0;
  for (std::size_t j = 0; j < law.shares.size(); ++j) {
    density += law.shares[j] / law.sds[j] * std::exp(normal_log_density((z - law.means[j]) / law.sds[j]));
  }
  return density;
}

/// z with F(z) = Φ(w). It lies between the components' own quantiles; Newton steps for the logarithm of the smaller
/// tail, which is concave for one normal, and bisection where they leave the bracket.
double quantile(const Conditional& law, double w) {
  const double bounded = std::clamp(w, -largest_z, largest_z);
  const Tails wanted = normal_tails(bounded);
  const bool below = bounded < 0;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (std::size_t j = 0; j < law.shares.size(); ++j) {
    if (!(law.shares[j] > 0)) continue;
    low = std::min(low, law.means[j] + law.sds[j] * bounded);
    high = std::max(high, law.means[j] + law.sds[j] * bounded);
  }
  double z = 0.5 * (low + high);
  constexpr int most_steps = 200;  // bisection alone needs some sixty
  for (int step = 0; step < most_steps && low < high; ++step) {
    const Tails tails = tails_at(law, z);
    const double tail = below ? tails.lower : tails.upper;
    const double excess = std::log(tail) - std::log(below ? wanted.lower : wanted.upper);
    if (excess == 0) break;
    ((excess > 0) == below ? high : low) = z;
    const double newton = z - (below ? 1 : -1) * excess * tail / density_at(law, z);
    const double next = newton > low && newton < high ? newton : 0.5 * (low + high);
    if (std::abs(next - z) <= 4 * std::numeric_limits<double>::epsilon() * std::abs(z)) break;
    z = next;
  }
  return z;
}

}  // namespace

Eigen::VectorXd NormalMixture::to_z(std::span<const double> w) const {
  const auto d = static_cast<Eigen::Index>(w.size());
  if (components.size() == 1) {
    return components[0].mean +
           components[0].lower.triangularView<Eigen::Lower>() * Eigen::Map<const Eigen::VectorXd>(w.data(), d);
  }
  Eigen::VectorXd z(d);
  std::vector<Seen> seen = nothing_seen(*this);
  for (Eigen::Index i = 0; i < d; ++i) {
    const Conditional law = conditional(*this, seen, i);
    z[i] = quantile(law, w[static_cast<std::size_t>(i)]);
    see(seen, law, i, z[i]);
  }
  return z;
}

Eigen::VectorXd NormalMixture::to_w(std::span<const double> z) const {
  const auto d = static_cast<Eigen::Index>(z.size());
  if (components.size() == 1) {
    return components[0].lower.triangularView<Eigen::Lower>().solve(Eigen::Map<const Eigen::VectorXd>(z.data(), d) -
                                                                    components[0].mean);
  }
  Eigen::VectorXd w(d);
  std::vector<Seen> seen = nothing_seen(*this);
  for (Eigen::Index i = 0; i < d; ++i) {
    const Conditional law = conditional(*this, seen, i);
    w[i] = normal_from_tails(tails_at(law, z[static_cast<std::size_t>(i)]));
    see(seen, law, i, z[static_cast<std::size_t>(i)]);
  }
  return w;
}

double NormalMixture::log_density(std::span<const double> z) const {
  const auto d = static_cast<Eigen::Index>(z.size());
  const Eigen::Map<const Eigen::VectorXd> point(z.data(), d);
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const Component& component : components) {
    const double squared = component.lower.triangularView<Eigen::Lower>().solve(point - component.mean).squaredNorm();
    const double term = std::log(component.weight) - component.lower.diagonal().array().log().sum() - 0.5 * squared;
    if (term > largest) sum *= std::exp(largest - term), largest = term;
    sum += std::exp(term - largest);
  }
  return largest + std::log(sum) - 0.5 * static_cast<double>(d) * std::log(2 * std::numbers::pi);
}

Eigen::VectorXd NormalMixture::gradient(std::span<const double> z) const {
  const auto d = static_cast<Eigen::Index>(z.size());
  const Eigen::Map<const Eigen::VectorXd> point(z.data(), d);
  const double all = log_density(z);
  Eigen::VectorXd gradient = Eigen::VectorXd::Zero(d);
  for (const Component& component : components) {
    const NormalMixture alone = one(component.mean, component.lower);
    const double share = component.weight * std::exp(alone.log_density(z) - all);
    const Eigen::VectorXd u = component.lower.triangularView<Eigen::Lower>().solve(point - component.mean);
    gradient -= share * component.lower.transpose().triangularView<Eigen::Upper>().solve(u);
  }
  return gradient;
}

// With A_j = L_j⁻¹ and k < i:
//
//   ∂w_i/∂z_i = Σ_j r_ij φ(u_ij) A_j,ii / φ(w_i)
//   ∂w_i/∂z_k = Σ_j r_ij ((g_jk − Σ_l r_il g_lk) Φ(u_ij) + φ(u_ij) A_j,ik) / φ(w_i),   g_jk = −Σ_(m<i) u_mj A_j,mk,
//
// where Φ − 1 may stand for Φ, because the differences of the g average to zero; the smaller of the two is exact.
Eigen::MatrixXd NormalMixture::inverse_jacobian(std::span<const double> z) const {
  const auto d = static_cast<Eigen::Index>(z.size());
  const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(d, d);
  std::vector<Eigen::MatrixXd> inverse;
  for (const Component& component : components) {
    inverse.emplace_back(component.lower.triangularView<Eigen::Lower>().solve(identity));
  }
  if (components.size() == 1) return inverse[0];
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(d, d);
  std::vector<Seen> seen = nothing_seen(*this);
  for (Eigen::Index i = 0; i < d; ++i) {
    const Conditional law = conditional(*this, seen, i);
    const double place = z[static_cast<std::size_t>(i)];
    const Tails tails = tails_at(law, place);
    const double log_phi = normal_log_density(std::clamp(normal_from_tails(tails), -largest_z, largest_z));
    std::vector<Eigen::RowVectorXd> slopes;  // g_j
    Eigen::RowVectorXd mean_slope = Eigen::RowVectorXd::Zero(i);
    for (std::size_t j = 0; j < components.size(); ++j) {
      slopes.emplace_back(-seen[j].u.head(i).transpose() * inverse[j].topLeftCorner(i, i));
      mean_slope += law.shares[j] * slopes.back();
    }
    for (std::size_t j = 0; j < components.size(); ++j) {
      const double u = (place - law.means[j]) / law.sds[j];
      const Tails one = normal_tails(u);
      const double mass = tails.lower <= tails.upper ? one.lower : -one.upper;
      const double density = law.shares[j] * std::exp(normal_log_density(u) - log_phi);
      result.row(i).head(i + 1) += density * inverse[j].row(i).head(i + 1);
      result.row(i).head(i) += law.shares[j] * mass * std::exp(-log_phi) * (slopes[j] - mean_slope);
    }
    see(seen, law, i, place);
  }
  return result;
}

}  // namespace catena::prior
