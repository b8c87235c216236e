/// The numbers of a report: each parameter's mean, spread and quantiles, and how far the posterior is from a reference.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "catena/core/parallel.h"
#include "catena/core/random.h"
#include "catena/report/results.h"

namespace catena::report {

struct ParameterSummary {
  std::string name;
  double mean = 0, deviation = 0, low = 0, median = 0, high = 0;  ///< low, high: ends of the interval
  std::optional<sample::ChainHealth> health = {};
  std::optional<double> truth = {};
  std::optional<double> rank_of_truth = {};  ///< share of draws below it; ties count half
  std::optional<double> mean_shift = {};     ///< (mean − reference's mean) / reference's deviation
  std::optional<double> spread_ratio = {};   ///< deviation / reference's deviation
};

/// How far the posterior as a whole is from the reference (evaluate/metric.h), on equally many draws of each.
struct Comparison {
  std::size_t draws = 0;
  std::optional<double> c2st;  ///< at least 20 draws
  std::optional<double> sw1, sw1_normalised;
};

struct Summary {
  double interval = 0.9;  ///< its share: 5 % and 95 % are the ends of 0.9
  std::vector<ParameterSummary> parameters;
  std::optional<Comparison> comparison;
};

/// Needs a posterior in `results`; empty without one.
Summary summarise(const Results& results, const Streams& streams, const Parallel& parallel);

nlohmann::json to_json(const Summary& summary);

/// "5 %", "97.5 %": the lower or the upper end of an interval of this share.
std::string end_text(double interval, bool upper);

/// One parameter's draws.
std::vector<double> column(const Matrix& values, std::size_t index);

}  // namespace catena::report
