#include "catena/sample/correct/correct.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "catena/core/check.h"
#include "catena/core/stopwatch.h"
#include "catena/sample/correct/simulated.h"
#include "catena/sample/correct/statistic.h"
#include "catena/sample/density_posterior.h"
#include "catena/sample/mcmc/chains.h"
#include "catena/sample/mcmc/start/maximise.h"
#include "catena/sample/posterior_map.h"

namespace catena::sample {
namespace {

constexpr std::size_t most_modes = 8;    // of a posterior
constexpr std::size_t most_anchors = 4;  // of them whose log q the statistic compares
constexpr std::size_t cloud_points = 4000;
constexpr double first_width = 2, next_width = 2, last_width = 1.5;  // of a cloud, in widths of the posterior
constexpr double explored_share = 0.1;                               // of the budget, for each round but the last
constexpr double most_explored = 0.4;                                // of the budget, for all of them
constexpr std::size_t most_rounds = 12;
constexpr std::pair<std::size_t, std::size_t> few_records{16, 50};  // that show modes which a long series hides
constexpr std::size_t most_sampled = 1000;                          // records of a learned posterior that is drawn from
constexpr double few_width = 1.5;           // of the first cloud, in widths of the posterior of few records
constexpr std::size_t fewest_records = 20;  // below this no sum is normal
constexpr double largest_non_normality = 0.1;
constexpr double least_signal = 0.02;  // of a direction's mean over the posterior, in its own variance
constexpr double noise_signal = 2;     // or so many times what the regression's noise makes of it

Matrix rows_of(ConstMatrixView from, const std::vector<std::size_t>& rows) {
  Matrix some(rows.size(), from.cols);
  for (std::size_t r = 0; r < rows.size(); ++r) std::ranges::copy(from.row(rows[r]), some.row(r).begin());
  return some;
}

/// Where simulations of a round start from: its parameters, and the modes that they were made around.
struct Cloud {
  Matrix z;
  double width = 1;  // of the cloud, in widths of the posterior
  Modes modes;       // of z
  Matrix anchors;    // one for each of them: the draw that is nearest to its middle
};

/// The modes of draws, the heaviest first.
Modes ordered_modes(ConstMatrixView draws) {
  Modes found = find_modes(draws, most_modes), ordered;
  std::vector<std::size_t> order(found.all.size()), place(found.all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t k) { return found.all[k].weight; });
  for (std::size_t k = 0; k < order.size(); ++k) {
    ordered.all.push_back(std::move(found.all[order[k]]));
    place[order[k]] = k;
  }
  for (const std::size_t k : found.of) ordered.of.push_back(place[k]);
  return ordered;
}

std::size_t mode_of(std::span<const Piece> pieces, std::span<const double> z) {
  std::size_t best = 0;
  double highest = -INFINITY;
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    const double likely = pieces[k].log_weight - 0.5 * pieces[k].u(z).squaredNorm();
    if (likely > highest) highest = likely, best = k;
  }
  return best;
}

/// The draw of each mode that is nearest to its middle.
Matrix anchors_of(ConstMatrixView draws, const Modes& modes) {
  const std::vector<Piece> pieces = pieces_of(modes);
  Matrix anchors(pieces.size(), draws.cols);
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    std::size_t nearest = 0;
    double least = INFINITY;
    for (std::size_t r = 0; r < draws.rows; ++r) {
      const double far = pieces[k].u(draws.row(r)).norm();
      if (far < least) least = far, nearest = r;
    }
    std::ranges::copy(draws.row(nearest), anchors.row(k).begin());
  }
  return anchors;
}

/// A cloud whose points belong to the modes of the posterior's draws, with the shapes that the points give them.
Cloud cloud_of(Matrix z, double width, ConstMatrixView draws, const Modes& modes) {
  const std::vector<Piece> pieces = pieces_of(modes);
  Cloud cloud{std::move(z), width, {}, anchors_of(draws, modes)};
  std::vector<std::vector<std::size_t>> rows(pieces.size());
  for (std::size_t r = 0; r < cloud.z.rows(); ++r) rows[mode_of(pieces, cloud.z.row(r))].push_back(r);
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    const double weight = static_cast<double>(rows[k].size()) / static_cast<double>(cloud.z.rows());
    const CloudShape shape = rows[k].size() > 2 * cloud.z.cols()
                                 ? CloudShape(rows_of(cloud.z, rows[k]))
                                 : CloudShape(modes.all[k].shape.mean, width * width * modes.all[k].shape.lower *
                                                                           modes.all[k].shape.lower.transpose());
    cloud.modes.all.push_back({std::max(weight, 1e-6), shape});
  }
  const std::vector<Piece> own = pieces_of(cloud.modes);
  for (std::size_t r = 0; r < cloud.z.rows(); ++r) cloud.modes.of.push_back(mode_of(own, cloud.z.row(r)));
  return cloud;
}

