#include "catena/report/page.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "catena/core/errors.h"
#include "catena/core/random.h"
#include "catena/report/figure.h"
#include "catena/report/figures/pairs_shown.h"
#include "catena/report/theme.h"

namespace catena::report::page_test {
namespace {

DrawSet draws(std::size_t n, std::size_t parameters) {
  DrawSet set;
  set.values = Matrix(n, parameters);
  Stream stream = Streams(3).stream("draws");
  stream.fill_normal(set.values.values());
  for (std::size_t p = 0; p < parameters; ++p) set.parameters.push_back(fmt::format("p{}", p));
  return set;
}

Results everything() {
  Results results;
  results.posterior = draws(200, 3);
  results.reference = draws(300, 3);
  results.truth = {0.1, NAN, 0.3};
  results.observed = files::Series{{"prey"}, Matrix(30, 1), {}};
  results.observed->values(4, 0) = NAN;
  results.one_step = Predictive{Matrix(30, 1), Matrix(30, 1), Matrix(30, 1)};
  for (double& value : results.one_step->high.values()) value = 1;
  for (std::size_t t = 20; t < 30; ++t) results.observed->values(t, 0) = 2;  // outside
  results.information.emplace();
  results.information->parameters = {"p0", "p1", "p2"};
  results.information->information = evaluate::Information{Matrix(29, 3), {0.9, 0.5, 0.1}, {0.01, 0.01, 0.01}};
  results.information->information->contribution(3, 0) = 0.9;
  results.learning_curve = model::LearningCurve{{0, 1, 2}, {3, NAN, 1}, {3, 2, 1.5}, {}};
  results.calibration = Calibration{{"p0"}, {{9, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 3, 5}}}};
  const nlohmann::json off = {{"shift", 1.5}, {"shift_error", 0.1}, {"width", 1.0}, {"width_error", 0.05}};
  const nlohmann::json certificate = {{"parameters", {{"p0", off}, {"p1", off}, {"p2", off}}},
                                      {"alarm", true},
                                      {"shifted", true},
                                      {"budget_needed", 5000},
                                      {"sentences", {"p0: shifted by -1.5", "correct it with 5000 transitions"}}};
  results.correction = correction_of({{"certificate", certificate}, {"correction", {{"spent", 6000}}}},
                                     results.posterior->parameters, draws(100, 3).values);
  return results;
}

/// Every style that a mark or a view of the specification asks for.
void styles_in(const nlohmann::json& value, std::set<std::string>& styles) {
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items()) {
      if (key == "style" && inner.is_string()) styles.insert(inner.get<std::string>());
      styles_in(inner, styles);
    }
  }
  if (value.is_array()) {
    for (const auto& inner : value) styles_in(inner, styles);
  }
}

TEST(EveryFigure, IsDrawnFromItsResultsAndFromNoOthers) {
  EXPECT_TRUE(draw_all(Results{}).empty());
  std::set<std::string> drawn;
  for (const DrawnFigure& figure : draw_all(everything())) drawn.insert(figure.name);
  Results many;
  many.posterior = draws(50, 9);
  for (const DrawnFigure& figure : draw_all(many)) drawn.insert(figure.name);
  for (const Figure& figure : figures()) EXPECT_TRUE(drawn.contains(std::string(figure.name))) << figure.name;
}

TEST(Findings, NameAMisfitAndWhatTheSeriesDoesNotTell) {
  const Results results = everything();
  const Streams streams(1);
  std::string all;
  for (const Finding& finding : findings(results, summarise(results, streams, Parallel(1)), streams)) {
    all += fmt::format("{}: {}\n", name(finding.severity), finding.text);
  }
  // Rows 1 to 3 and 5 to 19 lie on the band's lower end, row 4 is missing, rows 20 to 29 lie outside: 18 of 28.
  EXPECT_NE(all.find("warning: Of 28 observed values only 64 % lie inside"), std::string::npos) << all;
  EXPECT_NE(all.find("note: The series says little about p2 (90 %)"), std::string::npos) << all;
  EXPECT_NE(all.find("do not fit together for p1 (-0.50)"), std::string::npos) << all;
  EXPECT_NE(all.find("comes from 1 of its 29 transitions"), std::string::npos) << all;
}

