#include "catena/compose/density/transition_density.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "catena/compose/scores/record_scores.h"
#include "catena/core/check.h"

namespace catena::compose {
namespace {

constexpr std::size_t block_rows = 1024;
constexpr double difference = 1e-4;  // of z: ∂θ/∂z to some 1e-8, where networks are floats

/// A gradient in z becomes one in θ.
void gradient_to_theta(const prior::Prior& prior, std::span<const double> z, std::span<double> gradient) {
  const auto d = static_cast<Eigen::Index>(z.size());
  Eigen::MatrixXd jacobian(d, d);
  std::vector<double> point(z.begin(), z.end()), above(z.size()), below(z.size());
  for (Eigen::Index j = 0; j < d; ++j) {
    const auto at = static_cast<std::size_t>(j);
    point[at] = z[at] + difference;
    prior.to_theta(point, above);
    point[at] = z[at] - difference;
    prior.to_theta(point, below);
    point[at] = z[at];
    for (Eigen::Index i = 0; i < d; ++i) {
      jacobian(i, j) = (above[static_cast<std::size_t>(i)] - below[static_cast<std::size_t>(i)]) / (2 * difference);
    }
  }
  Eigen::Map<Eigen::VectorXd> g(gradient.data(), d);
  g = jacobian.transpose().partialPivLu().solve(Eigen::VectorXd(g)).eval();
}

void check_transitions(std::string_view function, const model::TrainedModel& model, ConstMatrixView theta,
                       const GivenTransitions& given) {
  const model::Features& features = model.features;
  const std::size_t rows = given.x_next.rows;
  check::equal(function, "the number of parameters", theta.cols, model.prior.size());
  check::equal(function, "the number of rows of theta", theta.rows, rows);
  check::equal(function, "the number of rows of x", given.x.rows, rows);
  check::equal(function, "the number of columns of x", given.x.cols, features.condition());
  check::equal(function, "the number of columns of x_next", given.x_next.cols, features.target());
  check::equal(function, "the number of times", given.time.size(), features.uses_time() ? rows : 0);
  check::equal(function, "the number of steps", given.step.size(), features.uses_step() ? rows : 0);
  check::equal(function, "the number of columns of u", given.u.cols, features.shape().inputs());
  if (given.u.cols > 0) check::equal(function, "the number of rows of u", given.u.rows, rows);
  check::all_finite(function, "t", given.time);
  for (std::size_t r = 0; r < rows; ++r) {
    check::all_finite(function, "theta", theta.row(r));
    check::all_finite(function, "x", given.x.row(r));
    check::all_finite(function, "x_next", given.x_next.row(r));
    features.check_positive(function, model.state_names, given.x.row(r));
    features.check_positive(function, model.state_names, given.x_next.row(r));
    if (!given.step.empty()) check::positive(function, "dt", given.step[r]);
    if (given.u.cols > 0) check::all_finite(function, "u", given.u.row(r));
  }
}

}  // namespace

TransitionValues transition_values(std::string_view function, const model::TrainedModel& model, ConstMatrixView theta,
                                   const GivenTransitions& given, bool gradient, const Parallel& parallel) {
  const std::unique_ptr<RecordScores> scores = record_scores(function, model);
  check::that(scores->has_value(), function, "the method", model.method,
              "one that learns densities or ratios: fnle, fnbe or fnre");
  check_transitions(function, model, theta, given);
  const model::Features& features = model.features;
  const std::size_t rows = theta.rows, d = theta.cols;
  Matrix z(rows, d), c(rows, features.size());
  std::vector<float> seen(rows * features.size());
  for (std::size_t r = 0; r < rows; ++r) {
    model.prior.to_z(theta.row(r), z.row(r));
    features.apply(
        {given.x.row(r), given.x_next.row(r), given.time.empty() ? 0 : given.time[r],
         given.step.empty() ? 1 : given.step[r], given.u.cols > 0 ? given.u.row(r) : std::span<const double>()},
        std::span(seen).subspan(r * features.size(), features.size()));
  }
  model.whiten(seen);
  std::ranges::copy(seen, c.values().begin());
  TransitionValues result{std::vector<double>(rows), Matrix(gradient ? rows : 0, d)};
  parallel.for_blocks(rows, block_rows, [&](std::size_t begin, std::size_t end, std::size_t) {
    Matrix slope(end - begin, d);
    const ConstMatrixView mine = ConstMatrixView(c).slice_rows(begin, end);
    const std::span<double> value = std::span(result.value).subspan(begin, end - begin);
    scores->evaluate_at(mine, ConstMatrixView(z).slice_rows(begin, end), slope, value);
    const std::vector<double> constants = scores->log_constants(mine);
    for (std::size_t r = begin; r < end; ++r) {
      value[r - begin] += constants[r - begin];
      if (!gradient) continue;
      std::ranges::copy(slope.row(r - begin), result.gradient.row(r).begin());
      gradient_to_theta(model.prior, z.row(r), result.gradient.row(r));
    }
  });
  return result;
}

}  // namespace catena::compose