/// Every mode of the draws `width` times as wide, and all of them equally often: learned weights are not to be trusted.
Cloud widened(ConstMatrixView draws, const Modes& modes, double width, Stream stream) {
  std::vector<std::vector<std::size_t>> members(modes.all.size());
  for (std::size_t r = 0; r < draws.rows; ++r) members[modes.of[r]].push_back(r);
  const double more = std::sqrt(width * width - 1);
  Matrix z(cloud_points, draws.cols);
  Eigen::VectorXd normal(static_cast<Eigen::Index>(draws.cols));
  for (std::size_t i = 0; i < z.rows(); ++i) {
    const std::size_t mode = i % modes.all.size();
    const CloudShape& shape = modes.all[mode].shape;
    for (double& value : normal) value = stream.normal();
    const Eigen::VectorXd step = more * (shape.lower * normal);
    for (std::size_t f = 0; f < draws.cols; ++f) {
      const double from = members[mode].empty() ? shape.mean[static_cast<Eigen::Index>(f)]
                                                : draws(members[mode][i / modes.all.size() % members[mode].size()], f);
      z(i, f) = from + step[static_cast<Eigen::Index>(f)];
    }
  }
  return cloud_of(std::move(z), width, draws, modes);
}

McmcSettings quick_chains() {
  McmcSettings settings;
  settings.ess_per_draw = 0;
  settings.least_ess = 300;
  settings.largest_r_hat = 1.05;
  settings.most_steps = 4000;
  return settings;
}

/// How far sums of T of the statistic's values are from normal, as a bound of what the posterior's total variation
/// suffers: the Edgeworth terms of skewness κ₃/√T and excess kurtosis κ₄/T, in the worst direction.
double non_normality(const Eigen::MatrixXd& y, double records) {
  constexpr double of_skewness = 0.15, of_kurtosis = 0.065;  // ½ E|He₃|/6 and ½ E|He₄|/24, rounded up
  double worst = 0;
  for (Eigen::Index j = 0; j < y.cols(); ++j) {
    const Eigen::ArrayXd e = y.col(j).array() - y.col(j).mean();
    const double variance = e.square().mean();
    if (!(variance > 0)) continue;
    const double skewness = e.cube().mean() / std::pow(variance, 1.5);
    const double kurtosis = e.square().square().mean() / (variance * variance) - 3;
    worst = std::max(
        worst, of_skewness * std::abs(skewness) / std::sqrt(records) + of_kurtosis * std::abs(kurtosis) / records);
  }
  return worst;
}

Eigen::MatrixXd stacked(const std::vector<Eigen::MatrixXd>& parts) {
  Eigen::Index rows = 0;
  for (const auto& part : parts) rows += part.rows();
  Eigen::MatrixXd all(rows, parts[0].cols());
  rows = 0;
  for (const auto& part : parts) {
    all.middleRows(rows, part.rows()) = part;
    rows += part.rows();
  }
  return all;
}

Matrix stacked_rows(const std::vector<const Matrix*>& parts) {
  std::size_t rows = 0;
  for (const Matrix* part : parts) rows += part->rows();
  Matrix all(rows, parts[0]->cols());
  double* to = all.data();
  for (const Matrix* part : parts) to = std::ranges::copy(part->values(), to).out;
  return all;
}

std::vector<std::size_t> first_numbers(std::size_t count) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

Matrix finite_rows(const Matrix& draws) {
  std::vector<std::size_t> good;
  for (std::size_t r = 0; r < draws.rows(); ++r) {
    if (std::ranges::all_of(draws.row(r), [](double value) { return std::isfinite(value); })) good.push_back(r);
  }
  return rows_of(draws, good);
}

