#include "catena/train/choose/inputs.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace catena::train {
namespace {

constexpr double atom_share = 1e-3;  // of the rows
constexpr double integer_rounding = 0.01;

std::string joined(const std::vector<std::string>& parts) {
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ","));
}

/// Coordinate i of the target, from its increments in single precision.
std::vector<double> rounded_values(const model::Features& features, const Examples& examples, std::size_t i) {
  std::vector<double> values(examples.size());
  for (std::size_t r = 0; r < values.size(); ++r) values[r] = model::next_of(features, examples.c_of(r), i);
  return values;
}

/// A value that more than a share of the sorted ones have in common: the most frequent one.
std::optional<double> find_atom(const std::vector<double>& sorted, double tolerance) {
  const auto least =
      static_cast<std::size_t>(std::max(5.0, std::ceil(atom_share * static_cast<double>(sorted.size()))));
  std::size_t most = 0;
  double value = 0;
  for (std::size_t begin = 0, end = 0; begin < sorted.size(); ++begin) {
    end = std::max(end, begin);
    while (end < sorted.size() && sorted[end] - sorted[begin] <= 2 * tolerance) ++end;
    if (end - begin > most) {
      most = end - begin;
      value = sorted[begin + most / 2];
    }
  }
  if (most < least) return std::nullopt;
  return std::abs(value) <= 2 * tolerance ? 0 : value;  // a state clipped at 0 is at 0
}

}  // namespace

model::DensityInputSettings choose_inputs(const model::DensityInputSettings& settings, const TrainingData& data) {
  model::DensityInputSettings result = settings;
  const model::Features& features = data.features();
  const Examples& examples = data.window(0);
  const std::vector<std::size_t> positive = data.positive_states();
  std::vector<std::string> logarithms, atoms, integers;
  const std::vector<std::string> names = model::target_names(features, data.state_names());
  for (std::size_t i = 0; i < std::min(features.states(), features.condition()); ++i) {
    if (features.plain(i).low >= 0 && features.plain(i).high > 0) logarithms.push_back(names[i]);
  }
  for (std::size_t i = 0; i < features.target(); ++i) {
    if (features.logarithmic(i)) continue;  // neither (choose_coordinates.h)
    const model::Feature& increment = features.all()[features.condition() + i];
    if (!(increment.low < increment.high)) {  // no density has a width for it
      atoms.push_back(fmt::format("{}=still", names[i]));
      continue;
    }
    // Positive states may be of any size: what single precision calls one value need not be one.
    const bool exact = std::ranges::find(positive, i % features.states()) != positive.end();
    std::vector<double> next = exact ? data.next_values(i) : rounded_values(features, examples, i);
    const auto [least, most] = std::ranges::minmax(next);
    // States of size 10⁻¹² all lie near the whole number 0: there must be two of them.
    if (most - least > 0.5 &&
        std::ranges::all_of(next, [](double x) { return std::abs(x - std::round(x)) < integer_rounding; })) {
      integers.push_back(names[i]);
      continue;
    }
    std::ranges::sort(next);
    if (const auto atom = find_atom(next, exact ? 0 : model::atom_tolerance(features, i))) {
      atoms.push_back(fmt::format("{}={}", names[i], *atom));
    }
  }
  if (result.logarithms == "auto") result.logarithms = joined(logarithms);
  if (result.point_masses == "auto") result.point_masses = joined(atoms);
  if (result.integers == "auto") result.integers = joined(integers);
  return result;
}

}  // namespace catena::train
