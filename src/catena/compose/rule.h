/// The composition rules by name: each turns local scores into the score of the series. A new rule is one file in
/// rules/, whose function returns the entry, and its name in rule.cpp.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <string_view>

#include "catena/compose/scores/local_scores.h"
#include "catena/compose/scores/series_score.h"
#include "catena/core/config.h"
#include "catena/core/registry.h"
#include "catena/diffusion/schedule.h"

namespace catena::compose {

struct RuleSettings {
  double nugget = 0.1;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.nugget, "nugget", "smallest eigenvalue that the series' precision may have (the prior's is 1)", positive());
  }
};

/// What a rule is made from. `source` must outlive the rule; `precisions` holds the local posteriors' C_t, one a row.
struct RuleInput {
  const LocalScores* source = nullptr;
  diffusion::Schedule schedule{};
  LocalPrecisions precisions{};
  /// Λ(0) before repair, where the sums of a stream are all that is known (series_state.h); else from the precisions.
  std::optional<Eigen::MatrixXd> series_precision = {};
  RuleSettings settings{};
};

struct Rule {
  std::string_view name;
  std::string_view help;
  bool needs_precisions;
  bool needs_jacobians;
  std::unique_ptr<SeriesScore> (*make)(RuleInput input);
};

const Registry<Rule>& rules();

/// The rule of that name over checked input.
std::unique_ptr<SeriesScore> compose(std::string_view rule, RuleInput input);

}  // namespace catena::compose
