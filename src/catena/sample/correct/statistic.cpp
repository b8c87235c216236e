#include "catena/sample/correct/statistic.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "catena/core/check.h"
#include "catena/core/quantile.h"
#include "catena/core/ranks/bytes.h"
#include "catena/core/ranks/ranks.h"

namespace catena::sample {
namespace {

constexpr std::size_t rows_at_once = 2048;
constexpr double stratum_share = 0.02;          // of the states: fewer outside the training range are no stratum
constexpr std::size_t fewest_of_stratum = 100;  // so many make two
constexpr double least_share = 1e-3;            // of a whitened direction: below, two statistics are one

constexpr double largest_factor = 4;  // of a product: the state, standardised

}  // namespace

Matrix features_of(const model::TrainedModel& model, const simulate::TransitionRows& rows, const Parallel& parallel) {
  const model::Features& features = model.features;
  Matrix c(rows.x_next.rows, features.size());
  parallel.for_blocks(c.rows(), rows_at_once, [&](std::size_t begin, std::size_t end, std::size_t) {
    std::vector<float> part((end - begin) * features.size());
    ConstMatrixView x = rows.x.slice_rows(begin, end), x_next = rows.x_next.slice_rows(begin, end);
    Matrix embedded[2];
    if (model.embedding) {
      embedded[0] = model.embedding->embed(x);
      embedded[1] = model.embedding->embed(x_next);
      x = embedded[0];
      x_next = embedded[1];
    }
    for (std::size_t r = begin; r < end; ++r) {
      const simulate::RecordView record{x.row(r - begin), x_next.row(r - begin),
                                        rows.time.cols > 0 ? rows.time(r, 0) : 0,
                                        rows.step.cols > 0 ? rows.step(r, 0) : 1, rows.u.row(r)};
      features.apply(record, std::span(part).subspan((r - begin) * features.size(), features.size()));
    }
    model.whiten(part);
    std::ranges::copy(part, c.row(begin).begin());
  });
  return c;
}

double state_excess(const model::Features& features, std::span<const double> c) {
  double worst = 0;
  for (std::size_t i = 0; i < features.known(); ++i) {
    const model::Feature& feature = features.all()[features.known(i)];
    const double value = c[features.known(i)];
    worst = std::max({worst, feature.seen(feature.low) - value, value - feature.seen(feature.high)});
  }
  return worst;
}

std::vector<double> strata_of(const model::Features& features, ConstMatrixView c) {
  std::vector<double> outside;
  for (std::size_t r = 0; r < c.rows; ++r) {
    const double excess = state_excess(features, c.row(r));
    if (excess > 0) outside.push_back(excess);
  }
  if (static_cast<double>(outside.size()) < stratum_share * static_cast<double>(c.rows)) return {};
  const double half = quantile(outside, 0.5);
  return half > 0 && outside.size() >= fewest_of_stratum ? std::vector{0.0, half} : std::vector{0.0};
}

Statistic::Statistic(std::string_view function, const model::TrainedModel& model, Matrix anchors,
                     std::vector<double> strata, bool products)
    : features_(model.features),
      anchors_(std::move(anchors)),
      strata_(std::move(strata)),
      products_(products),
      scores_(compose::record_scores(function, model)) {
  CATENA_ASSERT(anchors_.rows() > 0 && anchors_.cols() == model.prior.size());
}

std::size_t Statistic::per_stratum() const {
  const std::size_t d = anchors_.cols();
  return d + comparisons() + (products_ ? d * features_.known() : 0);
}

Eigen::MatrixXd Statistic::raw(ConstMatrixView c, const Parallel& parallel) const {
  const std::size_t d = anchors_.cols(), others = comparisons();
  Eigen::MatrixXd all = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(c.rows), static_cast<Eigen::Index>(raw_size()));
  Ranks& ranks = parallel.ranks();
  parallel.for_blocks(c.rows, rows_at_once, [&](std::size_t begin, std::size_t end, std::size_t block) {
    if (!ranks.has(block)) return;
    Matrix score(end - begin, d);
    std::vector<double> value(others > 0 ? end - begin : 0), first;
    std::vector<std::size_t> column(end - begin);  // where the record's stratum begins
    for (std::size_t r = begin; r < end && !strata_.empty(); ++r) {
      const auto bound = std::ranges::lower_bound(strata_, state_excess(features_, c.row(r)));
      column[r - begin] = static_cast<std::size_t>(bound - strata_.begin()) * per_stratum();
    }
    for (std::size_t k = 0; k <= others; ++k) {
      scores_->evaluate(c.slice_rows(begin, end), anchors_.row(k), score, value);
      if (k == 0) first = value;
      for (std::size_t r = 0; r < end - begin; ++r) {
        const auto row = static_cast<Eigen::Index>(begin + r);
        for (std::size_t f = 0; f < d && k == 0; ++f) all(row, static_cast<Eigen::Index>(column[r] + f)) = score(r, f);
        if (k > 0) all(row, static_cast<Eigen::Index>(column[r] + d + k - 1)) = value[r] - first[r];
      }
    }
    for (std::size_t r = begin; r < end && products_; ++r) {
      auto row = all.row(static_cast<Eigen::Index>(r));
      const auto size = static_cast<Eigen::Index>(d), own = static_cast<Eigen::Index>(column[r - begin]);
      for (std::size_t i = 0; i < features_.known(); ++i) {
        const double x = std::clamp(c(r, features_.known(i)), -largest_factor, largest_factor);
        row.segment(own + static_cast<Eigen::Index>(d + others + i * d), size) = x * row.segment(own, size);
      }
    }
    // Where the network overflows it says nothing: the statistic is zero there, for observed and simulated records.
    for (std::size_t r = begin; r < end; ++r) {
      if (!all.row(static_cast<Eigen::Index>(r)).allFinite()) all.row(static_cast<Eigen::Index>(r)).setZero();
    }
  });
  const auto rows_of_block = [&](std::size_t block) {
    const std::size_t begin = block * rows_at_once, end = std::min(c.rows, begin + rows_at_once);
    return all.middleRows(static_cast<Eigen::Index>(begin), static_cast<Eigen::Index>(end - begin));
  };
  share_items(
      ranks, (c.rows + rows_at_once - 1) / rows_at_once,
      [&](std::size_t block) {
        const Eigen::MatrixXd rows = rows_of_block(block);
        return BytesWriter().put_all(std::span(rows.data(), static_cast<std::size_t>(rows.size()))).take();
      },
      [&](std::size_t block, std::string_view bytes) {
        Eigen::MatrixXd rows = rows_of_block(block);
        BytesReader(bytes).get_all(std::span(rows.data(), static_cast<std::size_t>(rows.size())));
        rows_of_block(block) = rows;
      });
  return all;
}

Whitener::Whitener(const Eigen::MatrixXd& first, const Eigen::MatrixXd& second, double cut_at) {
  const Eigen::Index m = first.cols(), n = first.rows();
  low_ = Eigen::VectorXd(m);
  high_ = Eigen::VectorXd(m);
  Eigen::MatrixXd difference(n, m);
  for (Eigen::Index j = 0; j < m; ++j) {
    std::vector<double> column;
    for (const Eigen::MatrixXd* each : {&first, &second}) {
      std::ranges::copy_if(each->col(j), std::back_inserter(column), [](double value) { return value != 0; });
    }
    if (column.empty()) column.push_back(0);
    const double middle = quantile(column, 0.5);
    double width = deviation_of_quartiles(column);
    if (!(width > 0)) {  // of states that mostly stay where they are
      double square = 0;
      for (const double value : column) square += (value - middle) * (value - middle);
      width = std::sqrt(square / static_cast<double>(column.size()));
    }
    low_[j] = middle - cut_at * width;
    high_[j] = middle + cut_at * width;
    low_[j] = std::min(low_[j], 0.0);
    high_[j] = std::max(high_[j], 0.0);
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
