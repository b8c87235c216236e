#include "catena/sample/correct/statistic.h"

#include <algorithm>
#include <cmath>

#include "catena/core/check.h"

namespace catena::sample {
namespace {

constexpr std::size_t rows_at_once = 2048;
constexpr double cut_at = 8;            // robust standard deviations
constexpr double to_deviation = 1.349;  // of a normal's interquartile range
constexpr double least_share = 1e-3;    // of a whitened direction: below, two statistics are one

/// The quantile of values that may be reordered.
double quantile(std::vector<double>& values, double share) {
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, values.begin() + at);
  return values[static_cast<std::size_t>(at)];
}

}  // namespace

Matrix features_of(const model::TrainedModel& model, const simulate::TransitionRows& rows, const Parallel& parallel) {
  const model::Features& features = model.features;
  Matrix c(rows.x_next.rows, features.size());
  parallel.for_blocks(c.rows(), rows_at_once, [&](std::size_t begin, std::size_t end, std::size_t) {
    std::vector<float> part((end - begin) * features.size());
    for (std::size_t r = begin; r < end; ++r) {
      const simulate::RecordView record{rows.x.row(r), rows.x_next.row(r), rows.time.cols > 0 ? rows.time(r, 0) : 0,
                                        rows.step.cols > 0 ? rows.step(r, 0) : 1};
      features.apply(record, std::span(part).subspan((r - begin) * features.size(), features.size()));
    }
    model.whiten(part);
    std::ranges::copy(part, c.row(begin).begin());
  });
  return c;
}

Statistic::Statistic(std::string_view function, const model::TrainedModel& model, Matrix anchors)
    : anchors_(std::move(anchors)), scores_(compose::record_scores(function, model)) {
  CATENA_ASSERT(anchors_.rows() > 0 && anchors_.cols() == model.prior.size());
}

std::size_t Statistic::raw_size() const { return anchors_.cols() + (scores_->has_value() ? anchors_.rows() - 1 : 0); }

Eigen::MatrixXd Statistic::raw(ConstMatrixView c, const Parallel& parallel) const {
  const std::size_t d = anchors_.cols(), others = raw_size() - d;
  Eigen::MatrixXd all(static_cast<Eigen::Index>(c.rows), static_cast<Eigen::Index>(raw_size()));
  parallel.for_blocks(c.rows, rows_at_once, [&](std::size_t begin, std::size_t end, std::size_t) {
    Matrix score(end - begin, d);
    std::vector<double> value(others > 0 ? end - begin : 0), first;
    for (std::size_t k = 0; k <= others; ++k) {
      scores_->evaluate(c.slice_rows(begin, end), anchors_.row(k), score, value);
      if (k == 0) first = value;
      for (std::size_t r = begin; r < end; ++r) {
        const auto row = static_cast<Eigen::Index>(r);
        for (std::size_t f = 0; f < d && k == 0; ++f) all(row, static_cast<Eigen::Index>(f)) = score(r - begin, f);
        if (k > 0) all(row, static_cast<Eigen::Index>(d + k - 1)) = value[r - begin] - first[r - begin];
      }
    }
  });
  return all;
}

Whitener::Whitener(const Eigen::MatrixXd& first, const Eigen::MatrixXd& second) {
  const Eigen::Index m = first.cols(), n = first.rows();
  low_ = Eigen::VectorXd(m);
  high_ = Eigen::VectorXd(m);
  Eigen::MatrixXd difference(n, m);
  for (Eigen::Index j = 0; j < m; ++j) {
    std::vector<double> column(first.col(j).begin(), first.col(j).end());
    column.insert(column.end(), second.col(j).begin(), second.col(j).end());
    const double middle = quantile(column, 0.5), lower = quantile(column, 0.25), upper = quantile(column, 0.75);
    double width = (upper - lower) / to_deviation;
    if (!(width > 0)) {  // of states that mostly stay where they are
      double square = 0;
      for (const double value : column) square += (value - middle) * (value - middle);
      width = std::sqrt(square / static_cast<double>(column.size()));
    }
    low_[j] = middle - cut_at * width;
    high_[j] = middle + cut_at * width;
    for (const double value : column) cut_ += value < low_[j] || value > high_[j] ? 1U : 0U;
    for (Eigen::Index i = 0; i < n; ++i) {
      difference(i, j) =
          (std::clamp(first(i, j), low_[j], high_[j]) - std::clamp(second(i, j), low_[j], high_[j])) / std::sqrt(2.0);
    }
  }
  covariance_ = difference.transpose() * difference / static_cast<double>(n);
  const Eigen::VectorXd deviation = covariance_.diagonal().cwiseSqrt().unaryExpr([](double value) {
    return value > 0 ? value : 1.0;  // a statistic that never differs drops out below
  });
  const Eigen::VectorXd inverse = deviation.cwiseInverse();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> axes(inverse.asDiagonal() * covariance_ * inverse.asDiagonal());
  std::vector<Eigen::Index> kept;
  for (Eigen::Index k = m; k-- > 0;) {
    if (axes.eigenvalues()[k] > least_share) kept.push_back(k);
  }
  CATENA_ASSERT(!kept.empty());
  to_white_ = Eigen::MatrixXd(static_cast<Eigen::Index>(kept.size()), m);
  for (std::size_t k = 0; k < kept.size(); ++k) {
    to_white_.row(static_cast<Eigen::Index>(k)) =
        axes.eigenvectors().col(kept[k]).transpose() / std::sqrt(axes.eigenvalues()[kept[k]]);
  }
  to_white_ = to_white_ * inverse.asDiagonal();
}

Eigen::MatrixXd Whitener::apply(const Eigen::MatrixXd& raw) const {
  Eigen::MatrixXd cut = raw;
  for (Eigen::Index j = 0; j < cut.cols(); ++j) {
    for (Eigen::Index i = 0; i < cut.rows(); ++i) cut(i, j) = std::clamp(cut(i, j), low_[j], high_[j]);
  }
  return cut * to_white_.transpose();
}

Eigen::MatrixXd Whitener::covariance_with(std::size_t begin, std::size_t count) const {
  return to_white_ * covariance_.middleCols(static_cast<Eigen::Index>(begin), static_cast<Eigen::Index>(count));
}

}  // namespace catena::sample
