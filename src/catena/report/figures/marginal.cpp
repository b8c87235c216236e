#include "catena/report/figures/marginal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "catena/core/quantile.h"
#include "catena/report/kernel_density.h"
#include "catena/report/summary.h"

namespace catena::report {

namespace {

bool vary(const std::vector<double>& values) {
  const auto [low, high] = std::ranges::minmax(values);
  return low < high;
}

nlohmann::json curve(const Density& density) {
  std::vector<std::pair<double, double>> points;
  // A border of the prior is a vertical edge; elsewhere the curve has come down to zero by itself.
  points.emplace_back(density.grid.low, density.grid.reflect_low ? density.height.front() : 0);
  for (std::size_t i = 0; i < density.grid.cells; ++i) points.emplace_back(density.grid.middle(i), density.height[i]);
  points.emplace_back(density.grid.high, density.grid.reflect_high ? density.height.back() : 0);
  return data_of(points);
}

}  // namespace

bool has_density(const std::vector<double>& values) { return values.size() >= least_draws_for_density && vary(values); }

nlohmann::json small_axis(const std::string& title) {
  return {{"title", axis_label(title)}, {"tickCount", 3}, {"labelBound", 6}, {"minExtent", 18}};
}

/// Draws beyond the outer thousandths would squeeze all the others together, so they may stick out.
std::pair<double, double> parameter_range(const Results& results, std::size_t parameter) {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  const auto include = [&](double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  };
  for (const auto* set : {&results.posterior, &results.reference}) {
    if (!*set) continue;
    std::vector<double> values = column((*set)->values, parameter);
    include(quantile(values, 0.001));
    include(quantile(values, 0.999));
  }
  if (!results.truth.empty() && std::isfinite(results.truth[parameter])) include(results.truth[parameter]);
  return padded_range(low, high);
}

nlohmann::json marginal_view(const Results& results, std::size_t parameter, const nlohmann::json& axis,
                             MarginalOrder order) {
  const auto [low, high] = parameter_range(results, parameter);
  const nlohmann::json x = {{"field", "x"},
                            {"type", "quantitative"},
                            {"scale", {{"domain", {low, high}}, {"nice", false}, {"zero", false}}},
                            {"axis", axis}};
  const auto clipped = [](nlohmann::json m) {
    m["clip"] = true;
    return m;
  };
  const std::vector<double> draws = column(results.posterior->values, parameter);
  const std::vector<double> reference =
      results.reference ? column(results.reference->values, parameter) : std::vector<double>{};
  std::optional<Density> of_draws, of_reference;
  if (has_density(draws)) of_draws = density(draws);
  if (has_density(reference)) of_reference = density(reference);
  double highest = 0;
  for (const auto* d : {&of_draws, &of_reference}) {
    if (*d) highest = std::max(highest, std::ranges::max((*d)->height));
  }
  const nlohmann::json y = {{"field", "y"},
                            {"type", "quantitative"},
                            {"axis", nullptr},
                            {"stack", nullptr},
                            {"scale", {{"domain", {0, highest > 0 ? 1.06 * highest : 1.0}}, {"nice", false}}}};
  nlohmann::json layers = nlohmann::json::array();
  const auto add = [&](const nlohmann::json& data, const char* type, const char* style) {
    layers.push_back({{"data", data}, {"mark", clipped(mark(type, style))}, {"encoding", {{"x", x}, {"y", y}}}});
  };
  const bool behind = order == MarginalOrder::reference_behind;
  if (results.prior.rows() > 0 && !behind) {
    const std::vector<double> prior = column(results.prior, parameter);
    if (has_density(prior)) add(curve(density(prior)), "line", "faint");
  }
  if (of_reference && behind) {
    const nlohmann::json data = curve(*of_reference);
    add(data, "area", "band");
    add(data, "line", "faint");
  }
  if (of_draws) {
    const nlohmann::json data = curve(*of_draws);
    add(data, "area", "density_area");
    add(data, "line", "posterior");
  } else {
    // A short line for every draw, or one for the value that all have.
    const bool constant = !vary(draws);
    nlohmann::json values = nlohmann::json::array();
    for (std::size_t k = 0; k < (constant ? 1 : draws.size()); ++k) {
      values.push_back(
          {{"x", rounded(draws[k])}, {"y", 0}, {"y2", (constant ? 1.0 : 0.15) * (highest > 0 ? highest : 1)}});
    }
    layers.push_back({{"data", {{"values", std::move(values)}}},
                      {"mark", clipped(mark("rule", "posterior"))},
                      {"encoding", {{"x", x}, {"y", y}, {"y2", {{"field", "y2"}}}}}});
  }
  if (of_reference && !behind) add(curve(*of_reference), "line", "reference");
  if (!results.truth.empty() && std::isfinite(results.truth[parameter])) {
    layers.push_back({{"data", data_of({{results.truth[parameter], 0}})},
                      {"mark", mark("rule", "truth")},
                      {"encoding", {{"x", x}}}});
  }
  return {{"layer", std::move(layers)}};
}

std::vector<KeyEntry> posterior_key(const Results& results, const std::string& posterior_label,
                                    const std::string& reference_label) {
  std::vector<KeyEntry> key{{"area", "posterior", posterior_label}};
  if (results.posterior->values.rows() < least_draws_for_density) {
    key = {{"dot", "posterior", "draws of the posterior"}};
  }
  if (results.reference) key.push_back({"line", "reference", reference_label});
  if (results.prior.rows() > 0) key.push_back({"line", "muted", "prior"});
  if (!results.truth.empty()) key.push_back({"dot", "truth", "true value"});
  return key;
}

}  // namespace catena::report
