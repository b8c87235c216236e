/// The density of one parameter as a view: the posterior as an area, the reference as a line, the true value as a rule.
/// Shared by the diagonal of the pair plot and by the list of all marginals.
#pragma once

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "catena/report/figure.h"
#include "catena/report/results.h"

namespace catena::report {

/// Below this many draws no density is drawn: it would show the kernel, not the posterior.
inline constexpr std::size_t least_draws_for_density = 20;

/// The values vary, and there are enough of them.
bool has_density(const std::vector<double>& values);

/// What the axis of a parameter must show: the posterior, the reference and the true value.
std::pair<double, double> parameter_range(const Results& results, std::size_t parameter);

/// The reference as a line above the posterior, or as a grey area behind it.
enum class MarginalOrder : bool { reference_above, reference_behind };

/// x = the parameter, with `axis` (may be null) and no y axis.
nlohmann::json marginal_view(const Results& results, std::size_t parameter, const nlohmann::json& axis,
                             MarginalOrder order = MarginalOrder::reference_above);

/// The key of figures that show posterior, reference and true values, as far as they are there.
std::vector<KeyEntry> posterior_key(const Results& results, const std::string& posterior_label,
                                    const std::string& reference_label);

/// An axis with few ticks and this title.
nlohmann::json small_axis(const std::string& title);

}  // namespace catena::report