/// All findings of these results, a line each.
std::string told(const Results& results) {
  const Streams streams(1);
  std::string all;
  for (const Finding& finding : findings(results, summarise(results, streams, Parallel(1)), streams)) {
    all += fmt::format("{}: {}\n", name(finding.severity), finding.text);
  }
  return all;
}

TEST(Findings, TellARisingLossFromOneThatHasSettled) {
  // A steep fall at first, then a slow steady rise of a twentieth of it: with noise that is smaller, and larger.
  const auto curve = [](double rise, double noise) {
    model::LearningCurve made;
    Stream stream = Streams(5).stream("loss");
    for (int i = 0; i < 400; ++i) {
      made.step.push_back(i);
      made.held_out_loss.push_back(20 * std::exp(-i / 10.0) + rise * i / 400 + noise * stream.normal());
    }
    Results results;
    results.learning_curve = made;
    return told(results);
  };
  EXPECT_NE(curve(1, 0.02).find("note: The held-out loss was lowest near step"), std::string::npos) << curve(1, 0.02);
  EXPECT_NE(curve(0, 0.02).find("good: Training has settled"), std::string::npos) << curve(0, 0.02);
  EXPECT_NE(curve(0, 1).find("good: Training has settled"), std::string::npos) << curve(0, 1);
}

TEST(Findings, DoNotNameTransitionsWhoseContributionsCancel) {
  Results results = everything();
  Matrix& contribution = results.information->information->contribution;
  for (std::size_t t = 0; t < contribution.rows(); ++t) contribution(t, 0) = t % 2 == 0 ? 0.5 : -0.45;
  EXPECT_NE(told(results).find("note: What single transitions say partly cancels: 84 %"), std::string::npos)
      << told(results);
  EXPECT_EQ(told(results).find("Half of what"), std::string::npos);
}

TEST(Findings, KnowThatOneOfTwentyParametersLiesOutside) {
  Results results;
  results.posterior = draws(1000, 20);
  results.truth.assign(20, 0);
  results.truth[7] = 10;
  EXPECT_NE(
      told(results).find(
          "note: The true value of p7 lies outside the central 99 % of the draws; by chance one or more do in 18 %"),
      std::string::npos)
      << told(results);
  results.truth[8] = results.truth[9] = 10;
  EXPECT_NE(told(results).find("warning: The true value of p7, p8 and p9 lies outside"), std::string::npos)
      << told(results);
  results.posterior = draws(1000, 1);
  results.truth = {10};
  EXPECT_NE(told(results).find("warning: The true value of p0 lies outside"), std::string::npos) << told(results);
}

TEST(Labels, AreGivenToParametersAndStates) {
  Results results = everything();
  results.style.labels = {{"p1", "growth rate (1/yr)"}, {"prey", "prey (thousands)"}};
  apply_labels(results);
  EXPECT_EQ(results.posterior->parameters[1], "growth rate (1/yr)");
  EXPECT_EQ(results.observed->names[0], "prey (thousands)");
  EXPECT_NE(draw_all(results).front().drawing.spec.dump().find("growth rate (1/yr)"), std::string::npos);
  results.style.labels = {{"p9", "none"}};
  EXPECT_THROW(apply_labels(results), InputError);
}

TEST(Styles, HaveIntervalsOfChoice) {
  Results results = everything();
  results.style.interval = 0.5;
  const Summary summary = summarise(results, Streams(1), Parallel(1));
  EXPECT_NEAR(summary.parameters[0].high - summary.parameters[0].low, 1.35, 0.4);  // quartiles of a normal
  EXPECT_TRUE(to_json(summary)["parameters"][0].contains("q25"));
  EXPECT_EQ(end_text(0.95, false), "2.5 %");
  EXPECT_EQ(end_text(0.9, true), "95 %");
}

