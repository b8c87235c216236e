#include "catena/model/density/inputs.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "catena/core/check.h"

namespace catena::model {
namespace {

constexpr double log_floor = 0.01;       // of a state's standard deviation: below it all is called zero
constexpr double float_rounding = 4e-6;  // of x^(t+1) from two rounded features, in standard deviations
constexpr std::size_t most_polynomial_states = 6;
constexpr double polynomial_scale = 3;  // a product of two uniform numbers on [−1, 1] has variance 1/9

std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> parts;
  if (text == "none" || text.empty()) return parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::size_t index_of(const std::vector<std::string>& names, const std::string& name, std::string_view setting) {
  const auto found = std::ranges::find(names, name);
  check::that(found != names.end(), "train", setting, name, fmt::format("one of {}", fmt::join(names, ", ")));
  return static_cast<std::size_t>(found - names.begin());
}

/// Coordinate i of the target as a state: x^t and the increments up to it (x⁰ has nothing before it), whose places in
/// c and features visit(place) sees.
template <class Visit>
void sum_up_to(const Features& features, std::size_t i, const Visit& visit) {
  const std::size_t n = features.states(), p = features.condition();
  if (p > 0) visit(i % n);
  for (std::size_t j = i % n; j <= i; j += n) visit(p + j);
}

// The target's v is its increment in units of its scale, from 0 and not from its mean: what does not move has v = 0.
// With heavy tails it is c itself.
double v_of_c(const Feature& step) { return step.tails ? 0 : step.mean / step.scale; }  // v − c
double increment_of(const Feature& step, double v) { return step.tails ? step.value(v) : step.scale * v; }
double v_of(const Feature& step, double increment) {
  return step.tails ? step.seen(increment) : increment / step.scale;
}

/// log cosh c = −log of what asinh's slope takes off that of (value − mean)/scale.
double log_cosh(double c) { return std::abs(c) + std::log1p(std::exp(-2 * std::abs(c))) - std::numbers::ln2; }

/// Products u_i u_j, i ≤ j, and cubes: of small states only, for their number grows as a square.
std::size_t polynomials(std::size_t n) { return n <= most_polynomial_states ? n * (n + 1) / 2 + n : 0; }

}  // namespace

std::vector<std::size_t> states_in(const std::string& text, const std::vector<std::string>& names,
                                   std::string_view setting) {
  std::vector<std::size_t> states;
  for (const std::string& name : names_in(text)) states.push_back(index_of(names, name, setting));
  return states;
}

double next_of(const Features& features, const float* c, std::size_t i) {
  double sum = 0;
  sum_up_to(features, i, [&](std::size_t at) { sum += features.all()[at].value(c[at]); });
  return features.logarithmic(i) ? std::exp(sum) : sum;
}

double atom_tolerance(const Features& features, std::size_t i) {
  double sum = 0;
  sum_up_to(features, i, [&](std::size_t at) {
    const Feature& part = features.all()[at];
    sum += part.scale + std::abs(part.mean);
  });
  return float_rounding * sum;
}

std::vector<std::string> target_names(const Features& features, const std::vector<std::string>& names) {
  std::vector<std::string> result = names;
  for (std::size_t j = 1; j < features.shape().block; ++j) {
    for (const std::string& name : names) result.push_back(fmt::format("{}+{}", name, j + 1));
  }
  return result;
}

DensityMap::DensityMap(const Features& features, const std::vector<std::string>& names,
                       const DensityInputSettings& settings, bool noise_at_atoms)
    : features_(features), noise_at_atoms_(noise_at_atoms) {
  for (const std::size_t i : states_in(settings.logarithms, names, "logarithms")) {
    if (!features.logarithmic(i)) logarithms_.push_back(i);  // of the others c has nothing else
  }
  const std::vector<std::string> targets = target_names(features, names);
  integers_ = states_in(settings.integers, targets, "integers");
  for (const std::string& part : names_in(settings.point_masses)) {
    const std::size_t equals = part.find('=');
    double value = 0;
    const bool still = equals != std::string::npos && part.substr(equals + 1) == "still";
    if (still) value = std::numeric_limits<double>::quiet_NaN();
    const bool right = still || (equals != std::string::npos &&
                                 std::from_chars(part.data() + equals + 1, part.data() + part.size(), value).ptr ==
                                     part.data() + part.size());
    check::that(right, "train", "point_masses", part, "NAME=VALUE or NAME=still");
    atoms_.push_back({index_of(targets, part.substr(0, equals), "point_masses"), value});
  }
  const auto refuse = [&](std::size_t i, std::string_view setting) {
    check::that(!features.logarithmic(i), "train", setting, targets[i],
                "a state whose increments are not those of its logarithm (log_increments)");
  };
  for (const std::size_t i : integers_) {
    refuse(i, "integers");
    check::that(!features.all()[features.condition() + i].tails, "train", "integers", targets[i],
                "a state of whole numbers: its tails are heavy and it has others");
  }
  for (const Atom& atom : atoms_) refuse(atom.state, "point_masses");
}

DensityShape DensityMap::shape(std::size_t parameters) const {
  return {.states = features_.target(),
          .state_inputs = features_.known() + beside() + logarithms_.size() + polynomials(features_.condition()),
          .parameters = parameters,
          .atoms = atoms_.size()};
}

std::size_t DensityMap::beside() const { return features_.condition() > 0 ? features_.logarithmic().size() : 0; }

double DensityMap::x(const float* c, std::size_t i) const {
  const double seen = features_.all()[i].value(c[i]);
  return i < features_.states() && features_.logarithmic(i) ? std::exp(seen) : seen;
}
double DensityMap::x_next(const float* c, std::size_t i) const { return next_of(features_, c, i); }

void DensityMap::state(const float* c, std::span<float> out) const {
  const std::size_t n = features_.condition();
  std::size_t at = 0;
  for (; at < features_.known(); ++at) out[at] = c[features_.known(at)];
  for (std::size_t k = 0; k < beside(); ++k) {
    const std::size_t i = features_.logarithmic()[k];
    out[at++] = static_cast<float>((x(c, i) - features_.plain(i).mean) / features_.plain(i).scale);
  }
  for (const std::size_t i : logarithms_) {
    const double relative = std::max(0.0, x(c, i)) / features_.all()[i].scale;
    out[at++] = static_cast<float>(std::log(relative + log_floor));
  }
  if (polynomials(n) == 0) return;
  double u[most_polynomial_states];
  for (std::size_t i = 0; i < n; ++i) {
    const Feature& feature = features_.plain(i);
    const auto to_range = [&](double value, double low, double high) {
      return high > low ? (value - low) / (0.5 * (high - low)) - 1 : 0;
    };
    u[i] = feature.tails ? to_range(c[i], feature.seen(feature.low), feature.seen(feature.high))
                         : to_range(x(c, i), feature.low, feature.high);
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) out[at++] = static_cast<float>(polynomial_scale * u[i] * u[j]);
    out[at++] = static_cast<float>(polynomial_scale * u[i] * u[i] * u[i]);
  }
}

