#include "catena/compose/scores/joined_scores.h"

#include <algorithm>

#include "catena/core/check.h"

namespace catena::compose {
namespace {

/// The sum of the parts' sums.
class JoinedSums final : public SummedScores {
 public:
  JoinedSums(std::vector<std::unique_ptr<SummedScores>> parts, std::vector<LocalPrecisions> precisions)
      : precisions_(std::move(precisions)), parts_(std::move(parts)) {}

  void operator()(ConstMatrixView theta_a, double a, MatrixView sum, MatrixView weighted) const override {
    (*parts_.front())(theta_a, a, sum, weighted);
    Matrix more(theta_a.rows, theta_a.cols), more_weighted(weighted.rows, weighted.cols);
    for (std::size_t k = 1; k < parts_.size(); ++k) {
      (*parts_[k])(theta_a, a, more, more_weighted);
      for (std::size_t r = 0; r < theta_a.rows; ++r) {
        for (std::size_t i = 0; i < theta_a.cols; ++i) {
          sum(r, i) += more(r, i);
          if (weighted.rows > 0) weighted(r, i) += more_weighted(r, i);
        }
      }
    }
  }

 private:
  std::vector<LocalPrecisions> precisions_;  // that the parts look at
  std::vector<std::unique_ptr<SummedScores>> parts_;
};

class JoinedScores final : public LocalScores {
 public:
  explicit JoinedScores(std::vector<std::unique_ptr<LocalScores>> parts) : parts_(std::move(parts)) {
    for (const auto& part : parts_) {
      CATENA_ASSERT(part->dimension() == parts_.front()->dimension());
      transitions_ += part->transitions();
    }
  }

  std::size_t transitions() const override { return transitions_; }
  std::size_t dimension() const override { return parts_.front()->dimension(); }
  bool has_jacobians() const override {
    return std::ranges::all_of(parts_, [](const auto& part) { return part->has_jacobians(); });
  }

  void scores(ConstMatrixView theta_a, double a, std::size_t begin, std::size_t end, MatrixView out) const override {
    for_parts(begin, end, [&](const LocalScores& part, std::size_t from, std::size_t to, std::size_t at) {
      part.scores(theta_a, a, from, to, out.slice_rows(at * theta_a.rows, (at + to - from) * theta_a.rows));
    });
  }
  void scores_and_jacobians(ConstMatrixView theta_a, double a, std::size_t begin, std::size_t end, MatrixView out,
                            MatrixView jacobians) const override {
    for_parts(begin, end, [&](const LocalScores& part, std::size_t from, std::size_t to, std::size_t at) {
      const std::size_t first = at * theta_a.rows, last = (at + to - from) * theta_a.rows;
      part.scores_and_jacobians(theta_a, a, from, to, out.slice_rows(first, last), jacobians.slice_rows(first, last));
    });
  }

  std::unique_ptr<SummedScores> summed(const LocalPrecisions& precisions) const override {
    std::vector<LocalPrecisions> own;
    std::vector<std::unique_ptr<SummedScores>> sums;
    std::size_t begin = 0;
    for (const auto& part : parts_) {
      const std::size_t rows = precisions.rows() > 0 ? part->transitions() : 0;
      LocalPrecisions mine(rows, precisions.cols());
      std::ranges::copy(precisions.values().subspan(begin * precisions.cols(), rows * precisions.cols()),
                        mine.values().begin());
      own.push_back(std::move(mine));
      begin += rows;
    }
    for (std::size_t k = 0; k < parts_.size(); ++k) sums.push_back(sums_of(*parts_[k], own[k]));
    return std::make_unique<JoinedSums>(std::move(sums), std::move(own));
  }

 private:
  /// visit(part, from, to, place of `from` in the result) for the pieces of [begin, end).
  template <class Visit>
  void for_parts(std::size_t begin, std::size_t end, const Visit& visit) const {
    std::size_t first = 0;
    for (const auto& part : parts_) {
      const std::size_t last = first + part->transitions(), from = std::max(begin, first), to = std::min(end, last);
      if (from < to) visit(*part, from - first, to - first, from - begin);
      first = last;
    }
  }

  std::vector<std::unique_ptr<LocalScores>> parts_;
  std::size_t transitions_ = 0;
};

}  // namespace

std::unique_ptr<LocalScores> joined_scores(std::vector<std::unique_ptr<LocalScores>> parts) {
  CATENA_ASSERT(!parts.empty());
  if (parts.size() == 1) return std::move(parts.front());
  return std::make_unique<JoinedScores>(std::move(parts));
}

LocalPrecisions joined_precisions(const std::vector<LocalPrecisions>& parts) {
  if (parts.size() == 1) return parts.front();
  std::size_t rows = 0, columns = 0;
  for (const LocalPrecisions& part : parts) {
    rows += part.rows();
    columns = std::max(columns, part.cols());
  }
  LocalPrecisions result(rows, columns);
  std::size_t at = 0;
  for (const LocalPrecisions& part : parts) {
    for (std::size_t r = 0; r < part.rows(); ++r, ++at) {
      const std::size_t d = part.cols();
      for (std::size_t i = 0; i < d; ++i) result(at, d == columns ? i : i * (d + 1)) = part(r, i);
    }
  }
  return result;
}

}  // namespace catena::compose
