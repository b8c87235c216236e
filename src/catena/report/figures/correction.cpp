// The density of every parameter before and after the correction by simulation.

#include <fmt/format.h>

#include "catena/report/figures/marginal.h"

namespace catena::report {

namespace {

constexpr std::size_t most_corrections = 60;  // as many as the figure of all marginals shows

std::optional<Drawing> draw_correction(const Results& results) {
  if (!results.posterior || !results.correction || !results.correction->learned) return std::nullopt;
  // The learned draws stand where a reference would: its axis shows both, and its line goes behind.
  Results both;
  both.posterior = results.posterior;
  both.reference = DrawSet{};
  both.reference->parameters = results.posterior->parameters;
  both.reference->values = *results.correction->learned;
  both.truth = results.truth;
  const std::vector<std::string>& names = results.posterior->parameters;
  std::vector<nlohmann::json> views;
  for (std::size_t p = 0; p < names.size() && p < most_corrections; ++p) {
    views.push_back(marginal_view(both, p, small_axis(names[p]), MarginalOrder::reference_behind));
  }
  Drawing drawing;
  drawing.spec =
      grid(std::move(views),
           {.columns = 4, .fixed = false, .width = 190, .least = 150, .most = 260, .aspect = 0.55, .spacing = 52});
  drawing.key = {{"area", "posterior", "corrected"}, {"area", "muted", "learned"}};
  if (!both.truth.empty()) drawing.key.push_back({"dot", "truth", "true value"});
  if (names.size() > most_corrections) {
    drawing.caption = fmt::format("The first {} of {} parameters.", most_corrections, names.size());
  }
  return drawing;
}

}  // namespace

Figure correction_figure() { return {"correction", "Learned against corrected", true, draw_correction}; }

}  // namespace catena::report
