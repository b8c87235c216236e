#include "catena/sample/correct/correct.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "catena/core/check.h"
#include "catena/core/stopwatch.h"
#include "catena/sample/correct/cloud.h"
#include "catena/sample/correct/learned.h"
#include "catena/sample/correct/normality.h"
#include "catena/sample/correct/simulated.h"
#include "catena/sample/correct/statistic.h"
#include "catena/sample/judgement/judge.h"
#include "catena/sample/mcmc/chains.h"

namespace catena::sample {
namespace {

constexpr std::size_t most_anchors = 4;                              // modes whose log q the statistic compares
constexpr double first_width = 2, next_width = 2, last_width = 1.5;  // of a cloud, in widths of the posterior
constexpr double explored_share = 0.1;                               // of the budget, for each round but the last
constexpr double most_explored = 0.4;                                // of the budget, for all of them
constexpr std::size_t most_rounds = 12;
constexpr double few_width = 1.5;             // of the first cloud, in widths of the posterior of few records
constexpr double repeats_for_products = 300;  // of each record in the budget: enough to learn how the products weigh
constexpr std::size_t most_products = 40;
constexpr std::size_t fewest_records = 20;  // below this no sum is normal
constexpr double largest_non_normality = 0.1;
/// Where statistics are cut, in robust standard deviations: the first at which their sum is normal. A network that runs
/// wild at some states has tails; cut, they say less, and what they say is as true.
constexpr std::array cuts{8.0, 4.0, 2.0};
constexpr double least_signal = 0.02;  // of a direction's mean over the posterior, in its own variance
constexpr double noise_signal = 2;     // or so many times what the regression's noise makes of it

McmcSettings quick_chains() {
  McmcSettings settings;
  settings.ess_per_draw = 0;
  settings.least_ess = 300;
  settings.largest_r_hat = 1.05;
  settings.most_steps = 4000;
  return settings;
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

/// What the networks say of all pairs that are kept and of what was observed, before anything is cut or whitened.
struct RawStatistics {
  Matrix anchors;
  bool products;
  std::vector<Statistic> of_part;
  SimulatedPairs pairs;
  std::vector<Eigen::MatrixXd> observed;  // of each part
};

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
    compose::record_scores(function, model_);  // refuses a method that has none before anything is simulated
    check_simulator(function, request.simulator, model_, request.posterior.companions);
    observed_ = observed_series(function, request_.posterior);
    parts_ = parts_with_records(request_.posterior, observed_);
    if (parts_.size() == 1) strata_ = strata_of(model_.features, observed_.c);
    source_.emplace(request_.simulator, parts_, streams.child("records"), request_.settings.max_invalid,
                    request_.answers, parallel);
  }

  PosteriorDraws learn() {
    learned_.emplace(LearnedInput{function_, request_.posterior, observed_, parts_, prior_, !strata_.empty(), streams_,
                                  parallel_, progress_});
    return learned_->draws();
  }

  std::size_t records() const { return source_->records(); }
  bool normal() const { return records() >= fewest_records && non_normal_ <= largest_non_normality; }
  const RecordSource& source() const { return *source_; }

  /// The first round: around the learned posterior, a part of its pairs at the anchor itself, for the certificate.
  Certificate certify_learned(std::size_t pairs, double width, double share_at_anchor) {
    const Cloud cloud = widened(learned_->z(), learned_->modes(), width, streams_.stream("widen"));
    const Matrix anchor = rows_of(cloud.anchors, first_numbers(1));
    const auto at_anchor =
        source_->simulate(anchor, static_cast<std::size_t>(share_at_anchor * static_cast<double>(pairs)), progress_);
    keep(at_anchor);
    keep(source_->simulate(cloud.z, pairs - at_anchor[0].z.rows(), progress_));
    fit(cloud, 1);
    const Eigen::MatrixXd means = whitened_means(at_anchor);
    const std::vector<double> at(anchor.row(0).begin(), anchor.row(0).end());
    std::vector<std::size_t> mine;
    for (std::size_t r = 0; r < learned_->z().rows(); ++r) {
      if (learned_->modes().of[r] == 0) mine.push_back(r);
    }
    const Matrix around = rows_of(learned_->z(), mine);
    const double steps = static_cast<double>(source_->spent()) / static_cast<double>(2 * pairs);
    return certify({*law_, means, at, around, prior_, steps, normal()}, request_.settings.false_alarms,
                   streams_.stream("certificate"));
  }