/// All that a correction does, round by round.
class Corrector {
 public:
  Corrector(std::string_view function, const CorrectionRequest& request, const Streams& streams,
            const Parallel& parallel, Progress& progress)
      : function_(function),
        request_(request),
        model_(request.posterior.model),
        prior_(model_.true_prior()),
        streams_(streams),
        parallel_(parallel),
        progress_(progress) {
    check_config(function, request.settings);
    check_simulator();
    observed_ = observed_series(function, request_.posterior);
    parts_ = parts_with_records(request_.posterior, observed_);
    if (parts_.size() == 1) strata_ = strata_of(model_.features, observed_.c);
    source_.emplace(request_.simulator, parts_, streams.child("records"), request_.settings.max_invalid, parallel);
  }

  /// The learned posterior: drawn from, or for long series, whose chains would take long, climbed to from the posterior
  /// of a few of the records and taken as normal around its modes (Laplace).
  PosteriorDraws learn() {
    const std::size_t records = observed_.transitions();
    few_ = std::clamp(records / 50, few_records.first, few_records.second);
    PosteriorDraws learned;
    if (records <= most_sampled) {
      learned = draw_posterior(request_.posterior, streams_.child("learned"), parallel_, progress_);
      learned_ = finite_rows(learned.z);
      check::at_least(function_, "the number of finite draws of the learned posterior", learned_.rows(),
                      std::size_t{10});
      for (std::size_t r = 0; r < learned_.rows(); ++r) {
        const std::vector<double> z(learned_.row(r).begin(), learned_.row(r).end());
        prior_.to_w(z, learned_.row(r));
      }
    } else {
      learned = climbed();
    }
    learned_modes_ = ordered_modes(learned_);
    return learned;
  }

  std::size_t records() const { return source_->records(); }
  const RecordSource& source() const { return *source_; }

  /// The first round: around the learned posterior, a part of its pairs at the anchor itself, for the certificate.
  Certificate certify_learned(std::size_t pairs, double width, double share_at_anchor) {
    const Cloud cloud = widened(learned_, learned_modes_, width, streams_.stream("widen"));
    const Matrix anchor = rows_of(cloud.anchors, {0});
    const auto at_anchor =
        source_->simulate(anchor, static_cast<std::size_t>(share_at_anchor * static_cast<double>(pairs)), progress_);
    keep(at_anchor);
    keep(source_->simulate(cloud.z, pairs - at_anchor[0].z.rows(), progress_));
    fit(cloud, 1);
    const Eigen::MatrixXd means = whitened_means(at_anchor);
    const std::vector<double> at(anchor.row(0).begin(), anchor.row(0).end());
    std::vector<std::size_t> mine;
    for (std::size_t r = 0; r < learned_.rows(); ++r) {
      if (learned_modes_.of[r] == 0) mine.push_back(r);
    }
    const Matrix around = rows_of(learned_, mine);
    const double steps = static_cast<double>(source_->spent()) / static_cast<double>(2 * pairs);
    return certify({*law_, means, at, around, prior_, steps}, request_.settings.false_alarms,
                   streams_.stream("certificate"));
  }

  /// Over a long series a small error of the network outweighs a mode that is as good as the others, or leads far away.
  /// Then it is better to begin with the posterior of a few of the records, which is wide.
  void begin_wide() {
    if (observed_.transitions() < 2 * few_) return;
    if (few_draws_.rows() == 0) few_draws_ = draws_of_few();
    if (few_draws_.rows() < 10) return;
    const Modes modes = ordered_modes(few_draws_);
    const bool is_long = observed_.transitions() >= 9 * few_;
    if (!is_long && strata_.empty() && !any_lost(modes)) return;
    const Cloud cloud = widened(few_draws_, modes, few_width, streams_.stream("widen", 0));
    keep(source_->simulate(cloud.z, exploring_pairs(), progress_));
    fit(cloud, 1);
  }

  /// Rounds until the posterior lies inside what was simulated, then one with all that is left.
  void correct() {
    begin_wide();
    const auto budget = static_cast<double>(request_.settings.budget);
    for (std::size_t round = 1; round < most_rounds; ++round) {
      const bool spent = static_cast<double>(source_->spent()) + explored_share * budget > most_explored * budget;
      const bool last = settle() || spent;
      const Cloud cloud = tempered(last ? last_width : next_width, round);
      const double left = budget - static_cast<double>(source_->spent());
      forget_far_pairs(cloud);
      const std::size_t pairs = last ? source_->pairs_for(static_cast<std::uint64_t>(left)) : exploring_pairs();
      keep(source_->simulate(cloud.z, pairs, progress_));
      fit(cloud, last ? most_anchors : 1);
      if (last) return;
    }
  }

