#include "catena/train/choose/season.h"

#include <fmt/ranges.h>

#include <Eigen/Dense>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <complex>
#include <map>
#include <numbers>

#include "catena/core/check.h"
#include "catena/train/choose/trial.h"

namespace catena::train {
namespace {

/// Frequencies lie a quarter of a cycle over the whole range apart: a peak is a whole one wide.
constexpr double frequencies_per_cycle = 4;
constexpr std::size_t most_frequencies = 4096;
constexpr std::size_t most_rows = 20000;      // enough for any season that matters, and a second at most
constexpr std::size_t most_times = 2000;      // that differ: all rows where times are whole numbers
constexpr std::size_t most_regressors = 400;  // beyond, a period has to be given
constexpr std::size_t most_targets = 8;
constexpr double fewest_cycles = 2;  // less than two seasons of data are a trend
/// Chance that noise alone has a candidate; the held-out loss would refuse nearly all of these.
constexpr double false_alarm = 1e-3;
/// Two periods whose S differ by less than this are the same to the data: two standard deviations, squared.
constexpr double indistinguishable = 4;

/// Σ_r e_i^r w_k^r for each time that occurs: a column for each i and k.
struct Residuals {
  std::vector<double> times;
  Eigen::MatrixXd sums;
  double rows = 0;

  double range() const { return times.back() - times.front(); }
  double spectrum(double frequency) const {
    Eigen::RowVectorXcd sum = Eigen::RowVectorXcd::Zero(sums.cols());
    for (std::size_t t = 0; t < times.size(); ++t) {
      const std::complex<double> turn = std::polar(1.0, 2 * std::numbers::pi * frequency * (times[t] - times.front()));
      sum += turn * sums.row(static_cast<Eigen::Index>(t));
    }
    return 2 / rows * sum.squaredNorm();
  }
};

std::optional<Residuals> residuals_of(const TrainingData& data) {
  const model::Features& features = data.features();
  if (!features.uses_time() || features.shape().initial()) return std::nullopt;
  const Examples& examples = data.window(0);
  const model::Feature& clock = features.all()[features.condition() + features.target()];
  const std::size_t known = features.known() - 2 * features.periods().size(), d = examples.parameters;
  const std::size_t linear = 1 + known + d,
                    regressors = linear + known * d <= most_regressors ? linear + known * d : linear;
  if (regressors > most_regressors || regressors * 10 > data.training_size()) return std::nullopt;

  // Training rows alone: what is held out decides later.
  const RowRange training = data.training_rows(0, 0);
  std::vector<std::size_t> rows;
  std::map<double, std::size_t> places;  // of times
  const auto time_of = [&](std::size_t row) {
    return clock.mean + clock.scale * static_cast<double>(examples.c_of(row)[features.condition() + features.target()]);
  };
  for (std::size_t i = 0; i < training.count && rows.size() < most_rows; ++i) {
    const std::size_t row = training(i);
    // Features are floats: times closer than their last digits are one.
    const double time = std::round(time_of(row) / (1e-6 * clock.scale)) * (1e-6 * clock.scale);
    if (places.size() >= most_times && !places.contains(time)) continue;
    places.emplace(time, 0);
    rows.push_back(row);
  }
  if (places.size() < 4 || rows.size() < 10 * regressors) return std::nullopt;
  Residuals result;
  for (auto& [time, place] : places) {
    place = result.times.size();
    result.times.push_back(time);
  }
  result.rows = static_cast<double>(rows.size());

  const auto count = static_cast<Eigen::Index>(rows.size());
  const std::size_t targets = std::min(features.target(), most_targets);
  Eigen::MatrixXd a(count, static_cast<Eigen::Index>(regressors)), y(count, static_cast<Eigen::Index>(targets));
  for (Eigen::Index r = 0; r < count; ++r) {
    const float *c = examples.c_of(rows[static_cast<std::size_t>(r)]),
                *z = examples.z_of(rows[static_cast<std::size_t>(r)]);
    Eigen::Index at = 0;
    a(r, at++) = 1;
    for (std::size_t i = 0; i < known; ++i) a(r, at++) = c[features.known(i)];
    for (std::size_t k = 0; k < d; ++k) a(r, at++) = z[k];
    if (regressors > linear) {
      for (std::size_t i = 0; i < known; ++i) {
        for (std::size_t k = 0; k < d; ++k) a(r, at++) = static_cast<double>(c[features.known(i)]) * z[k];
      }
    }
    for (std::size_t i = 0; i < targets; ++i) y(r, static_cast<Eigen::Index>(i)) = c[features.condition() + i];
  }
  const Eigen::MatrixXd gram = a.transpose() * a + 1e-9 * result.rows * Eigen::MatrixXd::Identity(a.cols(), a.cols());
  y -= a * gram.ldlt().solve(a.transpose() * y);

  result.sums = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(result.times.size()),
                                      static_cast<Eigen::Index>(targets * (1 + d)));
  for (std::size_t i = 0; i < targets; ++i) {
    const auto e = y.col(static_cast<Eigen::Index>(i));
    const double sd = std::sqrt(e.squaredNorm() / result.rows);
    if (!(sd > 0)) continue;
    for (Eigen::Index r = 0; r < count; ++r) {
      const std::size_t row = rows[static_cast<std::size_t>(r)];
      const double time = std::round(time_of(row) / (1e-6 * clock.scale)) * (1e-6 * clock.scale);
      const auto place = static_cast<Eigen::Index>(places.at(time));
      auto at = static_cast<Eigen::Index>(i * (1 + d));
      result.sums(place, at++) += e[r] / sd;
      for (std::size_t k = 0; k < d; ++k) result.sums(place, at++) += e[r] / sd * examples.z_of(row)[k];
    }
  }
  return result;
}

/// The shortest decimal number near `period` that the data cannot tell from it.
double rounded(const Residuals& residuals, double period, double peak) {
  for (double unit = 1; unit > 1e-6 * period; unit /= 10) {
    const double candidate = std::round(period / unit) * unit;
    if (candidate > 0 && peak - residuals.spectrum(1 / candidate) < indistinguishable) return candidate;
  }
  return period;
}

std::string text_of(const std::vector<double>& periods) {
  return periods.empty() ? "none" : fmt::format("{}", fmt::join(periods, ","));
}

[[noreturn]] void wrong_period(const nlohmann::json& setting) {
  check::fail("train", "period", setting.is_string() ? setting.get<std::string>() : setting.dump(),
              "auto, none, or positive numbers with commas");
}

std::vector<double> given_periods(const nlohmann::json& setting) {
  std::vector<double> periods;
  if (setting.is_string()) {
    const std::string text = setting.get<std::string>();
    if (text == "none") return periods;
    const char *at = text.data(), *const end = text.data() + text.size();
    while (true) {
      double value = 0;
      const auto [stop, error] = std::from_chars(at, end, value);
      if (error != std::errc() || (stop != end && *stop != ',')) wrong_period(setting);
      periods.push_back(value);
      if (stop == end) break;
      at = stop + 1;
    }
  } else {
    for (const nlohmann::json& value : setting.is_array() ? setting : nlohmann::json::array({setting})) {
      if (!value.is_number()) wrong_period(setting);
      periods.push_back(value.get<double>());
    }
  }
  if (!std::ranges::all_of(periods, [](double p) { return p > 0 && std::isfinite(p); })) wrong_period(setting);
  return periods;
}

/// Trials without and with the candidate; the period, if it is worth it.
std::vector<double> tried(double period, const MethodContext& context, std::string_view method, nlohmann::json& notes) {
  const auto loss = [&](const std::vector<double>& periods) {
    context.data.see_periods(periods);
    nlohmann::json& found = notes[text_of(periods)];
    found.push_back(
        trial_loss({.logarithms = "auto", .point_masses = "auto", .integers = "auto", .log_increments = "none"},
                   context, method, fmt::format("trial-{}-period-{}", found.size() + 1, text_of(periods))));
    return found.back().get<double>();
  };
  double least = loss({});
  for (std::size_t k = 1; k < trial_repeats; ++k) least = std::min(least, loss({}));
  for (std::size_t k = 0; k < trial_repeats; ++k) {
    if (!(loss({period}) < least - worth_a_change)) return {};
  }
  return {period};
}

}  // namespace

