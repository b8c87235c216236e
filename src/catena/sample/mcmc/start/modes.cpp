// Top down: points that two Gaussians describe better than one are split, and each half again. Then all components are
// fitted together. Both by expectation–maximisation for p(z) = Σ_j w_j N(z; μ_j, Σ_j), with Σ_j drawn a little towards
// the mean W = Σ_j w_j Σ_j within components, as if d + 2 further points of that covariance had been seen.
//
// "Better" is Schwarz's criterion, 2 log L − (number of parameters) log n (docs/refs.bib: schwarz1978). A split begins
// with a cut: along the axis, among those of the coordinates, the covariance and the correlations, and at the place
// that leave the least variance within the halves. No random numbers are needed.

#include "catena/sample/mcmc/start/modes.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numbers>

#include "catena/core/check.h"

namespace catena::sample {

namespace {

using Points = Eigen::MatrixXd;  // d × n

constexpr int steps_of_split = 20, steps_of_all = 8;  // of expectation–maximisation, at most
constexpr double settled = 0.1;  // nats that a step gains when it is the last: Schwarz's criterion asks for hundreds

struct Fit {
  std::vector<Mode> modes;
  Eigen::MatrixXd shares;  // n × modes: the probability that a point is of a mode
  double log_likelihood = 0;
};

/// Weights and shapes from shares.
void maximisation(const Points& points, Fit& fit) {
  const Eigen::Index d = points.rows(), n = points.cols(), k = fit.shares.cols();
  const double doubt = static_cast<double>(d) + 2;
  std::vector<Eigen::VectorXd> means;
  std::vector<Eigen::MatrixXd> scatters;
  Eigen::MatrixXd within = Eigen::MatrixXd::Zero(d, d);
  const Eigen::VectorXd sizes = fit.shares.colwise().sum().transpose();
  for (Eigen::Index j = 0; j < k; ++j) {
    means.emplace_back(points * fit.shares.col(j) / std::max(sizes[j], 1e-12));
    const Points centred = points.colwise() - means.back();
    scatters.emplace_back(centred * fit.shares.col(j).asDiagonal() * centred.transpose());
    within += scatters.back() / static_cast<double>(n);
  }
  fit.modes.clear();
  for (Eigen::Index j = 0; j < k; ++j) {
    const auto at = static_cast<std::size_t>(j);
    Eigen::MatrixXd covariance = k == 1 ? Eigen::MatrixXd(scatters[at] / (sizes[j] - 1))
                                        : Eigen::MatrixXd((scatters[at] + doubt * within) / (sizes[j] + doubt));
    fit.modes.push_back({sizes[j] / static_cast<double>(n), CloudShape(std::move(means[at]), std::move(covariance))});
  }
}

/// Shares and the log likelihood from weights and shapes.
void expectation(const Points& points, Fit& fit) {
  const auto k = static_cast<Eigen::Index>(fit.modes.size());
  fit.shares.resize(points.cols(), k);
  for (Eigen::Index j = 0; j < k; ++j) {
    const Mode& mode = fit.modes[static_cast<std::size_t>(j)];
    const Points centred = points.colwise() - mode.shape.mean;
    const Points whitened = mode.shape.lower.triangularView<Eigen::Lower>().solve(centred);
    const double constant = std::log(std::max(mode.weight, 1e-300)) - mode.shape.log_volume() -
                            0.5 * static_cast<double>(points.rows()) * std::log(2 * std::numbers::pi);
    fit.shares.col(j) = (constant - 0.5 * whitened.colwise().squaredNorm().array()).matrix().transpose();
  }
  const Eigen::VectorXd largest = fit.shares.rowwise().maxCoeff();
  fit.shares = (fit.shares.colwise() - largest).array().exp();
  const Eigen::VectorXd sums = fit.shares.rowwise().sum();
  fit.log_likelihood = (largest.array() + sums.array().log()).sum();
  fit.shares.array().colwise() /= sums.array();
}

/// From shares to shares, until nothing is gained any more.
void alternate(const Points& points, Fit& fit, int steps) {
  double before = -std::numeric_limits<double>::infinity();
  for (int step = 0; step < steps; ++step) {
    maximisation(points, fit);
    expectation(points, fit);
    if (!(fit.log_likelihood - before > settled)) break;
    before = fit.log_likelihood;
  }
}

Fit one_mode(const Points& points) {
  Fit fit;
  fit.shares = Eigen::MatrixXd::Ones(points.cols(), 1);
  maximisation(points, fit);
  return fit;
}

/// Which points of a component lie beyond the best cut; none if it has too few points to be cut.
std::vector<bool> best_cut(const Points& points, const CloudShape& shape) {
  const auto d = static_cast<std::size_t>(points.rows()), n = static_cast<std::size_t>(points.cols());
  const std::size_t least = d + 2;  // points of a half
  if (n < 2 * least) return {};
  const Eigen::VectorXd deviations = shape.lower.rowwise().norm();
  const Eigen::MatrixXd scaled = deviations.cwiseInverse().asDiagonal() * shape.lower;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> covariance(shape.lower * shape.lower.transpose());
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> correlations(scaled * scaled.transpose());
  Eigen::MatrixXd axes(points.rows(), 3 * points.rows());
  axes << Eigen::MatrixXd::Identity(points.rows(), points.rows()), covariance.eigenvectors(),
      deviations.cwiseInverse().asDiagonal() * correlations.eigenvectors();

  const Eigen::MatrixXd places = axes.transpose() * (points.colwise() - shape.mean);
  struct Placed {
    double place;
    std::size_t point;
    auto operator<=>(const Placed&) const = default;
  };
  std::vector<Placed> order(n);
  double best_share = 1;
  std::vector<bool> best;
  for (Eigen::Index axis = 0; axis < axes.cols(); ++axis) {
    const Eigen::VectorXd place = places.row(axis).transpose();
    const double sum = place.sum(), squares = (place.array() - sum / static_cast<double>(n)).square().sum();
    for (std::size_t i = 0; i < n; ++i) order[i] = {place[static_cast<Eigen::Index>(i)], i};
    std::ranges::sort(order);
    // Between halves of m and n − m points with sums s and S − s: s²/m + (S − s)²/(n − m) − S²/n.
    double below = 0;
    std::size_t best_below = 0;  // points, if this axis has the best cut so far
    for (std::size_t m = 1; m < n; ++m) {
      below += order[m - 1].place;
      if (m < least || n - m < least) continue;
      const auto left = static_cast<double>(m), right = static_cast<double>(n - m);
      const double between = below * below / left + (sum - below) * (sum - below) / right - sum * sum / (left + right);
      const double share = 1 - between / squares;
      if (!(share < best_share)) continue;
      best_share = share;
      best_below = m;
    }
    if (best_below == 0) continue;
    best.assign(n, false);
    for (std::size_t r = best_below; r < n; ++r) best[order[r].point] = true;
  }
  return best;
}

/// Two halves of the points, if that is better than one; else none.
std::vector<Points> halves(const Points& points) {
  Fit whole = one_mode(points);
  const std::vector<bool> beyond = best_cut(points, whole.modes[0].shape);
  if (beyond.empty()) return {};
  expectation(points, whole);
  Fit split;
  split.shares = Eigen::MatrixXd::Zero(points.cols(), 2);
  for (Eigen::Index i = 0; i < points.cols(); ++i) split.shares(i, beyond[static_cast<std::size_t>(i)] ? 1 : 0) = 1;
  alternate(points, split, steps_of_split);
  const auto d = static_cast<double>(points.rows());
  const double more_parameters = 1 + d + 0.5 * d * (d + 1);
  const double gain = 2 * (split.log_likelihood - whole.log_likelihood);
  if (!(gain > more_parameters * std::log(static_cast<double>(points.cols())))) return {};
  std::vector<Eigen::Index> of[2];
  for (Eigen::Index i = 0; i < points.cols(); ++i) of[split.shares(i, 1) > 0.5 ? 1 : 0].push_back(i);
  if (of[0].size() < 2 || of[1].size() < 2) return {};
  return {points(Eigen::all, of[0]), points(Eigen::all, of[1])};
}

}  // namespace

Modes find_modes(ConstMatrixView rows, std::size_t most) {
  CATENA_ASSERT(rows.rows >= 2 && most >= 1);
  Points points(static_cast<Eigen::Index>(rows.cols), static_cast<Eigen::Index>(rows.rows));
  for (std::size_t r = 0; r < rows.rows; ++r) {
    for (std::size_t i = 0; i < rows.cols; ++i) {
      points(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(r)) = rows(r, i);
    }
  }
  Fit fit = one_mode(points);
  if (most > 1) {
    std::deque<Points> open{points};  // the oldest, so the largest, is split first
    std::vector<Points> whole;
    while (!open.empty()) {
      const Points next = std::move(open.front());
      open.pop_front();
      const bool full = open.size() + whole.size() + 2 > most;
      std::vector<Points> parts = full ? std::vector<Points>{} : halves(next);
      if (parts.empty()) whole.push_back(next);
      for (Points& part : parts) open.push_back(std::move(part));
    }
    if (whole.size() > 1) {
      fit.modes.clear();
      for (const Points& part : whole) {
        fit.modes.push_back(one_mode(part).modes[0]);
        fit.modes.back().weight = static_cast<double>(part.cols()) / static_cast<double>(points.cols());
      }
      expectation(points, fit);
      alternate(points, fit, steps_of_all);
    }
  }
  Modes result{std::move(fit.modes), std::vector<std::size_t>(rows.rows, 0)};
  for (std::size_t r = 0; r < rows.rows; ++r) {
    Eigen::Index largest = 0;
    fit.shares.row(static_cast<Eigen::Index>(r)).maxCoeff(&largest);
    result.of[r] = static_cast<std::size_t>(largest);
  }
  return result;
}

}  // namespace catena::sample
