#include <algorithm>
#include <cmath>
#include <numeric>

#include "catena/report/finding_list.h"

namespace catena::report {

void judge_series(const Results& results, FindingList& found) {
  if (results.more_series.empty()) return;
  found.add(Severity::note, "The draws are of {} series: figures show the first of them.",
            results.more_series.size() + 1);
}

void judge_range(const Results& results, FindingList& found) {
  if (results.other_series) {
    found.add(Severity::warning,
              "The series is not the one that the draws were made for: figures and findings about it mean little.");
  }
  for (const Source& source : results.sources) {
    if (source.kind != "posterior" || !source.record.is_object()) continue;
    const auto warning = source.record.find("warning");
    if (warning == source.record.end() || !warning->is_string() || warning->get_ref<const std::string&>().empty())
      continue;
    const nlohmann::json info = source.record.value("info", nlohmann::json::object());
    const nlohmann::json worst = info.is_object() ? info.value("worst_excess", nlohmann::json()) : nlohmann::json();
    // Networks are smooth: half a standard deviation beyond what they saw is still near it.
    const bool near = worst.is_number() && worst.get<double>() < 0.5;
    found.add(near ? Severity::note : Severity::warning, "{}.", warning->get<std::string>());
  }
}

/// A state that the model foresees lies in the central 90 % of its predictions nine times in ten. States of one time
/// depend on each other, so the noise is that of T values and not of T·n: √(0.9·0.1/T).
void judge_predictive(const Results& results, FindingList& found) {
  if (!results.one_step || !results.observed) return;
  const Predictive& band = *results.one_step;
  const Matrix& values = results.observed->values;
  if (band.low.rows() != values.rows() || band.low.cols() != values.cols()) return;
  std::size_t known = 0, inside = 0, times = 0;
  for (std::size_t t = 1; t < values.rows(); ++t) {
    bool any = false;
    for (std::size_t s = 0; s < values.cols(); ++s) {
      if (!std::isfinite(values(t, s)) || !std::isfinite(band.low(t, s))) continue;
      any = true;
      ++known;
      inside += values(t, s) >= band.low(t, s) && values(t, s) <= band.high(t, s) ? 1 : 0;
    }
    times += any ? 1 : 0;
  }
  if (known == 0) return;
  const double share = static_cast<double>(inside) / static_cast<double>(known);
  const double noise = std::sqrt(0.09 / static_cast<double>(times));
  if (share < 0.9 - 3 * noise) {
    found.add(Severity::warning,
              "Of {} observed values only {:.0f} % lie inside the central 90 % of what the simulator foresees one step "
              "ahead: the simulator misses something in these data, or the posterior is far off.",
              known, 100 * share);
  } else if (share > 0.9 + 3 * noise) {
    found.add(Severity::note,
              "Of {} observed values {:.0f} % lie inside the central 90 % of what the simulator foresees one step "
              "ahead: the data vary less than the simulator says.",
              known, 100 * share);
  } else {
    found.add(Severity::good,
              "The simulator foresees the series one step ahead: {:.0f} % of {} observed values lie inside its central "
              "90 %.",
              100 * share, known);
  }
}

namespace {

/// How few transitions hold half of what the whole series says.
std::size_t transitions_for_half(const evaluate::Information& information) {
  std::vector<double> worth(information.contribution.rows());
  for (std::size_t t = 0; t < worth.size(); ++t) worth[t] = std::max(0.0, information.of_transition(t));
  std::ranges::sort(worth, std::greater());
  const double all = std::accumulate(worth.begin(), worth.end(), 0.0);
  double sum = 0;
  std::size_t count = 0;
  while (count < worth.size() && sum < all / 2) sum += worth[count++];
  return count;
}

}  // namespace

void judge_information(const Results& results, FindingList& found) {
  if (!results.information) return;
  if (!results.information->trouble.empty()) {
    found.add(Severity::note, "Where the information comes from is not shown: {}.", results.information->trouble);
  }
  if (!results.information->information) return;
  const evaluate::Information& information = *results.information->information;
  const std::vector<std::string>& names = results.information->parameters;
  const std::size_t transitions = information.contribution.rows();

  std::vector<std::string> unknown, apart;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (information.removed[i] < 0.2) {
      unknown.push_back(fmt::format("{} ({:.0f} %)", names[i], 100 * (1 - information.removed[i])));
    }
    // Σ_t c_ti + Var(z_i) = 1 wherever draws and gradients belong to one posterior (evaluate/information.h).
    const double excess = information.total(i) - information.removed[i];
    if (std::abs(excess) > 0.25 + 4 * information.error[i]) {
      apart.push_back(fmt::format("{} ({:+.2f})", names[i], excess));
    }
  }
  if (!unknown.empty()) {
    found.add(Severity::note,
              "The series says little about {}: so much of the prior's variance is left. A longer series, another "
              "observable or a tighter prior would help.",
              listed(unknown));
  }
  if (!apart.empty()) {
    found.add(
        Severity::warning,
        "The draws and the model's local estimates do not fit together for {}: contributions of transitions must "
        "add up to the variance that was removed, and miss it by so much. Check that model and draws belong "
        "together; if they do, the local estimates contradict each other: more simulations or longer training help.",
        listed(apart));
  }
  const std::size_t few = transitions_for_half(information);
  if (transitions >= 10) {
    found.add(Severity::note, "Half of what the series says about the parameters comes from {} of its {} transitions.",
              few, transitions);
  }
}

}  // namespace catena::report
