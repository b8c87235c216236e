// Calibration: the distribution of the true values' ranks minus the uniform one, with the band that all of it stays
// inside for 95 % of calibrated posteriors (Säilynoja et al. 2022, docs/refs.bib: sailynoja2022).

#include <fmt/format.h>

#include "catena/evaluate/calibration.h"
#include "catena/report/figures/marginal.h"

namespace catena::report {

namespace {

constexpr std::size_t most_panels = 30;

nlohmann::json rank_view(const std::string& name, const evaluate::Uniformity& u) {
  nlohmann::json band = nlohmann::json::array({{{"x", 0}, {"y", 0}, {"y2", 0}}});
  std::vector<std::pair<double, double>> line{{0, 0}};
  for (std::size_t i = 0; i < u.point.size(); ++i) {
    band.push_back({{"x", rounded(u.point[i])}, {"y", rounded(u.lower[i])}, {"y2", rounded(u.upper[i])}});
    line.emplace_back(u.point[i], u.difference[i]);
  }
  band.push_back({{"x", 1}, {"y", 0}, {"y2", 0}});
  line.emplace_back(1, 0);
  const nlohmann::json x = {{"field", "x"},
                            {"type", "quantitative"},
                            {"scale", {{"domain", {0, 1}}}},
                            {"axis", {{"title", axis_label(name)}, {"tickCount", 3}}}};
  const nlohmann::json y = {{"field", "y"}, {"type", "quantitative"}, {"axis", {{"title", nullptr}, {"tickCount", 3}}}};
  return {{"layer",
           {{{"data", {{"values", std::move(band)}}},
             {"mark", mark("area", "band")},
             {"encoding", {{"x", x}, {"y", y}, {"y2", {{"field", "y2"}}}}}},
            {{"data", data_of({{0, 0}})}, {"mark", mark("rule", "zero")}, {"encoding", {{"y", y}}}},
            {{"data", data_of(line)},
             {"mark", mark("line", u.inside ? "posterior" : "alarm")},
             {"encoding", {{"x", x}, {"y", y}}}}}}};
}

std::optional<Drawing> draw_calibration(const Results& results) {
  if (!results.calibration) return std::nullopt;
  const Calibration& calibration = *results.calibration;
  std::vector<nlohmann::json> views;
  bool outside = false;
  for (std::size_t p = 0; p < calibration.ranks.size() && p < most_panels; ++p) {
    const evaluate::Uniformity u = evaluate::uniformity(calibration.ranks[p]);
    outside = outside || !u.inside;
    views.push_back(rank_view(calibration.parameters[p], u));
  }
  if (views.empty()) return std::nullopt;
  Drawing drawing;
  const std::size_t columns = std::min<std::size_t>(3, views.size());
  drawing.spec = grid(std::move(views), {.columns = columns,
                                         .fixed = false,
                                         .width = 220,
                                         .least = 115,
                                         .most = columns == 1 ? 460.0 : 300.0,
                                         .aspect = 0.6,
                                         .spacing = 58});
  drawing.key = {{"line", "posterior", "distribution of ranks minus the uniform one"},
                 {"area", "muted", "band of 95 % for a calibrated posterior"}};
  if (outside) drawing.key.push_back({"line", "truth", "outside the band"});
  drawing.caption = fmt::format("Ranks of the true values among {} draws, for {} simulated series.",
                                calibration.ranks.front().draws, calibration.ranks.front().values.size());
  if (calibration.ranks.size() > most_panels) {
    drawing.caption += fmt::format(" The first {} of {} parameters.", most_panels, calibration.ranks.size());
  }
  return drawing;
}

}  // namespace

Figure calibration_figure() { return {"calibration", "Calibration", false, draw_calibration}; }

}  // namespace catena::report
