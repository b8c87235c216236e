// In coordinates u = z/scale, where the maximum is about one wide, with g = ∇f and H = −∇²f = Q diag(λ) Qᵀ:
//
//   p = Q diag(1/max(|λ|, λ_min)) Qᵀ g, no longer than two widths,   u' = u + t p,   t = 1, ½, ¼, …
//
// until f has grown; where only g is known, growth is that of the trapezium rule, t p·(g + g')/2. |λ| turns saddles
// into ways up (Nocedal and Wright 2006, section 3.4, docs/refs.bib: nocedal2006). Coordinates at a bound whose
// gradient points outwards stay there and are left out of the step. A start has converged when gᵀH⁻¹g < 1e-4: the mode
// is then within a hundredth of a deviation of the Gaussian that fits there.

#include "catena/sample/mcmc/start/maximise.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace catena::sample {

namespace {

constexpr double smallest_curvature = 1e-2;  // per squared width: a maximum is rarely ten times wider than thought
constexpr double longest_step = 2;           // widths: the quadratic model is not to be trusted farther
constexpr double difference = 0.02;          // widths: gradients of networks have seven digits, so H has some five
constexpr double converged_below = 1e-4;
constexpr int most_halvings = 12;
// f of a network is a sum of single-precision terms: changes below this share of it are noise.
constexpr double noise_share = 1e-7;

struct Climb {
  Maximum found;
  Eigen::VectorXd u, gradient, step;
  Eigen::MatrixXd curvature;  // in u
  double length = 1;          // t
  bool climbing = true, searching = false;
};

class Maximiser {
 public:
  Maximiser(const GradientField& field, ConstMatrixView starts, const MaximiseSettings& settings)
      : field_(field),
        settings_(settings),
        d_(static_cast<Eigen::Index>(starts.cols)),
        scale_(Eigen::Map<const Eigen::VectorXd>(settings.scale.data(), d_)),
        bound_(settings.bound * scale_.cwiseInverse()) {
    for (std::size_t r = 0; r < starts.rows; ++r) {
      Climb climb;
      climb.u = Eigen::Map<const Eigen::VectorXd>(starts.row(r).data(), d_).cwiseQuotient(scale_);
      climb.u = climb.u.cwiseMax(-bound_).cwiseMin(bound_);
      climbs_.push_back(std::move(climb));
    }
  }

  std::vector<Maximum> operator()() {
    evaluate_starts();
    for (int step = 0; step < settings_.most_steps && any(&Climb::climbing); ++step) {
      find_curvatures();
      for (Climb& climb : climbs_) {
        if (climb.climbing) choose_step(climb);
      }
      search_along_steps();
    }
    std::vector<Maximum> result;
    for (Climb& climb : climbs_) {
      Maximum& found = climb.found;
      const Eigen::VectorXd z = climb.u.cwiseProduct(scale_);
      found.z.assign(z.begin(), z.end());
      const Eigen::VectorXd inverse = scale_.cwiseInverse();
      found.curvature = inverse.asDiagonal() * climb.curvature * inverse.asDiagonal();
      for (Eigen::Index i = 0; i < d_; ++i) found.at_bound.push_back(std::abs(climb.u[i]) >= bound_[i]);
      result.push_back(std::move(found));
    }
    return result;
  }

 private:
  bool any(bool Climb::* state) const { return std::ranges::any_of(climbs_, state); }

  /// f and its gradient in u at points given as rows of u.
  void evaluate(const std::vector<Eigen::VectorXd>& points) {
    points_ = Matrix(points.size(), static_cast<std::size_t>(d_));
    gradients_ = points_;
    values_.assign(points.size(), std::nan(""));
    for (std::size_t r = 0; r < points.size(); ++r) {
      Eigen::Map<Eigen::VectorXd>(points_.row(r).data(), d_) = points[r].cwiseProduct(scale_);
    }
    field_(points_, values_, gradients_);
  }
  Eigen::VectorXd gradient(std::size_t r) const {
    return Eigen::Map<const Eigen::VectorXd>(gradients_.row(r).data(), d_).cwiseProduct(scale_);
  }

  void evaluate_starts() {
    std::vector<Eigen::VectorXd> points;
    for (const Climb& climb : climbs_) points.push_back(climb.u);
    evaluate(points);
    for (std::size_t c = 0; c < climbs_.size(); ++c) {
      climbs_[c].found.value = values_[c];
      climbs_[c].gradient = gradient(c);
      climbs_[c].curvature = Eigen::MatrixXd::Identity(d_, d_);
      climbs_[c].climbing = climbs_[c].gradient.allFinite();
    }
  }

