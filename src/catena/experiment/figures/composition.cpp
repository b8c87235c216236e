// Figure 2b (and that of the samplers in the appendix): rules of composition × steps of Euler–Maruyama, with and
// without five Langevin steps at every level. Once with exact local scores, where they are known: what is lost then is
// lost by rule and sampler alone; once with learned ones.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "catena/experiment/figures/figure.h"

namespace catena::experiment {
namespace {

struct ScoreSource {
  const char *label, *file, *title;
  std::vector<std::string> tasks;
};
const std::vector<ScoreSource>& score_sources() {
  static const std::vector<ScoreSource> sources = {
      {"exact",
       "paper_2b_exact",
       "Composition with exact local scores: C2ST",
       {"gaussian_rw 2-d", "mixture_rw 2-d", "mixture_rw 5-d"}},
      {"fnse",
       "paper_2b_learned",
       "Composition with learned local scores, 10,000 transitions: C2ST",
       {"gaussian_rw 2-d", "mixture_rw 5-d", "periodic_sde 2-d", "double_well 2-d"}}};
  return sources;
}

const std::vector<Line> rule_lines = {
    {"fnpe", "#6b7785", "diamond"}, {"gauss", "#0072B2", "circle"}, {"jac", "#D55E00", "square"}};
/// What labels of rows end with, and how it is said beside a panel.
using Shown = std::pair<std::string, std::string>;
const std::vector<Shown> samplers_shown = {{"500 steps", "500 steps"},
                                           {"500 steps to zero", "500, to a = 0"},
                                           {"500 steps with 5 Langevin", "500, 5 Langevin"},
                                           {"100 steps", "100 steps"},
                                           {"100 steps with 5 Langevin", "100, 5 Langevin"}};

/// "exact gauss 500 steps with 5 Langevin" → rule and sampler
Place composition_place(const ScoreSource& source) {
  return [&source](const Cell& cell, Point& point) {
    point.panel = cell.task;
    for (const Line& rule : rule_lines) {
      const std::string begin = fmt::format("{} {} ", source.label, rule.name);
      if (!cell.method.starts_with(begin)) continue;
      const auto sampler = std::ranges::find(samplers_shown, cell.method.substr(begin.size()), &Shown::first);
      if (sampler == samplers_shown.end()) return false;
      point.line = rule.name;
      point.row = sampler->second;
      return true;
    }
    return false;
  };
}

std::vector<report::DrawnFigure> draw_composition(const std::vector<Row>& rows) {
  std::vector<report::DrawnFigure> pictures;
  for (const ScoreSource& source : score_sources()) {
    const std::vector<Point> points = points_of(rows, "c2st", composition_place(source));
    if (points.empty()) continue;
    Chart chart{.x_title = "observed transitions T",
                .y_title = "",
                .panels = source.tasks,
                .lines = rule_lines,
                .ticks = {1, 10, 100},
                .width = 190,
                .height = 120};
    for (const Shown& sampler : samplers_shown) chart.rows.push_back(sampler.second);
    as_c2st(chart);
    pictures.push_back(picture(
        source.file, source.title,
        fmt::format(
            "Euler–Maruyama down to a = 0.01, the paper's end, or 0. 5 Langevin: that many such steps at every level. "
            "Bars: one standard error. {}.",
            counts(rows, "c2st", composition_place(source))),
        {chart_view(chart, points)}));
  }
  return pictures;
}

/// Means over the tasks that have all rules at the longest series.
std::string composition_finding(const std::vector<Row>& rows) {
  std::string text;
  for (const ScoreSource& source : score_sources()) {
    double longest = 0;
    const std::vector<Point> points = points_of(rows, "c2st", composition_place(source));
    for (const Point& point : points) longest = std::max(longest, point.x);
    for (const auto& [label, sampler] : {samplers_shown[0], samplers_shown[1], samplers_shown[2]}) {
      std::map<std::string, std::map<std::string, double>> tasks;  // → rule → C2ST
      for (const Point& point : points) {
        if (point.x == longest && point.row == sampler) tasks[point.panel][point.line] = point.y;
      }
      std::erase_if(tasks, [](const auto& task) { return task.second.size() < rule_lines.size(); });
      if (tasks.empty()) continue;
      text += fmt::format("{}{} scores, T = {}, {}, mean C2ST over {} task{}:", text.empty() ? "" : " ",
                          source.label == std::string("exact") ? "Exact" : "Learned", longest, label, tasks.size(),
                          tasks.size() == 1 ? "" : "s");
      for (const Line& rule : rule_lines) {
        double sum = 0;
        for (const auto& [task, by_rule] : tasks) sum += by_rule.at(rule.name);
        text += fmt::format(" {} {:.2f},", rule.name, sum / static_cast<double>(tasks.size()));
      }
      text.back() = '.';
    }
  }
  return text;
}

}  // namespace

PaperFigure composition_figure() {
  return {
      .name = "2b",
      .title = "rules of composition and samplers",
      .shows =
          "What rules and samplers cost by themselves: three rules, 500 and 100 steps down to the smallest noise of "
          "the "
          "paper, a = 0.01, without and with Langevin steps; and 500 steps down to 0. Where the exact posterior is as "
          "narrow as that noise, ending there costs more than the rule. The paper prints no numbers of it.",
      .sweeps = {"composition-exact.json", "composition-10k.json"},
      .draw = draw_composition,
      .finding = composition_finding};
}

}  // namespace catena::experiment