void DensityMap::increment(const float* c, const IncrementNoise& drawn, std::span<float> v, std::span<float> atom,
                           std::span<float> keep) const {
  const std::size_t n = features_.condition();
  for (std::size_t i = 0; i < features_.target(); ++i) {
    v[i] = c[n + i] + static_cast<float>(v_of_c(features_.all()[n + i]));
  }
  for (std::size_t k = 0; k < integers_.size(); ++k) {
    const std::size_t i = integers_[k];
    const float u = drawn.uniform.empty() ? 0.5F : drawn.uniform[k];
    v[i] += u / static_cast<float>(features_.all()[n + i].scale);
  }
  if (atoms_.empty()) return;
  std::ranges::fill(keep, 1.0F);
  for (std::size_t k = 0; k < atoms_.size(); ++k) {
    const std::size_t i = atoms_[k].state;
    // Features of an increment that never changes are 0, up to their rounding.
    const bool here = std::isnan(atoms_[k].value)
                          ? std::abs(c[n + i]) <= 2 * float_rounding
                          : std::abs(x_next(c, i) - atoms_[k].value) <= 2 * atom_tolerance(features_, i);
    atom[k] = here ? 1.0F : 0.0F;
    if (!here) continue;
    keep[i] = 0;
    if (noise_at_atoms_) v[i] = drawn.normal.empty() ? 0.0F : drawn.normal[k];
  }
}

double DensityMap::atom_increment(const float* c, const Atom& atom) const {
  const Feature& step = features_.all()[features_.condition() + atom.state];
  if (std::isnan(atom.value)) return v_of_c(step);
  return v_of(step, atom.value - x(c, atom.state));
}

void DensityMap::next_state(std::span<const double> before, const float* c, std::span<const double> v,
                            std::span<const double> keep, std::span<double> x_next) const {
  CATENA_ASSERT(features_.shape().plain());
  const std::size_t n = features_.states();
  for (std::size_t i = 0; i < n; ++i) {
    const Feature& step = features_.all()[n + i];
    // A population that dies out by factors never reaches 0.
    x_next[i] = features_.logarithmic(i)
                    ? std::max(std::numeric_limits<double>::min(), before[i] * std::exp(increment_of(step, v[i])))
                    : x(c, i) + increment_of(step, v[i]);
  }
  for (const std::size_t i : integers_) x_next[i] = std::floor(x_next[i]);
  for (const Atom& atom : atoms_) {
    if (keep[atom.state] != 0) continue;
    const Feature& step = features_.all()[n + atom.state];
    x_next[atom.state] = std::isnan(atom.value) ? before[atom.state] + step.mean : atom.value;
  }
}

double DensityMap::log_jacobian(const float* c, std::span<const float> keep) const {
  const std::size_t n = features_.condition();
  double sum = 0;
  for (std::size_t i = 0; i < features_.target(); ++i) {
    const Feature& step = features_.all()[n + i];
    if (keep.empty() || keep[i] != 0) sum -= std::log(step.scale) + (step.tails ? log_cosh(c[n + i]) : 0);
    if (features_.logarithmic(i)) {  // log x^(t+1)
      sum_up_to(features_, i, [&](std::size_t at) { sum -= features_.all()[at].value(c[at]); });
    }
  }
  return sum;
}

}  // namespace catena::model
