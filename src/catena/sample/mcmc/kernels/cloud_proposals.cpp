#include "catena/sample/mcmc/kernels/cloud_proposals.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace catena::sample {

namespace {

constexpr double t_freedom = 5;  // tails heavier than the posterior's, yet with a variance
constexpr double lattice_noise = 0.02;

void add_normals(const CloudShape& shape, double scale, std::span<double> point, Stream& stream) {
  const auto d = static_cast<Eigen::Index>(point.size());
  Eigen::VectorXd noise(d);
  for (double& value : noise) value = scale * stream.normal();
  Eigen::Map<Eigen::VectorXd>(point.data(), d) += shape.lower.triangularView<Eigen::Lower>() * noise;
}

}  // namespace

CloudProposals::CloudProposals(Matrix cloud, std::size_t most_modes)
    : cloud_(std::move(cloud)),
      modes_(find_modes(cloud_, most_modes)),
      narrowest_(
          std::ranges::min_element(modes_.all, {}, [](const Mode& mode) { return mode.shape.log_volume(); })->shape),
      members_(modes_.all.size()) {
  for (std::size_t r = 0; r < cloud_.rows(); ++r) members_[modes_.of[r]].push_back(r);
}

double CloudProposals::log_term(std::size_t mode, std::span<const double> point) const {
  const CloudShape& shape = modes_.all[mode].shape;
  const auto d = static_cast<Eigen::Index>(point.size());
  const Eigen::VectorXd centred = Eigen::Map<const Eigen::VectorXd>(point.data(), d) - shape.mean;
  const double squared = shape.lower.triangularView<Eigen::Lower>().solve(centred).squaredNorm();
  return std::log(modes_.all[mode].weight) - shape.log_volume() -
         0.5 * (t_freedom + static_cast<double>(d)) * std::log1p(squared / t_freedom);
}

double CloudProposals::log_independent(std::span<const double> point) const {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (std::size_t j = 0; j < modes_.all.size(); ++j) {
    const double term = log_term(j, point);
    if (term > largest) sum *= std::exp(largest - term), largest = term;
    sum += std::exp(term - largest);
  }
  return largest + std::log(sum);
}

std::size_t CloudProposals::mode_at(std::span<const double> point, Stream& stream) const {
  const double all = log_independent(point);
  double left = stream.uniform();
  for (std::size_t j = 0; j + 1 < modes_.all.size(); ++j) {
    left -= std::exp(log_term(j, point) - all);
    if (left < 0) return j;
  }
  return modes_.all.size() - 1;
}

double CloudProposals::log_share(std::size_t mode, std::span<const double> point) const {
  return log_term(mode, point) - log_independent(point);
}

template <class Move>
double CloudProposals::within_mode(std::span<double> point, Stream& stream, const Move& move) const {
  if (modes_.all.size() == 1) {
    move(0);
    return 0;
  }
  const std::size_t mode = mode_at(point, stream);
  const double here = log_share(mode, point);
  move(mode);
  return log_share(mode, point) - here;
}

double CloudProposals::random_walk(std::span<double> point, double scale, Stream& stream) const {
  return within_mode(point, stream,
                     [&](std::size_t mode) { add_normals(modes_.all[mode].shape, scale, point, stream); });
}

void CloudProposals::add_difference(std::span<double> point, double scale, std::size_t a, std::size_t b,
                                    const CloudShape& shape, Stream& stream) const {
  for (std::size_t i = 0; i < point.size(); ++i) point[i] += scale * (cloud_(a, i) - cloud_(b, i));
  add_normals(shape, lattice_noise, point, stream);
}

double CloudProposals::difference(std::span<double> point, double scale, Stream& stream) const {
  return within_mode(point, stream, [&](std::size_t mode) {
    const std::vector<std::size_t>& members = members_[mode];
    if (members.empty()) return;
    const std::size_t a = members[stream.integer(members.size())], b = members[stream.integer(members.size())];
    add_difference(point, scale, a, b, modes_.all[mode].shape, stream);
  });
}

double CloudProposals::jump(std::span<double> point, Stream& stream) const {
  const std::size_t a = stream.integer(cloud_.rows()), b = stream.integer(cloud_.rows());
  add_difference(point, 1, a, b, narrowest_, stream);
  return 0;
}

double CloudProposals::independent(std::span<double> point, Stream& stream) const {
  const double here = log_independent(point);
  std::size_t mode = 0;
  if (modes_.all.size() > 1) {
    for (double left = stream.uniform(); mode + 1 < modes_.all.size(); ++mode) {
      left -= modes_.all[mode].weight;
      if (left < 0) break;
    }
  }
  const CloudShape& shape = modes_.all[mode].shape;
  std::copy(shape.mean.begin(), shape.mean.end(), point.begin());
  add_normals(shape, 1 / std::sqrt(stream.gamma(t_freedom / 2) * 2 / t_freedom), point, stream);
  return here - log_independent(point);
}

double CloudProposals::propose(std::span<double> point, Stream& stream) const {
  const double best = best_walk_scale / std::sqrt(static_cast<double>(point.size()));
  switch (stream.integer(4)) {
    case 0:  // scales from 1.5 times the best one down to a tenth of it
      return random_walk(point, best * std::exp(0.4 - 2.7 * stream.uniform()), stream);
    case 1:
      return stream.integer(5) == 0 ? jump(point, stream) : difference(point, best / std::sqrt(2.0), stream);
    default:
      return independent(point, stream);
  }
}

Matrix joined(ConstMatrixView points, ConstMatrixView start) {
  Matrix all(points.rows + start.rows, points.cols);
  for (std::size_t r = 0; r < points.rows; ++r) std::ranges::copy(points.row(r), all.row(r).begin());
  for (std::size_t r = 0; r < start.rows; ++r) std::ranges::copy(start.row(r), all.row(points.rows + r).begin());
  return all;
}

}  // namespace catena::sample