  /// Over a long series a small error of the network outweighs a mode that is as good as the others, or leads far away.
  /// Then it is better to begin with the posterior of a few of the records, which is wide.
  void begin_wide() {
    const std::size_t few = learned_->few();
    if (observed_.transitions() < 2 * few || learned_->z_of_few().rows() < 10) return;
    const Modes modes = ordered_modes(learned_->z_of_few());
    const bool is_long = observed_.transitions() >= 9 * few;
    if (!is_long && strata_.empty() && !learned_->any_lost(modes)) return;
    const Cloud cloud = widened(learned_->z_of_few(), modes, few_width, streams_.stream("widen", 0));
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
  double cut() const { return cut_; }
  std::size_t rounds() const { return rounds_; }
  std::size_t anchors() const { return raw_used_->anchors.rows(); }
  const NormalLaw& law() const { return *law_; }
  std::size_t pairs() const { return raw_used_->pairs.z.rows(); }
  const compose::ObservedSeries& observed() const { return observed_; }

 private:
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
        if (std::ranges::any_of(pieces, [&](const Piece& piece) { return piece.u(z).norm() < reach; })) {
          near.push_back(r);
        }
      }
      part = some_pairs(part, near);
    }
    std::erase_if(kept_, [](const PairRecords& part) { return part.z.rows() == 0; });
  }

  /// Statistic, its whitening and the law, from all pairs that are kept.
  void fit(const Cloud& cloud, std::size_t anchors) {
    raw_.clear();
    for (const double cut : cuts) {
      fit_cut(cloud, std::min(anchors, cloud.anchors.rows()), cut);
      if (non_normal_ <= largest_non_normality) break;
    }
    ++rounds_;
  }

  /// What is said beside the scores goes if its sum is not normal: products, and comparisons unless modes must be
  /// weighed.
  void fit_cut(const Cloud& cloud, std::size_t anchors, double cut) {
    cut_ = cut;
    const double repeats = static_cast<double>(request_.settings.budget) / static_cast<double>(source_->records());
    const std::size_t products = parts_[0].model->features.known() * cloud.anchors.cols();
    const bool affordable = repeats >= repeats_for_products && products <= most_products;
    if (affordable) fit(cloud, anchors, true);
    if (!affordable || non_normal_ > largest_non_normality) fit(cloud, anchors, false);
    if (non_normal_ > largest_non_normality && anchors > 1 && cloud.modes.all.size() == 1) fit(cloud, 1, false);
  }

  /// The networks run once for each choice of anchors and products, whatever the cuts.
  const RawStatistics& raw_statistics(const Cloud& cloud, std::size_t anchors, bool products) {
    for (const auto& known : raw_) {
      if (known->anchors.rows() == anchors && known->products == products) return *known;
    }
    auto made = std::make_unique<RawStatistics>(
        RawStatistics{rows_of(cloud.anchors, first_numbers(anchors)), products, {}, {}, {}});
    for (const RecordPart& part : parts_) {
      made->of_part.emplace_back(function_, *part.model, made->anchors, strata_, products);
      made->observed.push_back(made->of_part.back().raw(part.observed->c, parallel_));
    }
    std::vector<Eigen::MatrixXd> first, second;
    std::vector<const Matrix*> z;
    for (const PairRecords& part : kept_) {
      first.push_back(made->of_part[part.part].raw(part.first, parallel_));
      second.push_back(made->of_part[part.part].raw(part.second, parallel_));
      z.push_back(&part.z);
      made->pairs.record.insert(made->pairs.record.end(), part.record.begin(), part.record.end());
    }
    made->pairs.z = stacked_rows(z);
    made->pairs.first = stacked(first);
    made->pairs.second = stacked(second);
    return *raw_.emplace_back(std::move(made));
  }

  void fit(const Cloud& cloud, std::size_t anchors, bool products) {
    raw_used_ = &raw_statistics(cloud, anchors, products);
    const SimulatedPairs& pairs = raw_used_->pairs;
    whitener_ = Whitener(pairs.first, pairs.second, cut_);
    const auto law_of = [&] {
      const SimulatedPairs white{pairs.z, whitener_.apply(pairs.first), whitener_.apply(pairs.second), pairs.record};
      law_.emplace(white, cloud.modes, claims(cloud.modes.all.size()), source_->records(), request_.settings.degree,
                   parallel_);
      non_normal_ = non_normality(*law_, white);
    };
    law_of();
    const Eigen::MatrixXd informative = informative_directions(cloud);
    if (informative.cols() < informative.rows()) {
      whitener_.project(informative);
      law_of();
    }

    s_ = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(whitener_.size()));
    for (const Eigen::MatrixXd& part : raw_used_->observed) s_ += whitener_.apply(part).colwise().sum().transpose();
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
    const auto least = std::min(m, static_cast<Eigen::Index>(raw_used_->anchors.cols()));
    Eigen::Index kept = 0;
    const double bound = std::max(least_signal, noise_signal * scale * noise);
    while (kept < m && (kept < least || axes.eigenvalues()[m - 1 - kept] > bound)) ++kept;
    return axes.eigenvectors().rightCols(kept);
  }

  /// What the network says at the first anchor; nothing for the other modes.
  std::vector<LawClaim> claims(std::size_t modes) const {
    const auto d = static_cast<Eigen::Index>(raw_used_->anchors.cols());
    LawClaim first{Eigen::Map<const Eigen::VectorXd>(raw_used_->anchors.row(0).data(), d),
                   Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(whitener_.size()), d)};
    const std::size_t strata = strata_.size() + 1, per_stratum = raw_used_->of_part[0].raw_size() / strata;
    for (std::size_t g = 0; g < strata; ++g) {
      first.slope += whitener_.covariance_with(g * per_stratum, raw_used_->anchors.cols());
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
      means.push_back(0.5 * (whitener_.apply(raw_used_->of_part[part.part].raw(part.first, parallel_)) +
                             whitener_.apply(raw_used_->of_part[part.part].raw(part.second, parallel_))));
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

  std::optional<LearnedPosterior> learned_;
  Matrix provisional_;
  std::vector<PairRecords> kept_;
  std::vector<std::unique_ptr<RawStatistics>> raw_;
  const RawStatistics* raw_used_ = nullptr;
  Whitener whitener_;
  std::optional<NormalLaw> law_;
  Eigen::VectorXd s_;
  double non_normal_ = 0, cut_ = cuts.front();
  std::size_t rounds_ = 0;
};

