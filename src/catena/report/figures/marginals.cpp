// The density of every parameter, where the pair plot shows only some of them.

#include <fmt/format.h>

#include "catena/report/figures/marginal.h"
#include "catena/report/figures/pairs_shown.h"

namespace catena::report {

namespace {

constexpr std::size_t most_marginals = 60;  // beyond it a page is no place to look; the table has them all

std::optional<Drawing> draw_marginals(const Results& results) {
  if (!results.posterior || results.posterior->parameters.size() <= most_pairs_shown) return std::nullopt;
  const std::vector<std::string>& names = results.posterior->parameters;
  std::vector<nlohmann::json> views;
  for (std::size_t p = 0; p < names.size() && p < most_marginals; ++p) {
    views.push_back(marginal_view(results, p, small_axis(names[p])));
  }
  Drawing drawing;
  drawing.spec =
      grid(std::move(views),
           {.columns = 5, .fixed = false, .width = 150, .least = 130, .most = 200, .aspect = 0.55, .spacing = 52});
  drawing.key = posterior_key(results, "posterior", "reference");
  if (names.size() > most_marginals) {
    drawing.caption = fmt::format("The first {} of {} parameters.", most_marginals, names.size());
  }
  return drawing;
}

}  // namespace

Figure marginals_figure() { return {"marginals", "Every parameter", true, draw_marginals}; }

}  // namespace catena::report