  void find_curvatures() {
    std::vector<Eigen::VectorXd> points;
    for (const Climb& climb : climbs_) {
      if (!climb.climbing) continue;
      for (Eigen::Index i = 0; i < d_; ++i) {
        for (const double side : {difference, -difference}) {
          points.push_back(climb.u + side * Eigen::VectorXd::Unit(d_, i));
        }
      }
    }
    evaluate(points);
    std::size_t r = 0;
    for (Climb& climb : climbs_) {
      if (!climb.climbing) continue;
      Eigen::MatrixXd curvature(d_, d_);
      for (Eigen::Index i = 0; i < d_; ++i, r += 2) {
        curvature.col(i) = (gradient(r + 1) - gradient(r)) / (2 * difference);
      }
      if (curvature.allFinite()) climb.curvature = 0.5 * (curvature + curvature.transpose());
    }
  }

  void choose_step(Climb& climb) const {
    std::vector<Eigen::Index> free;
    for (Eigen::Index i = 0; i < d_; ++i) {
      const bool held = std::abs(climb.u[i]) >= bound_[i] && climb.gradient[i] * climb.u[i] > 0;
      if (!held) free.push_back(i);
    }
    climb.step = Eigen::VectorXd::Zero(d_);
    double decrement = 0;
    if (!free.empty()) {
      const Eigen::VectorXd g = climb.gradient(free);
      const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(climb.curvature(free, free));
      const Eigen::VectorXd lambda = eigen.eigenvalues().cwiseAbs().cwiseMax(smallest_curvature);
      Eigen::VectorXd p = eigen.eigenvectors() * (eigen.eigenvectors().transpose() * g).cwiseQuotient(lambda);
      decrement = g.dot(p);
      if (p.norm() > longest_step) p *= longest_step / p.norm();
      climb.step(free) = p;
    }
    ++climb.found.steps;
    climb.found.converged = decrement < converged_below;
    climb.climbing = climb.searching = !climb.found.converged;
    climb.length = 1;
  }

  Eigen::VectorXd along(const Climb& climb) const {
    return (climb.u + climb.length * climb.step).cwiseMax(-bound_).cwiseMin(bound_);
  }

  void search_along_steps() {
    for (int halving = 0; halving <= most_halvings && any(&Climb::searching); ++halving) {
      std::vector<Eigen::VectorXd> points;
      for (const Climb& climb : climbs_) {
        if (climb.searching) points.push_back(along(climb));
      }
      evaluate(points);
      std::size_t r = 0;
      for (Climb& climb : climbs_) {
        if (!climb.searching) continue;
        const Eigen::VectorXd there = gradient(r);
        const double value = values_[r];
        const bool known = !std::isnan(climb.found.value);
        const double growth = known ? value - climb.found.value + noise_share * std::abs(climb.found.value)
                                    : 0.5 * (points[r] - climb.u).dot(climb.gradient + there);
        if (there.allFinite() && growth > 0) {
          climb.u = points[r];
          climb.gradient = there;
          climb.found.value = value;
          climb.searching = false;
        } else {
          climb.length /= 2;
        }
        ++r;
      }
    }
    for (Climb& climb : climbs_) {
      if (climb.searching) climb.searching = climb.climbing = false;  // no way up was found
    }
  }

  const GradientField& field_;
  const MaximiseSettings& settings_;
  Eigen::Index d_;
  Eigen::VectorXd scale_, bound_;
  std::vector<Climb> climbs_;
  Matrix points_, gradients_;
  std::vector<double> values_;
};

}  // namespace

std::vector<Maximum> maximise(const GradientField& field, ConstMatrixView starts, const MaximiseSettings& settings) {
  return Maximiser(field, starts, settings)();
}

Matrix best_apart(ConstMatrixView points, std::span<const double> values, std::span<const double> scale,
                  double distance, std::size_t most) {
  std::vector<std::size_t> order, chosen;
  for (std::size_t i = 0; i < points.rows; ++i) {
    if (std::isfinite(values[i])) order.push_back(i);
  }
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  for (const std::size_t i : order) {
    if (chosen.size() == most) break;
    const bool apart = std::ranges::all_of(chosen, [&](std::size_t k) {
      double squared = 0;
      for (std::size_t f = 0; f < points.cols; ++f) {
        const double difference = (points(i, f) - points(k, f)) / scale[f];
        squared += difference * difference;
      }
      return squared >= distance * distance;
    });
    if (apart) chosen.push_back(i);
  }
  Matrix result(chosen.size(), points.cols);
  for (std::size_t k = 0; k < chosen.size(); ++k) std::ranges::copy(points.row(chosen[k]), result.row(k).begin());
  return result;
}

}  // namespace catena::sample