  std::size_t exploring_pairs() const {
    return source_->pairs_for(
        static_cast<std::uint64_t>(explored_share * static_cast<double>(request_.settings.budget)));
  }

  /// Draws of the law as it is; whether they lie inside the cloud.
  bool settle() {
    const auto target = LawTarget(*law_, s_, prior_, LawPrior::truth, parallel_);
    McmcDraws draws = mcmc_sample(target, 1000, quick_chains(), streams_.child("settle", rounds_), parallel_);
    check::that(
        draws.z.rows() > 0, function_, "the corrected posterior", "nowhere finite",
        "finite somewhere among the simulated parameters: is this the simulator that the model was trained on?");
    provisional_ = std::move(draws.z);
    return inside(provisional_);
  }

  bool inside(ConstMatrixView z) const {
    const double reach = std::sqrt(static_cast<double>(z.cols)) + 1;
    std::size_t out = 0;
    for (std::size_t r = 0; r < z.rows; ++r) out += law_->distance(z.row(r)) > reach ? 1U : 0U;
    return out * 20 <= z.rows;
  }

  std::shared_ptr<const CorrectedPosterior> posterior() const {
    return std::make_shared<const CorrectedPosterior>(*law_, s_, prior_);
  }
  double non_normal() const { return non_normal_; }
  std::size_t rounds() const { return rounds_; }
  std::size_t anchors() const { return anchors_.rows(); }
  const NormalLaw& law() const { return *law_; }
  std::size_t pairs() const { return pairs_used_; }
  const compose::ObservedSeries& observed() const { return observed_; }

 private:
  Matrix draws_of_few() const {
    PosteriorRequest request = request_.posterior;
    request.draws = 1000;
    request.settings = sampler_settings(function_, model_.method, request.settings);
    const PosteriorSampler& sampler = posterior_samplers().at(function_, model_.method);
    const compose::ObservedSeries some = compose::thinned(inside_range(), few_);
    return finite_rows(sampler.draw(request, some, streams_.child("few"), parallel_, progress_).z);
  }

  /// The records that begin where the network has been, if there are enough of them.
  compose::ObservedSeries inside_range() const {
    std::vector<std::size_t> rows;
    for (std::size_t r = 0; r < observed_.transitions() && !strata_.empty(); ++r) {
      if (state_excess(model_.features, observed_.c.row(r)) <= 0) rows.push_back(r);
    }
    if (rows.size() < few_) return observed_;
    compose::ObservedSeries some;
    some.c = rows_of(observed_.c, rows);
    return some;
  }

  /// Whether one of the modes has no learned draws.
  bool any_lost(const Modes& modes) const {
    const double reach = std::sqrt(static_cast<double>(learned_.cols())) + 3;
    return std::ranges::any_of(pieces_of(modes), [&](const Piece& piece) {
      for (std::size_t r = 0; r < learned_.rows(); ++r) {
        if (piece.u(learned_.row(r)).norm() < reach) return false;
      }
      return true;
    });
  }

  /// Σ_t ŝ(c_t; z) and the prior's share: the gradient of the learned log posterior; its value if log q is known.
  GradientField learned_field() const {
    std::vector<std::shared_ptr<compose::RecordScores>> scores;
    for (const RecordPart& part : parts_) scores.push_back(compose::record_scores(function_, *part.model));
    return [this, scores](ConstMatrixView z, std::span<double> value, MatrixView gradient) {
      parallel_.for_each(z.rows, [&](std::size_t i) {
        value[i] = scores[0]->has_value() ? log_prior(z.row(i)) + prior_.log_weight(z.row(i)) : std::nan("");
        for (std::size_t f = 0; f < z.cols; ++f) gradient(i, f) = -z(i, f);
        prior_.add_log_weight_gradient(z.row(i), gradient.row(i));
        for (std::size_t k = 0; k < parts_.size(); ++k) {
          const Matrix& c = parts_[k].observed->c;
          Matrix score(c.rows(), z.cols);
          std::vector<double> values(scores[k]->has_value() ? c.rows() : 0);
          scores[k]->evaluate(c, z.row(i), score, values);
          for (std::size_t r = 0; r < c.rows(); ++r) {
            for (std::size_t f = 0; f < z.cols; ++f) gradient(i, f) += score(r, f);
            if (!values.empty()) value[i] += values[r];
          }
        }
      });
    };
  }

