#include "catena/sample/mcmc/start/long_start.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/sample/mcmc/kernels/cloud_proposals.h"
#include "catena/sample/mcmc/start/laplace.h"

namespace catena::sample {
namespace {

/// The best point of each mode of the population, and the width of a mode in each coordinate.
std::pair<Matrix, std::vector<double>> one_of_each_mode(const Target& thinned, const Matrix& points) {
  const Modes modes = find_modes(points, usual_modes);
  std::vector<double> values(points.rows());
  thinned.log_density(points, values);
  Matrix starts(modes.all.size(), points.cols());
  std::vector<double> widths(points.cols(), std::numeric_limits<double>::infinity());
  for (std::size_t j = 0; j < modes.all.size(); ++j) {
    double best = -std::numeric_limits<double>::infinity();
    std::ranges::copy(modes.all[j].shape.mean, starts.row(j).begin());
    for (std::size_t r = 0; r < points.rows(); ++r) {
      if (modes.of[r] != j || !(values[r] > best)) continue;
      best = values[r];
      std::ranges::copy(points.row(r), starts.row(j).begin());
    }
    for (std::size_t i = 0; i < points.cols(); ++i) {
      const double width = modes.all[j].shape.lower.row(static_cast<Eigen::Index>(i)).norm();
      widths[i] = std::max(std::min(widths[i], width), 1e-6);
    }
  }
  return {std::move(starts), std::move(widths)};
}

}  // namespace

Start long_start(const Target& target, const Target& thinned, std::size_t population, int moves, const Streams& streams,
                 Progress& progress) {
  Start failed;
  failed.outcome = Outcome::not_mixed;
  const Start of_some = temper_start(thinned, population, moves, streams.child("thinned"), progress);
  if (of_some.outcome != Outcome::ok) return failed;
  auto [starts, widths] = one_of_each_mode(thinned, of_some.points.back());
  const GradientField field = [&](ConstMatrixView z, std::span<double> value, MatrixView gradient) {
    target.log_density_and_gradient(z, value, gradient);
  };
  const std::vector<LaplaceMode> modes = laplace_modes(maximise(field, starts, {.scale = std::move(widths)}));
  if (modes.empty()) return failed;

  const auto found = laplace_population(target, modes, population, streams);
  if (!found) return failed;
  return {Outcome::ok, {0, 1}, {of_some.points.front(), found->points}};
}

}  // namespace catena::sample
