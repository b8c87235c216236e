// Where along the series the information comes from: the share of the prior's variance that each transition took away,
// over all parameters and for each (evaluate/information.h).

#include <cmath>

#include "catena/report/figures/times.h"

namespace catena::report {

namespace {

constexpr std::size_t most_bars = 200;  // bars of two pixels on a phone
constexpr std::size_t most_parameters = 6;

/// Contributions as bars from one time to the next, neighbours added up where there are too many.
nlohmann::json share_view(const files::Series& series, const std::vector<double>& share, const std::string& name,
                          bool last) {
  const std::size_t bucket = (share.size() + most_bars - 1) / most_bars;
  nlohmann::json bars = nlohmann::json::array();
  for (std::size_t begin = 0; begin < share.size(); begin += bucket) {
    const std::size_t end = std::min(begin + bucket, share.size());
    double sum = 0;
    for (std::size_t t = begin; t < end; ++t) sum += share[t];
    bars.push_back({{"x", along(series, begin)}, {"x2", along(series, end)}, {"y", rounded(sum)}, {"y2", 0}});
  }
  const nlohmann::json y = {
      {"field", "y"},
      {"type", "quantitative"},
      {"axis", {{"title", axis_label(name)}, {"tickCount", 3}, {"minExtent", 32}, {"format", "~p"}}}};
  nlohmann::json layers = nlohmann::json::array();
  layers.push_back(
      {{"data", {{"values", std::move(bars)}}},
       {"mark", mark("rect", "bar")},
       {"encoding",
        {{"x", time_channel(series, last)}, {"x2", {{"field", "x2"}}}, {"y", y}, {"y2", {{"field", "y2"}}}}}});
  layers.push_back({{"data", data_of({{0, 0}})}, {"mark", mark("rule", "zero")}, {"encoding", {{"y", y}}}});
  return {{"layer", std::move(layers)}};
}

std::optional<Drawing> draw_information(const Results& results) {
  if (!results.information || !results.information->information || !results.observed) return std::nullopt;
  const evaluate::Information& information = *results.information->information;
  const std::vector<std::string>& names = results.information->parameters;
  const std::size_t d = names.size(), transitions = information.contribution.rows();
  if (results.observed->values.rows() != transitions + 1) return std::nullopt;
  std::vector<double> share(transitions);
  for (std::size_t t = 0; t < transitions; ++t) share[t] = information.of_transition(t) / static_cast<double>(d);
  const std::size_t shown = d == 1 ? 0 : std::min(d, most_parameters);
  std::vector<nlohmann::json> views{share_view(*results.observed, share, d == 1 ? names[0] : "all", shown == 0)};
  for (std::size_t i = 0; i < shown; ++i) {
    for (std::size_t t = 0; t < transitions; ++t) share[t] = information.contribution(t, i);
    views.push_back(share_view(*results.observed, share, names[i], i + 1 == shown));
  }
  Drawing drawing;
  drawing.spec = grid(std::move(views), row_layout(1 + shown));
  drawing.caption =
      "The share of the prior's variance that each transition took away, by the local estimates at the draws. "
      "Shares add up to what the whole series took away:";
  for (std::size_t i = 0; i < std::min(d, most_parameters); ++i) {
    drawing.caption += fmt::format("{} {} {:.1f} %", i == 0 ? "" : ",", names[i], 100 * information.removed[i]);
  }
  drawing.caption += ". A share below zero belongs to a transition that widens the posterior.";
  if (transitions > most_bars) {
    drawing.caption += fmt::format(" Each bar holds {} transitions.", (transitions + most_bars - 1) / most_bars);
  }
  if (shown > 0 && shown < d) drawing.caption += fmt::format(" The first {} of {} parameters.", shown, d);
  return drawing;
}

}  // namespace

Figure information_figure() { return {"information", "Where the information comes from", false, draw_information}; }

}  // namespace catena::report
