/// Local scores in closed form, in place of a network: what is left to test is composition and sampling alone.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "catena/compose/precision.h"
#include "catena/compose/scores/local_scores.h"
#include "catena/core/random.h"
#include "catena/diffusion/schedule.h"

namespace catena::compose {

/// The task gaussian_rw, x^(t+1) ~ N(0.9 x^t + θ, I) with prior N(0, I): local posteriors N(b_t/2, I/2) with
/// b_t = x^(t+1) − 0.9 x^t, and the series' posterior N(Σ b_t/(T+1), I/(T+1)).
class GaussianRwScores final : public LocalScores {
 public:
  GaussianRwScores(std::size_t transitions, std::size_t dimension, diffusion::Schedule schedule, std::uint64_t seed)
      : schedule_(schedule), b_(transitions, dimension) {
    Stream stream = Streams(seed).stream("series");
    Eigen::VectorXd x = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(dimension));
    for (std::size_t t = 0; t < transitions; ++t) {
      for (std::size_t i = 0; i < dimension; ++i) {
        const auto at = static_cast<Eigen::Index>(i);
        const double theta = i == 0 ? 0.7 : -1.1;
        const double next = 0.9 * x(at) + theta + stream.normal();
        b_(t, i) = next - 0.9 * x(at);
        x(at) = next;
      }
    }
  }

  std::size_t transitions() const override { return b_.rows(); }
  std::size_t dimension() const override { return b_.cols(); }

  /// s_t = −(θ_a − m b_t/2)/(m²/2 + σ²)
  void scores(ConstMatrixView theta_a, double a, std::size_t begin, std::size_t end, MatrixView out) const override {
    const double m = schedule_.m(a), slope = -1 / (0.5 * m * m + schedule_.sigma_squared(a));
    for (std::size_t t = begin; t < end; ++t) {
      for (std::size_t p = 0; p < theta_a.rows; ++p) {
        for (std::size_t i = 0; i < dimension(); ++i) {
          out((t - begin) * theta_a.rows + p, i) = slope * (theta_a(p, i) - 0.5 * m * b_(t, i));
        }
      }
    }
  }
  bool has_jacobians() const override { return true; }
  void scores_and_jacobians(ConstMatrixView theta_a, double a, std::size_t begin, std::size_t end, MatrixView out,
                            MatrixView jacobians) const override {
    scores(theta_a, a, begin, end, out);
    const double m = schedule_.m(a), slope = -1 / (0.5 * m * m + schedule_.sigma_squared(a));
    for (std::size_t row = 0; row < out.rows; ++row) {
      for (std::size_t k = 0; k < jacobians.cols; ++k) jacobians(row, k) = k % (dimension() + 1) == 0 ? slope : 0;
    }
  }

  LocalPrecisions precisions() const {
    LocalPrecisions result(transitions(), dimension());
    for (double& value : result.values()) value = 2;
    return result;
  }
  Eigen::VectorXd posterior_mean() const {
    return map(b_.view()).colwise().sum().transpose() / (static_cast<double>(transitions()) + 1);
  }
  double posterior_variance() const { return 1 / (static_cast<double>(transitions()) + 1); }

 private:
  diffusion::Schedule schedule_;
  Matrix b_;
};

/// Gaussian local posteriors N(μ_t, C_t⁻¹) with full, different precisions: transitions that see H_t θ + noise.
class GaussianScores final : public LocalScores {
 public:
  GaussianScores(std::vector<Eigen::VectorXd> means, std::vector<Eigen::MatrixXd> precisions,
                 diffusion::Schedule schedule)
      : means_(std::move(means)), precisions_(std::move(precisions)), schedule_(schedule) {}

  /// C_t = I + H_tᵀ H_t with random H_t of two rows.
  static GaussianScores random(std::size_t transitions, Eigen::Index dimension, diffusion::Schedule schedule,
                               std::uint64_t seed) {
    Stream stream = Streams(seed).stream("local");
    std::vector<Eigen::VectorXd> means;
    std::vector<Eigen::MatrixXd> precisions;
    for (std::size_t t = 0; t < transitions; ++t) {
      const Eigen::MatrixXd h = Eigen::MatrixXd::NullaryExpr(2, dimension, [&] { return stream.normal(); });
      means.push_back(Eigen::VectorXd::NullaryExpr(dimension, [&] { return 0.5 * stream.normal(); }));
      precisions.push_back(Eigen::MatrixXd::Identity(dimension, dimension) + h.transpose() * h);
    }
    return {std::move(means), std::move(precisions), schedule};
  }

  std::size_t transitions() const override { return means_.size(); }
  std::size_t dimension() const override { return static_cast<std::size_t>(means_[0].size()); }