FieldInfo period_field() {
  return {
      "period",
      "periods of time, in its units, whose sines and cosines are seen: auto (one is found by the held-out loss), none "
      "or numbers with commas",
      "auto", "auto, none or numbers with commas"};
}

std::optional<double> likely_period(const TrainingData& data) {
  const std::optional<Residuals> residuals = residuals_of(data);
  if (!residuals) return std::nullopt;
  const double range = residuals->range();
  // Times that are whole numbers tell no frequency above ½ from one below.
  const bool whole = std::ranges::all_of(residuals->times, [](double t) { return std::abs(t - std::round(t)) < 1e-3; });
  const double spacing = 1 / (frequencies_per_cycle * range), first = fewest_cycles / range;
  const double last = std::min(whole ? 0.5 : static_cast<double>(residuals->times.size()) / (2 * range),
                               first + spacing * static_cast<double>(most_frequencies));
  if (!(last > first)) return std::nullopt;
  const auto count = static_cast<std::size_t>((last - first) / spacing) + 1;
  double best = first, peak = -1;
  for (std::size_t k = 0; k < count; ++k) {
    const double frequency = first + spacing * static_cast<double>(k), value = residuals->spectrum(frequency);
    if (value > peak) best = frequency, peak = value;
  }
  // P(χ²_m > m + 2√(m l) + 2l) ≤ e^(−l) (laurent2000, lemma 1), for each of the frequencies.
  const auto freedom = static_cast<double>(2 * residuals->sums.cols());
  const double l = std::log(static_cast<double>(count) / false_alarm);
  if (!(peak > freedom + 2 * std::sqrt(freedom * l) + 2 * l)) return std::nullopt;
  for (double width = spacing / 2; width > 1e-6 * spacing; width /= 2) {  // uphill by halves
    for (const double frequency : {best - width, best + width}) {
      if (const double value = residuals->spectrum(frequency); value > peak) best = frequency, peak = value;
    }
  }
  return rounded(*residuals, 1 / best, peak);
}

Season choose_season(const nlohmann::json& setting, const MethodContext& context, std::string_view method) {
  TrainingData& data = context.data;
  const bool automatic = setting.is_null() || setting == "auto";
  if (!data.features().uses_time()) {
    if (!automatic && !given_periods(setting).empty()) {
      check::fail("train", "period", setting.is_string() ? setting.get<std::string>() : setting.dump(),
                  "none: the transitions have no time (a simulator that takes t has)");
    }
    return {};
  }
  data.see_periods({});
  Season season;
  std::vector<double> periods;
  if (!automatic) {
    periods = given_periods(setting);
  } else if (const std::optional<double> candidate = likely_period(data)) {
    periods = tried(*candidate, context, method, season.notes);
  }
  data.see_periods(periods);
  season.setting = text_of(periods);
  return season;
}

}  // namespace catena::train
