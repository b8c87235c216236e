#include "catena/compose/rule.h"

#include "catena/core/check.h"

namespace catena::compose {

// One file each in rules/; their formulas stand there.
Rule fnpe_rule();
Rule gauss_rule();
Rule jac_rule();

const Registry<Rule>& rules() {
  static const Registry<Rule> registry("rule", {fnpe_rule(), gauss_rule(), jac_rule()});
  return registry;
}

std::unique_ptr<SeriesScore> compose(std::string_view name, RuleInput input) {
  const Rule& rule = rules().at("compose", name);
  CATENA_ASSERT(input.source != nullptr);
  const std::size_t T = input.source->transitions(), d = input.source->dimension();
  check::at_least("compose", "transitions", T, std::size_t{1});
  check::at_least("compose", "dimension", d, std::size_t{1});
  diffusion::check_schedule("compose", input.schedule);
  check_config("compose", input.settings);
  const Matrix& c = input.precisions;
  if (c.rows() > 0 || (rule.needs_precisions && !input.series_precision)) {
    check::equal("compose", "rows of precisions", c.rows(), T);
    check::that(c.cols() == d || c.cols() == d * d, "compose", "columns of precisions", c.cols(),
                fmt::format("{} (diagonal) or {} (full)", d, d * d));
    check::all_finite("compose", "precisions", c.values());
  }
  if (rule.needs_jacobians) {
    check::that(
        input.source->has_jacobians(), "compose", "the source of local scores", "one without Jacobians",
        fmt::format("one with Jacobians for rule {}: train fnse, whose networks separable and joint have them", name));
  }
  return rule.make(std::move(input));
}

}  // namespace catena::compose