TEST(SeriesFigure, ShowsDatesAndTheForecast) {
  Results results = everything();
  for (int t = 0; t < 30; ++t) results.observed->times.push_back(t);
  results.observed->calendar = Calendar{"month", seconds_of_date("2000-01-01").value()};
  results.forecast = Predictive{Matrix(2, 1), Matrix(2, 1), Matrix(2, 1), {30, 31}};
  for (const DrawnFigure& figure : draw_all(results)) {
    if (figure.name != "series") continue;
    const nlohmann::json& layers = figure.drawing.spec["concat"][0]["layer"];
    ASSERT_EQ(layers.size(), 3U);  // band of the forecast, its median, the series
    EXPECT_EQ(layers[0]["encoding"]["x"]["type"], "temporal");
    EXPECT_EQ(layers[0]["data"]["values"][0]["x"], 1000 * static_cast<std::int64_t>(*seconds_of_date("2002-07-01")));
    return;
  }
  FAIL() << "no figure of the series";
}

TEST(SeriesFigure, ShowsCovariatesBelowTheStates) {
  Results results;
  results.observed = files::Series{{"prey"}, Matrix(30, 1), {}};
  const auto drawn = [&]() -> Drawing {
    for (const DrawnFigure& figure : draw_all(results)) {
      if (figure.name == "series") return figure.drawing;
    }
    return {};
  };
  EXPECT_EQ(drawn().caption, "");
  const std::string before = drawn().spec.dump();
  results.observed->covariate_names = {"temp", "effort"};
  results.observed->covariates = Matrix(30, 2);
  const std::string after = drawn().spec.dump();
  EXPECT_EQ(before.find("effort"), std::string::npos);
  EXPECT_NE(after.find("temp"), std::string::npos);
  EXPECT_NE(after.find("effort"), std::string::npos);
  EXPECT_EQ(drawn().caption, "Below the states: the covariates that acted on the steps.");
  results.forecast = Predictive{Matrix(2, 1), Matrix(2, 1), Matrix(2, 1), {30, 31}};
  const nlohmann::json views = drawn().spec["concat"];
  ASSERT_EQ(views.size(), 3U);
  for (const nlohmann::json& view : views) {  // one range of time for all rows
    EXPECT_EQ(view["layer"][0]["encoding"]["x"]["scale"]["domain"], nlohmann::json({0, 31}));
  }
  results.observed->covariate_names = {"a", "b", "c", "d", "e"};
  results.observed->covariates = Matrix(30, 5);
  EXPECT_EQ(drawn().caption, "Below the states: the first 4 of 5 covariates.");
}

TEST(Marginals, ShowThePrior) {
  Results results;
  results.posterior = draws(200, 1);
  const auto layers = [&] { return draw_all(results).front().drawing.spec["concat"][0]["layer"].size(); };
  const std::size_t without = layers();
  results.prior = draws(300, 1).values;
  EXPECT_EQ(layers(), without + 1);
}

TEST(Findings, SayWhatTheCertificateSays) {
  Results results = everything();
  const Streams streams(1);
  const auto found = [&](std::string_view text) {
    for (const Finding& finding : findings(results, summarise(results, streams, Parallel(1)), streams)) {
      if (fmt::format("{}: {}", name(finding.severity), finding.text).find(text) != std::string::npos) return true;
    }
    return false;
  };
  EXPECT_TRUE(found("good: These draws are corrected by 6000 simulated transitions."));
  EXPECT_TRUE(found("they say: p0: shifted by -1.5."));
  EXPECT_FALSE(found("correct it with"));
  results.correction->spent = 1000;
  EXPECT_TRUE(found("note: These draws are corrected by 1000 simulated transitions; 5000 would bring them within"));
  results.correction->not_corrected = "the series is short";
  EXPECT_TRUE(found("warning: These draws are as they were learned, not corrected: the series is short."));
  EXPECT_TRUE(found("correct it with 5000 transitions."));
}

TEST(Corrections, AreThoseOfTheirParametersOrNone) {
  const Results results = everything();
  ASSERT_TRUE(results.correction);
  EXPECT_EQ(results.correction->parameters[2].name, "p2");
  EXPECT_TRUE(results.correction->parameters[2].shift_alarm);
  EXPECT_FALSE(results.correction->parameters[2].width_alarm);
  EXPECT_FALSE(correction_of({{"certificate", "no JSON"}}, {"p0"}, {}));
  EXPECT_FALSE(correction_of(
      {{"certificate", {{"parameters", nlohmann::json::object()}}}, {"correction", nlohmann::json::object()}}, {"p0"},
      {}));
  const std::string html = page(results, {}, {}, {}, "");
  EXPECT_NE(html.find("<td class=\"alarm\">+1.50 ± 0.10</td><td>1.00 ± 0.05</td>"), std::string::npos);
}

