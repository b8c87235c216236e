#include "catena/report/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "catena/evaluate/calibration.h"
#include "catena/report/finding_list.h"

namespace catena::report {

namespace {

void judge_draws(const DrawSet& posterior, const Summary& summary, FindingList& found) {
  for (const std::string& finding : posterior.findings) found.add(Severity::warning, "{}.", finding);
  if (posterior.findings.empty() && posterior.outcome && *posterior.outcome != Outcome::ok) {
    found.add(Severity::warning, "The sampler reports {}: {}.", catena::name(*posterior.outcome),
              advice(*posterior.outcome, "sample"));
  }
  if (posterior.dropped > 0) {
    found.add(Severity::warning,
              "{} of {} draws were not finite and are left out: the posterior may be cut off where the "
              "sampler failed.",
              posterior.dropped, posterior.dropped + posterior.values.rows());
  }
  const std::size_t n = posterior.values.rows();
  if (n < 100) {
    found.add(Severity::warning, "There are only {} draws: densities and tails are rough, so draw 1,000 or more.", n);
  }
  std::vector<std::string> constant;
  for (const ParameterSummary& row : summary.parameters) {
    if (row.deviation == 0) constant.push_back(row.name);
  }
  if (!constant.empty()) {
    found.add(Severity::warning, "All draws of {} are equal: is it fixed by its prior, or did the sampler stand still?",
              listed(constant));
  }
}

/// The limits are those of Vehtari et al. 2021 (docs/refs.bib: vehtari2021): R-hat below 1.01, 400 effective draws.
void judge_chains(const Summary& summary, std::size_t draws, FindingList& found) {
  constexpr double largest_r_hat = 1.01, least_ess = 400;
  const ParameterSummary *worst_r_hat = nullptr, *worst_ess = nullptr;
  for (const ParameterSummary& row : summary.parameters) {
    if (!row.health) return;
    if (worst_r_hat == nullptr || row.health->r_hat > worst_r_hat->health->r_hat) worst_r_hat = &row;
    const auto ess = [](const ParameterSummary& r) { return std::min(r.health->bulk_ess, r.health->tail_ess); };
    if (worst_ess == nullptr || ess(row) < ess(*worst_ess)) worst_ess = &row;
  }
  if (worst_r_hat == nullptr) return;
  const double r_hat = worst_r_hat->health->r_hat;
  const double ess = std::min(worst_ess->health->bulk_ess, worst_ess->health->tail_ess);
  if (r_hat > largest_r_hat) {
    found.add(Severity::warning, "R-hat is {:.3f} on {}, but should be below 1.01: {}.", r_hat, worst_r_hat->name,
              advice(Outcome::not_mixed, "sample"));
  }
  if (ess < least_ess) {
    found.add(draws < 400 ? Severity::note : Severity::warning,
              "Only {:.0f} effective draws of {}: its mean is known to {:.0f} % of its standard deviation; draw more.",
              ess, worst_ess->name, 100 / std::sqrt(std::max(1.0, ess)));
  }
  if (r_hat <= largest_r_hat && ess >= least_ess) {
    found.add(Severity::good, "The draws are healthy: R-hat is at most {:.3f}, with {:.0f} effective draws or more.",
              r_hat, ess);
  }
}

/// C2ST's standard error is about ½/√(2m) with m draws of each set: every one of the 2m is classified once.
void judge_comparison(const Summary& summary, FindingList& found) {
  if (!summary.comparison) return;
  if (summary.comparison->c2st) {
    const double c2st = *summary.comparison->c2st;
    const double noise = 0.5 / std::sqrt(2.0 * static_cast<double>(summary.comparison->draws));
    if (c2st <= 0.5 + 3 * noise) {
      found.add(Severity::good,
                "A classifier cannot tell the posterior from the reference: C2ST is {:.3f}, where 0.5 is "
                "guessing and {:.3f} is the noise.",
                c2st, noise);
    } else {
      found.add(
          c2st > 0.65 ? Severity::warning : Severity::note,
          "A classifier tells the posterior from the reference in {:.0f} % of cases (C2ST {:.3f}; guessing is 50 %): "
          "more simulations, longer training or another rule may close the gap.",
          100 * c2st, c2st);
    }
  }
  std::vector<std::string> shifted, narrow, wide;
  for (const ParameterSummary& row : summary.parameters) {
    if (!row.mean_shift || !row.spread_ratio) continue;
    if (std::abs(*row.mean_shift) > 0.3) shifted.push_back(fmt::format("{} by {:+.2f}", row.name, *row.mean_shift));
    if (*row.spread_ratio < 0.8) narrow.push_back(fmt::format("{} ({:.2f})", row.name, *row.spread_ratio));
    if (*row.spread_ratio > 1.25) wide.push_back(fmt::format("{} ({:.2f})", row.name, *row.spread_ratio));
  }
  if (!shifted.empty()) {
    found.add(Severity::warning, "Means are shifted against the reference, in its standard deviations: {}.",
              listed(shifted));
  }
  if (!narrow.empty()) {
    found.add(Severity::warning,
              "Narrower than the reference, by the ratio of standard deviations: {}. Such a posterior is "
              "too sure of itself.",
              listed(narrow));
  }
  if (!wide.empty()) {
    found.add(Severity::note, "Wider than the reference, by the ratio of standard deviations: {}.", listed(wide));
  }
}

/// The certificate of the learned posterior in words; of draws that were corrected it is history.
void judge_correction(const CorrectionResult& correction, FindingList& found) {
  std::vector<std::string> sentences = correction.sentences;
  if (!correction.not_corrected.empty()) {
    found.add(correction.alarm ? Severity::warning : Severity::note,
              "These draws are as they were learned, not corrected: {}. What {} simulated transitions say about them: "
              "{}.",
              correction.not_corrected, correction.spent, fmt::join(sentences, "; "));
    return;
  }
  if (correction.alarm && !sentences.empty()) sentences.pop_back();  // the advice to do what was done
  const std::string before = fmt::format("{}", fmt::join(sentences, "; "));
  if (correction.spent < correction.budget_needed) {
    found.add(Severity::note,
              "These draws are corrected by {} simulated transitions; {} would bring them within a fifth of a standard "
              "deviation. Of what was learned before they say: {}.",
              correction.spent, correction.budget_needed, before);
  } else {
    found.add(Severity::good,
              "These draws are corrected by {} simulated transitions. Of what was learned before they say: {}.",
              correction.spent, before);
  }
}

void judge_truth(const Summary& summary, FindingList& found) {
  std::vector<std::string> far;
  std::size_t known = 0;
  for (const ParameterSummary& row : summary.parameters) {
    if (!row.rank_of_truth) continue;
    ++known;
    if (*row.rank_of_truth < 0.005 || *row.rank_of_truth > 0.995) far.push_back(row.name);
  }
  // The chance that as many of so many parameters lie outside, if each does so one time in a hundred.
  double fewer = 0, binomial = std::pow(0.99, static_cast<double>(known));
  for (std::size_t k = 0; k < far.size(); ++k) {
    fewer += binomial;
    binomial *= static_cast<double>(known - k) / static_cast<double>(k + 1) * (0.01 / 0.99);
  }
  const double chance = 1 - fewer;
  if (!far.empty() && chance < 0.02) {
    found.add(Severity::warning,
              "The true value of {} lies outside the central 99 % of the draws; by chance that happens in {:.1g} % of "
              "posteriors of {} parameters: check the calibration.",
              listed(far), 100 * chance, known);
  } else if (!far.empty()) {
    found.add(
        Severity::note,
        "The true value of {} lies outside the central 99 % of the draws; by chance one or more do in {:.0f} % of "
        "posteriors of {} parameters.",
        listed(far), 100 * chance, known);
  } else if (known > 0) {
    found.add(Severity::good, "Every true value lies inside the central 99 % of the draws.");
  }
}

/// Means over a twentieth of the curve stand against the noise of single steps.
void judge_learning(const model::LearningCurve& curve, FindingList& found) {
  std::vector<double> losses, steps;
  const std::vector<double>& source = curve.held_out_loss.empty() ? curve.train_loss : curve.held_out_loss;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (!std::isfinite(source[i])) continue;
    losses.push_back(source[i]);
    steps.push_back(curve.step[i]);
  }
  if (losses.size() < source.size()) {
    found.add(Severity::warning, "The loss was not finite at {} of {} steps: lower the learning rate.",
              source.size() - losses.size(), source.size());
  }
  if (losses.size() < 20 || curve.held_out_loss.empty()) return;
  const std::size_t width = losses.size() / 20;
  std::vector<double> means;
  for (std::size_t i = 0; i + width <= losses.size(); i += width) {
    double sum = 0;
    for (std::size_t k = 0; k < width; ++k) sum += losses[i + k];
    means.push_back(sum / static_cast<double>(width));
  }
  const auto best = std::ranges::min_element(means);
  const double gain = means.front() - *best;
  if (gain <= 0) {
    found.add(Severity::warning,
              "The held-out loss never fell below its start: lower the learning rate, or check that the "
              "simulations hold information about the parameters.");
    return;
  }
  const std::size_t quarter = means.size() - means.size() / 4 - 1;
  // The noise of a mean, from second differences of the later half, which a steady rise or fall does not change: its
  // own variance, four times that and its own again.
  double squares = 0;
  std::size_t count = 0;
  for (std::size_t i = means.size() / 2; i + 1 < means.size(); ++i, ++count) {
    squares += std::pow(means[i - 1] - 2 * means[i] + means[i + 1], 2) / 6;
  }
  const double noise = std::sqrt(squares / static_cast<double>(count));
  // What the loss gains at first is large whatever comes later: what counts is whether a rise is more than noise.
  const double clear = 4 * std::numbers::sqrt2 * noise;
  if (means.back() - *best > std::max(clear, 0.01 * gain)) {
    found.add(Severity::note,
              "The held-out loss was lowest near step {:.0f} and has risen since (the model is the one of its best "
              "step): more simulations or a smaller network help against that.",
              steps[static_cast<std::size_t>(best - means.begin()) * width]);
  } else if (means[quarter] - means.back() > std::max(clear, 0.05 * gain)) {
    found.add(Severity::note,
              "The held-out loss was still falling at the end, by {:.0f} % of all it gained over the last "
              "quarter: training longer may pay.",
              100 * (means[quarter] - means.back()) / gain);
  } else {
    found.add(Severity::good,
              "Training has settled: the held-out loss neither rose nor fell over the last quarter beyond its noise.");
  }
}

void judge_calibration(const Calibration& calibration, const Streams& streams, FindingList& found) {
  std::vector<std::string> outside;
  double excess = 0;
  for (std::size_t p = 0; p < calibration.ranks.size(); ++p) {
    if (!evaluate::uniformity(calibration.ranks[p]).inside) outside.push_back(calibration.parameters[p]);
    excess += evaluate::expected_coverage(calibration.ranks[p], evaluate::Interval::central,
                                          evaluate::usual_credibilities(), streams)
                  .mean_excess /
              static_cast<double>(calibration.ranks.size());
  }
  const std::size_t series = calibration.ranks.empty() ? 0 : calibration.ranks.front().values.size();
  if (outside.empty()) {
    found.add(Severity::good,
              "Calibrated, as far as {} series can show: the ranks of every parameter stay inside their "
              "band.",
              series);
    return;
  }
  const char* how = excess < -0.03  ? "On the whole the posterior is too narrow: it is surer than it should be."
                    : excess > 0.03 ? "On the whole the posterior is too wide: it is less sure than it could be."
                                    : "On the whole its width is right, so it is shifted or of the wrong shape.";
  found.add(Severity::warning, "Not calibrated: the ranks of {} leave the band of 95 %. {}", listed(outside), how);
}

}  // namespace

std::string_view name(Severity severity) {
  return severity == Severity::good ? "good" : severity == Severity::note ? "note" : "warning";
}

void FindingList::sort() { std::ranges::stable_sort(list, std::greater(), &Finding::severity); }

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 4;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) {
    const bool last = i + 1 == names.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + names[i];
  }
  if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
  return text;
}

std::vector<Finding> findings(const Results& results, const Summary& summary, const Streams& streams) {
  FindingList found;
  if (results.posterior) {
    judge_draws(*results.posterior, summary, found);
    judge_chains(summary, results.posterior->values.rows(), found);
    judge_comparison(summary, found);
    judge_truth(summary, found);
    if (results.correction) judge_correction(*results.correction, found);
  }
  judge_series(results, found);
  judge_range(results, found);
  judge_predictive(results, found);
  judge_information(results, found);
  if (results.calibration) judge_calibration(*results.calibration, streams, found);
  if (results.learning_curve) judge_learning(*results.learning_curve, found);
  found.sort();
  return std::move(found.list);
}

}  // namespace catena::report
