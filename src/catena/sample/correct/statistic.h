/// The statistic of a record that correction by simulation looks at: the learned score at one anchor ẑ_1 and, where
/// log q is known and the posterior has several modes, what it says for the others,
///
///   y = ( ŝ(c; ẑ_1), log q(c; ẑ_2) − log q(c; ẑ_1), … , ŝ(c; ẑ_1) ⊗ x ),
///
/// for each stratum of states on its own: where states lie outside the training range the network may say anything, and
/// what it says there must not drown the rest. Values are cut at some robust standard deviations and whitened: what is
/// left are directions in which simulated records differ. Any statistic gives an unbiased posterior; this one is near
/// to sufficient if the network is near to right. The products with what is known of the state x, which only a large
/// budget pays for, mend a network that weighs records wrongly: one that takes its own error for noise of the simulator
/// does.
#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "catena/compose/observed_series.h"
#include "catena/compose/scores/record_scores.h"
#include "catena/core/parallel.h"
#include "catena/simulate/transitions/columns.h"

namespace catena::sample {

/// What one model sees of simulated records, as their networks take it.
Matrix features_of(const model::TrainedModel& model, const simulate::TransitionRows& rows, const Parallel& parallel);

/// How far outside the training range the state of a record lies, from its features, in standard deviations of the
/// worst coordinate; 0 inside. The record's next state does not count.
double state_excess(const model::Features& features, std::span<const double> c);

/// Between which excesses strata of the observed states lie: none if nearly all states are inside.
std::vector<double> strata_of(const model::Features& features, ConstMatrixView c);

class Statistic {
 public:
  /// Anchors in the networks' z-space, one a row.
  Statistic(std::string_view function, const model::TrainedModel& model, Matrix anchors, std::vector<double> strata,
            bool products);

  /// Before whitening: d scores, K − 1 comparisons where log q is known, and the products, for each stratum.
  std::size_t raw_size() const { return per_stratum() * (strata_.size() + 1); }
  /// Of records with features c, one a row.
  Eigen::MatrixXd raw(ConstMatrixView c, const Parallel& parallel) const;

 private:
  std::size_t comparisons() const { return scores_->has_value() ? anchors_.rows() - 1 : 0; }
  std::size_t per_stratum() const;
  const model::Features& features_;
  Matrix anchors_;
  std::vector<double> strata_;  // a record is in the first whose bound its excess does not pass
  bool products_;
  std::unique_ptr<compose::RecordScores> scores_;
};

/// How raw statistics become whitened ones: learned from pairs of simulated ones, applied to all.
class Whitener {
 public:
  Whitener() = default;
  /// Rows of `first` and `second` are pairs from the same state and z; zeros are of other strata. Values are cut so
  /// many robust standard deviations from their middle.
  Whitener(const Eigen::MatrixXd& first, const Eigen::MatrixXd& second, double cut_at);

  std::size_t size() const { return static_cast<std::size_t>(to_white_.rows()); }
  Eigen::MatrixXd apply(const Eigen::MatrixXd& raw) const;
  /// Cov[whitened, raw column j] for the columns begin … begin + count − 1: the slope of the whitened statistic's mean
  /// in z at an anchor, if the network is right.
  Eigen::MatrixXd covariance_with(std::size_t begin, std::size_t count) const;
  /// Keeps only the part of the whitened statistic in the given directions, orthonormal columns.
  void project(const Eigen::MatrixXd& directions) { to_white_ = directions.transpose() * to_white_; }

 private:
  Eigen::VectorXd low_, high_;
  Eigen::MatrixXd to_white_, covariance_;
};

}  // namespace catena::sample