TEST(EveryFigure, UsesOnlyStylesOfTheTheme) {
  const nlohmann::json config = vega_config(light_palette());
  for (const DrawnFigure& figure : draw_all(everything())) {
    std::set<std::string> styles;
    styles_in(figure.drawing.spec.at("concat"), styles);
    EXPECT_FALSE(styles.empty()) << figure.name;
    for (const std::string& style : styles) EXPECT_TRUE(config["style"].contains(style)) << figure.name << ' ' << style;
  }
}

TEST(EveryFigure, HoldsNoNumberThatJsonCannot) {
  for (const DrawnFigure& figure : draw_all(everything())) {
    const std::string text = figure.drawing.spec.dump();
    EXPECT_EQ(nlohmann::json::parse(text), figure.drawing.spec) << figure.name;
  }
}

TEST(PairPlot, ShowsTheParametersThatDependOnEachOtherMost) {
  DrawSet set = draws(400, 9);
  for (std::size_t r = 0; r < 400; ++r) {
    for (const std::size_t copy : {2, 4, 5, 7, 8}) set.values(r, copy) = set.values(r, 1) + 0.5 * set.values(r, copy);
  }
  EXPECT_EQ(pairs_shown(set), (std::vector<std::size_t>{1, 2, 4, 5, 7, 8}));
  EXPECT_EQ(pairs_shown(draws(50, 3)), (std::vector<std::size_t>{0, 1, 2}));
}

TEST(PageEscapes, MarkupInTextAndInScripts) {
  EXPECT_EQ(escaped("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
  const nlohmann::json value = {{"name", "</script><!--"}};
  EXPECT_EQ(json_for_script(value).find('<'), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(json_for_script(value)), value);
  EXPECT_NO_THROW(json_for_script(nlohmann::json("\xff")));
}

TEST(PageEscapes, EndTagsInsideVegaItself) {
  const std::string html = page(everything(), {}, {}, draw_all(everything()), "var a = '</script>';");
  EXPECT_NE(html.find("var a = '<\\/script>';"), std::string::npos);
}

TEST(NumberText, HasTheDecimalsThatTheSpreadGivesMeaningTo) {
  EXPECT_EQ(number_text(1.23456, 0.05), "1.2346");
  EXPECT_EQ(number_text(-12345.6, 200), "−12346");
  EXPECT_EQ(number_text(-0.0001, 1), "0.00");
  EXPECT_EQ(number_text(3, 0), "3.00");
  EXPECT_EQ(number_text(NAN, 1), "–");
  EXPECT_EQ(number_text(1e12, 1e10), "1e+12");
}

TEST(Summaries, RankTheTruthAndCompareWithTheReference) {
  Results results;
  results.posterior = DrawSet{};
  results.posterior->parameters = {"a"};
  results.posterior->values = Matrix(5, 1);
  for (std::size_t k = 0; k < 5; ++k) results.posterior->values(k, 0) = static_cast<double>(k);
  results.reference = results.posterior;
  for (std::size_t k = 0; k < 5; ++k) results.reference->values(k, 0) = 2.0 * static_cast<double>(k);
  results.truth = {3};
  const Summary summary = summarise(results, Streams(0), Parallel(1));
  ASSERT_EQ(summary.parameters.size(), 1U);
  EXPECT_DOUBLE_EQ(summary.parameters[0].low, 0.2);  // 5 % of the way from the first of five to the last
  EXPECT_DOUBLE_EQ(*summary.parameters[0].rank_of_truth, 0.7);
  EXPECT_DOUBLE_EQ(*summary.parameters[0].spread_ratio, 0.5);
  EXPECT_DOUBLE_EQ(*summary.parameters[0].mean_shift, -2 / std::sqrt(10.0));
  EXPECT_FALSE(summary.comparison->c2st);  // needs 20 draws
}

}  // namespace
}  // namespace catena::report::page_test