std::uint64_t budget_of(const CorrectionRequest& request) {
  return static_cast<std::uint64_t>(request.settings.budget);
}

constexpr int least_budget = 100;  // as CorrectionSettings has it

/// A request whose budget is split: a part of it is for the judgement of the draws.
struct SplitRequest {
  SplitRequest(const CorrectionRequest& whole, int part) : request(whole) {
    const int share = whole.settings.budget / part;
    if (whole.settings.budget - share < least_budget) return;
    request.settings.budget -= share;
    judgement.simulator = {&request.simulator, static_cast<std::uint64_t>(share)};
  }
  CorrectionRequest request;
  Judgement judgement;
};

/// Steps of the simulator that a judgement took.
std::uint64_t spent_on(const PosteriorDraws& judged) {
  const auto found = judged.info.find("misfit");
  return found == judged.info.end() ? 0 : found->at("simulated").get<std::uint64_t>();
}

}  // namespace

Correction correct_posterior(const CorrectionRequest& whole, const Streams& streams, const Parallel& parallel,
                             Progress& progress) {
  const Stopwatch watch;
  SplitRequest split(whole, 10);
  const CorrectionRequest& request = split.request;
  Corrector corrector("correct", request, streams, parallel, progress);
  Correction result;
  result.learned = corrector.learn();
  const double learning = watch.seconds();
  result.certificate =
      corrector.certify_learned(std::max<std::size_t>(corrector.exploring_pairs(), 20), first_width, 0.3);
  constexpr const char* not_normal = "the sum of the learned scores over this series is not normal yet";
  if (corrector.records() < fewest_records) {
    result.not_corrected =
        fmt::format("{} records are too few for the sum of their scores to be normal", corrector.records());
  } else if (!corrector.normal()) {
    result.not_corrected = not_normal;
  } else {
    corrector.correct();
    if (!corrector.normal()) {
      result.not_corrected = not_normal;
    } else {
      result.posterior = corrector.posterior();
    }
  }
  bool settled = true;
  if (result.posterior) {
    result.corrected = result.posterior->draw(request.posterior.draws, streams.child("posterior"), parallel, progress);
    result.corrected.observed = result.learned.observed;
    Matrix w = result.corrected.z;
    for (std::size_t r = 0; r < w.rows(); ++r) result.posterior->prior().to_w(result.corrected.z.row(r), w.row(r));
    settled = corrector.inside(w);
    if (!settled) {
      result.not_corrected = "the rounds did not settle: the result reaches to the edge of what was simulated";
      result.posterior = nullptr;
    }
  }
  if (!result.not_corrected.empty()) result.corrected = result.learned;
  if (!settled && result.corrected.outcome == Outcome::ok) result.corrected.outcome = Outcome::not_settled;
  if (result.posterior) split.judgement.corrected = static_cast<double>(corrector.source().spent());
  judge_draws(request.posterior, result.corrected, streams.child("judgement"), parallel, split.judgement, progress);
  result.info = {{"method", request.posterior.model.method},
                 {"corrected", result.not_corrected.empty()},
                 {"transitions", corrector.observed().all_transitions()},
                 {"budget", whole.settings.budget},
                 {"spent", corrector.source().spent() + spent_on(result.corrected)},
                 {"outcome", name(result.corrected.outcome)},
                 {"findings", result.corrected.info["findings"]},
                 {"invalid", corrector.source().invalid()},
                 {"resumed", corrector.source().recalled()},
                 {"rounds", corrector.rounds()},
                 {"anchors", corrector.anchors()},
                 {"pairs", corrector.pairs()},
                 {"pieces", corrector.law().basis().pieces().size()},
                 {"degree", corrector.law().basis().degree()},
                 {"variance_degree", corrector.law().variance_degree()},
                 {"coefficients", corrector.law().effective()},
                 {"non_normality", corrector.non_normal()},
                 {"cut", corrector.cut()},
                 {"settings", to_json(whole.settings)},
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

Check check_posterior(const CorrectionRequest& whole, const Streams& streams, const Parallel& parallel,
                      Progress& progress) {
  const Stopwatch watch;
  SplitRequest split(whole, 5);
  split.judgement.certified = true;
  const CorrectionRequest& request = split.request;
  Corrector corrector("check", request, streams, parallel, progress);
  Check result;
  result.learned = corrector.learn();
  const double learning = watch.seconds();
  result.certificate = corrector.certify_learned(corrector.source().pairs_for(budget_of(request)), last_width, 0.5);
  judge_draws(request.posterior, result.learned, streams.child("judgement"), parallel, split.judgement, progress);
  result.info = {{"method", request.posterior.model.method},
                 {"transitions", corrector.observed().all_transitions()},
                 {"spent", corrector.source().spent() + spent_on(result.learned)},
                 {"outcome", name(result.learned.outcome)},
                 {"findings", result.learned.info["findings"]},
                 {"invalid", corrector.source().invalid()},
                 {"settings", to_json(whole.settings)},
                 {"seconds", {{"learned", learning}, {"check", watch.seconds() - learning}}}};
  return result;
}

}  // namespace catena::sample
