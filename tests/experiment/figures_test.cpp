#include <gtest/gtest.h>

#include <set>

#include "catena/experiment/figures/state.h"
#include "catena/experiment/results/overview.h"
#include "catena/experiment/row_plan.h"
#include "data_path.h"

namespace catena::experiment::figures_test {
namespace {

std::filesystem::path sweeps() { return std::filesystem::path(CATENA_TEST_DATA) / "../../benchmarks/sweeps"; }

/// Every row of the figure's sweeps, with numbers that differ.
std::vector<Row> rows_of(const PaperFigure& figure) {
  std::vector<Row> rows;
  for (const auto& [file, sweep] : sweeps_of(figure, sweeps())) {
    for (const RowPlan& plan : row_plans(sweep, {})) {
      Row row = plan.row;
      const double value = 0.5 + 0.01 * static_cast<double>(rows.size() % 40);
      row.values = {{"c2st", value}, {"sw1", 0.1 * value}, {"sample_seconds", value}, {"train_seconds", 10}};
      row.values[learned_column("c2st")] = value;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

void collect(const nlohmann::json& spec, std::set<std::string>& lines, std::set<std::string>& panels) {
  if (spec.is_object() && spec.contains("line")) lines.insert(spec["line"]), panels.insert(spec["panel"]);
  for (const auto& part : spec) {
    if (part.is_structured()) collect(part, lines, panels);
  }
}

}  // namespace

TEST(PaperFigures, EveryOneIsDrawnFromTheRowsOfItsSweeps) {
  for (const PaperFigure& figure : paper_figures()) {
    const std::vector<Row> rows = rows_of(figure);
    const std::vector<report::DrawnFigure> pictures = figure.draw(rows);
    ASSERT_FALSE(pictures.empty()) << figure.name;
    EXPECT_FALSE(figure.finding(rows).empty()) << figure.name;
    for (const report::DrawnFigure& picture : pictures) {
      std::set<std::string> lines, panels;
      collect(picture.drawing.spec, lines, panels);
      EXPECT_GE(lines.size(), 2U) << picture.name;
      EXPECT_GE(panels.size(), 2U) << picture.name;
      EXPECT_EQ(picture.drawing.spec.at("title").at("text"), picture.title);
    }
  }
}

TEST(PaperFigures, EveryOneIsSilentWithoutRows) {
  for (const PaperFigure& figure : paper_figures()) {
    EXPECT_TRUE(figure.draw({}).empty()) << figure.name;
    EXPECT_TRUE(figure.finding({}).empty()) << figure.name;
  }
}

TEST(PaperFigures, SayHowManyOfTheirRowsAreThere) {
  const PaperFigure& figure = paper_figures().at("test", "2b");
  std::vector<Row> rows = rows_of(figure);
  const std::size_t all = rows.size();
  rows.resize(all - 7);
  const FigureState state = state_of(sweeps_of(figure, sweeps()), rows, ::testing::TempDir(), Parallel(1));
  EXPECT_EQ(state.all, all);
  EXPECT_EQ(state.there, all - 7);
  EXPECT_EQ(state.missing.rows, 7U);
}

TEST(PaperFigures, ShowThePapersNumbersWhereItPrintsThem) {
  std::vector<Row> rows;
  for (const std::uint64_t T : {1U, 10U, 100U}) {
    Row row;
    row.task = "periodic_sde", row.method = "fnle", row.budget = 10000, row.transitions = T;
    row.values = {{"c2st", 0.55}};
    rows.push_back(row);
  }
  const std::vector<report::DrawnFigure> pictures = paper_figures().at("test", "2c").draw(rows);
  ASSERT_EQ(pictures.size(), 1U);
  bool found = false;
  for (const auto& value : pictures[0].drawing.spec["data"]["values"]) {
    const bool papers = value["source"] == "the paper" && value["line"] == "fnle" && value["panel"] == "periodic_sde";
    found = found || (papers && value["x"] == 100 && value["y"] == 0.83);
  }
  EXPECT_TRUE(found);
}

TEST(Overview, SaysWhoWinsAndWhatIsBadFromTheRows) {
  std::vector<Row> rows;
  const auto add = [&](const char* task, const char* method, double c2st) {
    for (const std::uint64_t observation : {1U, 2U}) {
      Row row;
      row.task = task, row.method = method, row.budget = 10000, row.transitions = 100, row.observation = observation;
      row.values = {{"c2st", c2st}};
      rows.push_back(row);
    }
  };
  add("periodic_sde", "fnle", 0.61);  // the paper: 0.83
  add("periodic_sde", "fnse", 0.95);  // the paper: 0.85
  add("sir", "fnle", 0.73);           // the paper: 0.96
  const std::string text = overview(rows);
  EXPECT_NE(text.find("Of 3 cells"), std::string::npos) << text;
  EXPECT_NE(text.find("same method in 2."), std::string::npos) << text;
  EXPECT_NE(text.find("`fnle` in 2"), std::string::npos) << text;
  EXPECT_NE(
      text.find("`fnse` is above the paper's number in 1 cell: periodic_sde at T = 100 (10000: 0.95, the paper 0.85)"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("| fnle | 0.67 (0.90) |"), std::string::npos) << text;
  EXPECT_NE(text.find("No row failed."), std::string::npos) << text;
  EXPECT_EQ(overview({}), "");
}

}  // namespace catena::experiment::figures_test
