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
    if (warning == source.record.end() || !warning->is_string() || warning->get_ref<const std::string&>().empty()) {
      continue;
    }
    const nlohmann::json info = source.record.value("info", nlohmann::json::object());
    const nlohmann::json worst = info.is_object() ? info.value("worst_excess", nlohmann::json()) : nlohmann::json();
    // Networks are smooth: half a standard deviation beyond what they saw is still near it.
    const bool near = worst.is_number() && worst.get<double>() < 0.5;
    found.add(near ? Severity::note : Severity::warning, "{}.", warning->get<std::string>());
  }
}

/// A state that the model foresees lies in the central share p of its predictions with probability p. States of one
/// time depend on each other, so the noise is that of T values and not of T·n: √(p(1 − p)/T).
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
  const double wanted = results.style.interval;
  const double noise = std::sqrt(wanted * (1 - wanted) / static_cast<double>(times));
  if (share < wanted - 3 * noise) {
    found.add(
        Severity::warning,
        "Of {} observed values only {:.0f} % lie inside the central {:.6g} % of what the simulator foresees one step "
        "ahead: the simulator misses something in these data, or the posterior is far off.",
        known, 100 * share, 100 * wanted);
  } else if (share > wanted + 3 * noise) {
    found.add(Severity::note,
              "Of {} observed values {:.0f} % lie inside the central {:.6g} % of what the simulator foresees one step "
              "ahead: the data vary less than the simulator says.",
              known, 100 * share, 100 * wanted);
  } else {
    found.add(Severity::good,
              "The simulator foresees the series one step ahead: {:.0f} % of {} observed values lie inside its central "
              "{:.6g} %.",
              100 * share, known, 100 * wanted);
  }
}

namespace {

/// How few transitions hold half of what the whole series says; nothing where what some say is taken back by others,
/// so that no few of them can be named.
struct Concentration {
  std::size_t few = 0;
  double taken_back = 0;  // of what the others gave
};

Concentration concentration(const evaluate::Information& information) {
  std::vector<double> worth(information.contribution.rows());
  double given = 0, taken = 0;
  for (std::size_t t = 0; t < worth.size(); ++t) {
    worth[t] = information.of_transition(t);
    (worth[t] > 0 ? given : taken) += std::abs(worth[t]);
  }
  Concentration result{0, given > 0 ? taken / given : 1};
  std::ranges::sort(worth, std::greater());
  double sum = 0;
  while (result.few < worth.size() && sum < (given - taken) / 2) sum += worth[result.few++];
  return result;
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
  if (transitions < 10) return;
  const Concentration where = concentration(information);
  if (where.taken_back <= 0.2) {
    found.add(Severity::note, "Half of what the series says about the parameters comes from {} of its {} transitions.",
              where.few, transitions);
  } else {
    found.add(Severity::note,
              "What single transitions say partly cancels: {:.0f} % of what some of the {} take away from the prior's "
              "variance others give back, so that no few of them can be named as those that told most.",
              100 * std::min(1.0, where.taken_back), transitions);
  }
}

}  // namespace catena::report