  /// Normal draws around the modes that are reached from the posterior of a few records.
  PosteriorDraws climbed() {
    few_draws_ = draws_of_few();
    check::at_least(function_, "the number of finite draws of the learned posterior", few_draws_.rows(),
                    std::size_t{10});
    const Modes modes = ordered_modes(few_draws_);
    std::vector<double> scale;
    const double narrower = std::sqrt(static_cast<double>(few_) / static_cast<double>(observed_.transitions()));
    const CloudShape shape(few_draws_, 1);
    for (const double width : shape.lower.diagonal()) scale.push_back(width * narrower);
    const Matrix starts = anchors_of(few_draws_, modes);
    std::vector<Maximum> maxima = maximise(learned_field(), starts, {.scale = scale});
    std::erase_if(maxima, [](const Maximum& each) { return !each.converged; });
    PosteriorDraws learned;
    learned.outcome = maxima.empty() ? Outcome::step_limit : Outcome::ok;
    learned.info = {{"method", model_.method}, {"approximation", maxima.empty() ? "few_records" : "laplace"}};
    learned_ = maxima.empty() ? few_draws_ : laplace_draws(maxima);
    learned.observed = observed_;
    learned.z = learned.theta = learned_;
    for (std::size_t r = 0; r < learned_.rows(); ++r) {
      prior_.to_z(learned_.row(r), learned.z.row(r));
      prior_.prior().to_theta(learned.z.row(r), learned.theta.row(r));
    }
    return learned;
  }

  Matrix laplace_draws(const std::vector<Maximum>& maxima) const {
    std::vector<Eigen::MatrixXd> roots;  // of the covariances
    std::vector<double> log_weight;
    for (const Maximum& each : maxima) {
      const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> axes(each.curvature);
      const Eigen::VectorXd precision = axes.eigenvalues().cwiseMax(1);  // no wider than the prior
      roots.emplace_back(axes.eigenvectors() * precision.cwiseSqrt().cwiseInverse().asDiagonal());
      const double value = std::isnan(each.value) ? 0 : each.value;
      log_weight.push_back(value - 0.5 * precision.array().log().sum());
    }
    const double highest = *std::ranges::max_element(log_weight);
    std::vector<double> until;  // sums of weights
    double sum = 0;
    for (const double each : log_weight) until.push_back(sum += std::exp(each - highest));
    Stream stream = streams_.stream("laplace");
    Matrix draws(request_.posterior.draws, model_.prior.size());
    Eigen::VectorXd normal(static_cast<Eigen::Index>(draws.cols()));
    for (std::size_t r = 0; r < draws.rows(); ++r) {
      const double u = stream.uniform() * sum;
      std::size_t k = 0;
      while (k + 1 < until.size() && until[k] < u) ++k;
      for (double& value : normal) value = stream.normal();
      const Eigen::VectorXd step = roots[k] * normal;
      for (std::size_t f = 0; f < draws.cols(); ++f) draws(r, f) = maxima[k].z[f] + step[static_cast<Eigen::Index>(f)];
    }
    return draws;
  }

  void check_simulator() const {
    const simulate::Simulator& simulator = request_.simulator.simulator;
    const std::vector<std::string>& names = prior_.prior().names();
    check::that(simulator.parameter_names == names, function_, "the parameters of the simulator",
                fmt::format("{}", fmt::join(simulator.parameter_names, ", ")),
                fmt::format("those of the model, {}", fmt::join(names, ", ")));
    check::equal(function_, "the number of states of the simulator", simulator.states(), model_.features.states());
    for (const model::TrainedModel* companion : request_.posterior.companions) {
      check::that(!companion->features.shape().initial() || request_.simulator.initial_given_theta, function_,
                  "the initial state of the simulator", "independent of theta",
                  fmt::format("a function of theta, as {} has it", companion->source));
    }
    const simulate::RecordShape& shape = model_.features.shape();
    check::that(shape.initial() || shape.order == simulator.order, function_, "the order of the simulator",
                simulator.order, fmt::format("{}, that of the model", shape.order));
  }

  void keep(std::vector<PairRecords> made) {
    for (PairRecords& part : made) kept_.push_back(std::move(part));
  }