  void scores(ConstMatrixView theta_a, double a, std::size_t begin, std::size_t end, MatrixView out) const override {
    for (std::size_t t = begin; t < end; ++t) {
      const RowMajorMatrix slope = jacobian(t, a);
      const auto n = static_cast<Eigen::Index>(theta_a.rows);
      const RowMajorMatrix shifted = map(theta_a).rowwise() - schedule_.m(a) * means_[t].transpose();
      map(out).middleRows(static_cast<Eigen::Index>(t - begin) * n, n) = shifted * slope;
    }
  }
  bool has_jacobians() const override { return true; }
  void scores_and_jacobians(ConstMatrixView theta_a, double a, std::size_t begin, std::size_t end, MatrixView out,
                            MatrixView jacobians) const override {
    scores(theta_a, a, begin, end, out);
    for (std::size_t row = 0; row < out.rows; ++row) {
      const Eigen::MatrixXd slope = jacobian(begin + row / theta_a.rows, a);
      for (std::size_t k = 0; k < jacobians.cols; ++k) jacobians(row, k) = slope.data()[k];
    }
  }

  LocalPrecisions precisions() const {
    LocalPrecisions result(transitions(), dimension() * dimension());
    for (std::size_t t = 0; t < transitions(); ++t) {
      for (std::size_t k = 0; k < result.cols(); ++k) result(t, k) = precisions_[t].data()[k];
    }
    return result;
  }
  /// The product of the local posteriors over the prior's power T − 1.
  Eigen::MatrixXd posterior_precision() const {
    Eigen::MatrixXd sum =
        (1 - static_cast<double>(transitions())) * Eigen::MatrixXd::Identity(means_[0].size(), means_[0].size());
    for (const Eigen::MatrixXd& c : precisions_) sum += c;
    return sum;
  }
  Eigen::VectorXd posterior_mean() const {
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(means_[0].size());
    for (std::size_t t = 0; t < transitions(); ++t) sum += precisions_[t] * means_[t];
    return posterior_precision().ldlt().solve(sum);
  }

 private:
  /// −(m² C⁻¹ + σ² I)⁻¹
  Eigen::MatrixXd jacobian(std::size_t t, double a) const {
    const double m = schedule_.m(a);
    Eigen::MatrixXd covariance = m * m * precisions_[t].inverse();
    covariance.diagonal().array() += schedule_.sigma_squared(a);
    return -covariance.inverse();
  }

  std::vector<Eigen::VectorXd> means_;
  std::vector<Eigen::MatrixXd> precisions_;
  diffusion::Schedule schedule_;
};

/// A mixture of Gaussians in one dimension as the only transition: p(y) at noise η is the mixture with variances
/// v + η². Its distribution function is known at every level.
class MixtureScores final : public LocalScores {
 public:
  struct Component {
    double weight, mean, sd;
  };
  MixtureScores(std::vector<Component> components, diffusion::Schedule schedule)
      : components_(std::move(components)), schedule_(schedule) {}

  std::size_t transitions() const override { return 1; }
  std::size_t dimension() const override { return 1; }
  void scores(ConstMatrixView theta_a, double a, std::size_t, std::size_t, MatrixView out) const override {
    const double m = schedule_.m(a), noise = schedule_.sigma_squared(a);
    for (std::size_t p = 0; p < theta_a.rows; ++p) {
      // Weights relative to the largest, which keeps far tails finite.
      double largest = -std::numeric_limits<double>::infinity(), density = 0, slope = 0;
      std::vector<double> logs;
      for (const Component& c : components_) {
        const double v = m * m * c.sd * c.sd + noise, x = theta_a(p, 0) - m * c.mean;
        logs.push_back(std::log(c.weight) - 0.5 * std::log(v) - 0.5 * x * x / v);
        largest = std::max(largest, logs.back());
      }
      for (std::size_t k = 0; k < components_.size(); ++k) {
        const Component& c = components_[k];
        const double v = m * m * c.sd * c.sd + noise, w = std::exp(logs[k] - largest);
        density += w;
        slope -= w * (theta_a(p, 0) - m * c.mean) / v;
      }
      out(p, 0) = slope / density;
    }
  }

  double cdf(double y, double eta) const {
    double sum = 0;
    for (const Component& c : components_) {
      sum += c.weight * 0.5 * std::erfc(-(y - c.mean) / std::sqrt(2 * (c.sd * c.sd + eta * eta)));
    }
    return sum;
  }
  double quantile(double u, double eta) const {
    double low = -100, high = 100;
    for (int i = 0; i < 200; ++i) {
      const double middle = 0.5 * (low + high);
      (cdf(middle, eta) < u ? low : high) = middle;
    }
    return 0.5 * (low + high);
  }

 private:
  std::vector<Component> components_;
  diffusion::Schedule schedule_;
};

}  // namespace catena::compose