  /// Those of earlier rounds count as far as they lie in this one's cloud: which ones is decided by z alone.
  void forget_far_pairs(const Cloud& cloud) {
    const std::vector<Piece> pieces = pieces_of(cloud.modes);
    const double reach = std::sqrt(static_cast<double>(cloud.z.cols())) + 1;
    for (PairRecords& part : kept_) {
      std::vector<std::size_t> near;
      for (std::size_t r = 0; r < part.z.rows(); ++r) {
        const auto z = part.z.row(r);
        if (std::ranges::any_of(pieces, [&](const Piece& piece) { return piece.u(z).norm() < reach; }))
          near.push_back(r);
      }
      part = {part.part, rows_of(part.z, near), rows_of(part.first, near), rows_of(part.second, near)};
    }
    std::erase_if(kept_, [](const PairRecords& part) { return part.z.rows() == 0; });
  }

  /// Statistic, its whitening and the law, from all pairs that are kept.
  void fit(const Cloud& cloud, std::size_t anchors) {
    statistics_.clear();
    anchors_ = rows_of(cloud.anchors, first_numbers(std::min(anchors, cloud.anchors.rows())));
    for (const RecordPart& part : parts_) statistics_.emplace_back(function_, *part.model, anchors_, strata_);
    std::vector<Eigen::MatrixXd> first, second;
    std::vector<const Matrix*> z;
    for (const PairRecords& part : kept_) {
      first.push_back(statistics_[part.part].raw(part.first, parallel_));
      second.push_back(statistics_[part.part].raw(part.second, parallel_));
      z.push_back(&part.z);
    }
    SimulatedPairs pairs{stacked_rows(z), stacked(first), stacked(second)};
    whitener_ = Whitener(pairs.first, pairs.second);
    pairs_used_ = pairs.z.rows();
    const auto law_of = [&] {
      const SimulatedPairs white{pairs.z, whitener_.apply(pairs.first), whitener_.apply(pairs.second)};
      non_normal_ = non_normality(white.first, static_cast<double>(source_->records()));
      law_.emplace(white, cloud.modes, claims(cloud.modes.all.size()), source_->records(), request_.settings.degree,
                   parallel_);
    };
    law_of();
    const Eigen::MatrixXd informative = informative_directions(cloud);
    if (informative.cols() < informative.rows()) {
      whitener_.project(informative);
      law_of();
    }

    s_ = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(whitener_.size()));
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      s_ += whitener_.apply(statistics_[k].raw(parts_[k].observed->c, parallel_)).colwise().sum().transpose();
    }
    ++rounds_;
  }

  /// The directions of the whitened statistic whose mean differs over the posterior by something that counts beside
  /// their own noise; the others tell nothing and would add the noise of their regression. Within a mode the cloud is
  /// `width` times as wide as the posterior.
  Eigen::MatrixXd informative_directions(const Cloud& cloud) const {
    const Modes& modes = cloud.modes;
    const auto m = static_cast<Eigen::Index>(whitener_.size());
    const std::size_t count = modes.all.size();
    std::vector<Eigen::MatrixXd> scatter(count, Eigen::MatrixXd::Zero(m, m));
    Eigen::MatrixXd means = Eigen::MatrixXd::Zero(m, static_cast<Eigen::Index>(count));
    std::vector<double> points(count, 0.0);
    double noise = 0;
    for (std::size_t i = 0; i < cloud.z.rows(); ++i) {
      const Eigen::VectorXd mu = law_->mean(cloud.z.row(i));
      scatter[modes.of[i]] += mu * mu.transpose();
      means.col(static_cast<Eigen::Index>(modes.of[i])) += mu;
      points[modes.of[i]] += 1;
      noise += law_->noise(cloud.z.row(i));
    }
    Eigen::MatrixXd within = Eigen::MatrixXd::Zero(m, m), between = Eigen::MatrixXd::Zero(m, m);
    const Eigen::VectorXd middle = means.rowwise().sum() / static_cast<double>(cloud.z.rows());
    for (std::size_t k = 0; k < count; ++k) {
      if (points[k] == 0) continue;
      const Eigen::VectorXd mean = means.col(static_cast<Eigen::Index>(k)) / points[k];
      within += scatter[k] - points[k] * mean * mean.transpose();
      between += points[k] * (mean - middle) * (mean - middle).transpose();
    }
    const double scale = static_cast<double>(source_->records()) / static_cast<double>(cloud.z.rows());
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> axes(scale * (within / (cloud.width * cloud.width) + between));
    const auto least = std::min(m, static_cast<Eigen::Index>(anchors_.cols()));
    Eigen::Index kept = 0;
    const double bound = std::max(least_signal, noise_signal * scale * noise);
    while (kept < m && (kept < least || axes.eigenvalues()[m - 1 - kept] > bound)) ++kept;
    return axes.eigenvectors().rightCols(kept);
  }

  /// What the network says at the first anchor; nothing for the other modes.
  std::vector<LawClaim> claims(std::size_t modes) const {
    const auto d = static_cast<Eigen::Index>(anchors_.cols());
    LawClaim first{Eigen::Map<const Eigen::VectorXd>(anchors_.row(0).data(), d),
                   Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(whitener_.size()), d)};
    const std::size_t strata = strata_.size() + 1, per_stratum = statistics_[0].raw_size() / strata;
    for (std::size_t g = 0; g < strata; ++g) {
      first.slope += whitener_.covariance_with(g * per_stratum, anchors_.cols());
    }
    std::vector<LawClaim> all(modes, first);
    for (std::size_t k = 1; k < modes; ++k) all[k].slope.setZero();
    return all;
  }

  /// Around the law as it is, `width` times as wide: its likelihood to the power 1/width².
  Cloud tempered(double width, std::size_t round) const {
    const LawTarget target(*law_, s_, prior_, LawPrior::truth, parallel_);
    const TemperedTarget wide(target, 1 / (width * width));
    McmcDraws draws = mcmc_sample(wide, cloud_points, quick_chains(), streams_.child("cloud", round), parallel_);
    if (draws.z.rows() == 0) {
      return widened(provisional_, ordered_modes(provisional_), width, streams_.stream("widen", round));
    }
    return cloud_of(std::move(draws.z), width, provisional_, ordered_modes(provisional_));
  }

  Eigen::MatrixXd whitened_means(const std::vector<PairRecords>& made) const {
    std::vector<Eigen::MatrixXd> means;
    for (const PairRecords& part : made) {
      if (part.z.rows() == 0) continue;
      means.push_back(0.5 * (whitener_.apply(statistics_[part.part].raw(part.first, parallel_)) +
                             whitener_.apply(statistics_[part.part].raw(part.second, parallel_))));
    }
    return stacked(means);
  }

  std::string_view function_;
  const CorrectionRequest& request_;
  const model::TrainedModel& model_;
  prior::TruePrior prior_;
  Streams streams_;
  Parallel parallel_;
  Progress& progress_;
  compose::ObservedSeries observed_;
  std::vector<RecordPart> parts_;
  std::vector<double> strata_;  // of the states; several parts have one stratum each
  std::optional<RecordSource> source_;

  Matrix learned_, few_draws_, anchors_, provisional_;
  std::size_t few_ = 0;  // records whose posterior is wide
  Modes learned_modes_;
  std::vector<PairRecords> kept_;
  std::vector<Statistic> statistics_;  // of each part
  Whitener whitener_;
  std::optional<NormalLaw> law_;
  Eigen::VectorXd s_;
  double non_normal_ = 0;
  std::size_t rounds_ = 0, pairs_used_ = 0;
};

std::uint64_t budget_of(const CorrectionRequest& request) {
  return static_cast<std::uint64_t>(request.settings.budget);
}

}  // namespace

CorrectedPosterior::CorrectedPosterior(NormalLaw law, Eigen::VectorXd s, prior::TruePrior prior)
    : law_(std::move(law)), s_(std::move(s)), prior_(std::move(prior)) {}

std::unique_ptr<Target> CorrectedPosterior::target(LawPrior which, const Parallel& parallel) const {
  return std::make_unique<LawTarget>(law_, s_, prior_, which, parallel);
}

PosteriorDraws CorrectedPosterior::draw(std::size_t count, const Streams& streams, const Parallel& parallel,
                                        Progress& progress) const {
  const McmcSettings settings;
  McmcDraws made =
      mcmc_sample(*target(LawPrior::truth, parallel), count, settings, streams.child("corrected"), parallel, progress);
  PosteriorDraws draws;
  draws.outcome = made.info.outcome;
  draws.info = chains_info(made.info);
  draws.z = std::move(made.z);
  draws.theta = Matrix(draws.z.rows(), draws.z.cols());
  for (std::size_t k = 0; k < draws.z.rows(); ++k) {
    const std::vector<double> w(draws.z.row(k).begin(), draws.z.row(k).end());
    prior_.to_z(w, draws.z.row(k));
    prior_.prior().to_theta(draws.z.row(k), draws.theta.row(k));
  }
  return draws;
}

std::vector<double> CorrectedPosterior::log_prob(ConstMatrixView theta, const Parallel& parallel) const {
  return log_prob_of_target(*target(LawPrior::networks, parallel), prior_, theta);
}

MapEstimate CorrectedPosterior::map(const Streams& streams, Progress& progress) const {
  MapEstimate found = map_of_target(*target(LawPrior::networks, Parallel(1)), prior_, streams, progress);
  found.theta.resize(found.z.size());
  if (!found.z.empty()) {
    prior_.to_z(std::vector(found.z), found.z);
    prior_.prior().to_theta(found.z, found.theta);
  }
  return found;
}

Correction correct_posterior(const CorrectionRequest& request, const Streams& streams, const Parallel& parallel,
                             Progress& progress) {
  const Stopwatch watch;
  Corrector corrector("correct", request, streams, parallel, progress);
  Correction result;
  result.learned = corrector.learn();
  const double learning = watch.seconds();
  const auto pairs = corrector.source().pairs_for(
      static_cast<std::uint64_t>(explored_share * static_cast<double>(budget_of(request))));
  result.certificate = corrector.certify_learned(std::max<std::size_t>(pairs, 20), first_width, 0.3);
  if (corrector.records() < fewest_records) {
    result.not_corrected =
        fmt::format("{} records are too few for the sum of their scores to be normal", corrector.records());
  } else if (corrector.non_normal() > largest_non_normality) {
    result.not_corrected = "the sum of the learned scores over this series is not normal yet";
  } else {
    corrector.correct();
    if (corrector.non_normal() > largest_non_normality) {
      result.not_corrected = "the sum of the learned scores over this series is not normal yet";
    } else {
      result.posterior = corrector.posterior();
    }
  }
  if (result.posterior) {
    result.corrected = result.posterior->draw(request.posterior.draws, streams.child("posterior"), parallel, progress);
    result.corrected.observed = result.learned.observed;
    Matrix w = result.corrected.z;
    for (std::size_t r = 0; r < w.rows(); ++r) result.posterior->prior().to_w(result.corrected.z.row(r), w.row(r));
    if (!corrector.inside(w) && result.corrected.outcome == Outcome::ok)
      result.corrected.outcome = Outcome::not_settled;
  }
  if (!result.not_corrected.empty()) result.corrected = result.learned;
  result.info = {{"method", request.posterior.model.method},
                 {"corrected", result.not_corrected.empty()},
                 {"transitions", corrector.observed().all_transitions()},
                 {"budget", request.settings.budget},
                 {"spent", corrector.source().spent()},
                 {"invalid", corrector.source().invalid()},
                 {"rounds", corrector.rounds()},
                 {"anchors", corrector.anchors()},
                 {"pairs", corrector.pairs()},
                 {"pieces", corrector.law().basis().pieces().size()},
                 {"degree", corrector.law().basis().degree()},
                 {"variance_degree", corrector.law().variance_degree()},
                 {"coefficients", corrector.law().effective()},
                 {"non_normality", corrector.non_normal()},
                 {"settings", to_json(request.settings)},
                 {"seconds", {{"learned", learning}, {"correct", watch.seconds() - learning}}}};
  if (!result.not_corrected.empty()) result.info["not_corrected"] = result.not_corrected;
  return result;
}

Draws corrected_draws(const CorrectionRequest& request, const Correction& found, std::uint64_t seed) {
  Draws draws = draws_of(request.posterior, found.corrected, seed);
  if (found.not_corrected.empty()) draws.learned = found.learned.theta;
  draws.record["correction"] = found.info.dump();
  draws.record["certificate"] = found.certificate.to_json().dump();
  return draws;
}

Check check_posterior(const CorrectionRequest& request, const Streams& streams, const Parallel& parallel,
                      Progress& progress) {
  const Stopwatch watch;
  Corrector corrector("check", request, streams, parallel, progress);
  Check result;
  result.learned = corrector.learn();
  const double learning = watch.seconds();
  result.certificate = corrector.certify_learned(corrector.source().pairs_for(budget_of(request)), last_width, 0.5);
  result.info = {{"method", request.posterior.model.method},
                 {"transitions", corrector.observed().all_transitions()},
                 {"spent", corrector.source().spent()},
                 {"invalid", corrector.source().invalid()},
                 {"settings", to_json(request.settings)},
                 {"seconds", {{"learned", learning}, {"check", watch.seconds() - learning}}}};
  return result;
}

}  // namespace catena::sample
