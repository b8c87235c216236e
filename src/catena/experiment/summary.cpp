#include "catena/experiment/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "catena/experiment/paper_table.h"

namespace catena::experiment {
namespace {

struct PaperNumber {
  std::string method, task;
  std::uint64_t budget = 0;
  std::size_t transitions = 0;
  double c2st = 0;
};

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

const std::vector<PaperNumber>& paper_numbers() {
  static const std::vector<PaperNumber> numbers = [] {
    std::vector<PaperNumber> result;
    std::istringstream lines{std::string(paper_table)};
    for (std::string line; std::getline(lines, line);) {
      if (line.empty() || line.starts_with('#') || line.starts_with("method,")) continue;
      std::istringstream fields(line);
      std::string method, budget, task, transitions, c2st;
      for (std::string* field : {&method, &budget, &task, &transitions, &c2st}) std::getline(fields, *field, ',');
      result.push_back({lower(method), task, std::stoull(budget), std::stoul(transitions), std::stod(c2st)});
    }
    return result;
  }();
  return numbers;
}

}  // namespace

std::string papers_method(const std::string& method) {
  // A score as the gradient of a blurred likelihood is not in the paper; what it has of scores is FNSE.
  if (method == "fnbe") return "fnse";
  // What the paper calls NPE′, and NPE of series of 50 as sweeps label it.
  if (method == "npe_windows") return "npe'";
  return method == "npe of 50" ? "npe50" : method;
}

std::optional<double> paper_c2st(const std::string& method, std::uint64_t budget, const std::string& task,
                                 std::size_t transitions) {
  for (const PaperNumber& number : paper_numbers()) {
    if (number.method == papers_method(method) && number.budget == budget && number.task == task &&
        number.transitions == transitions) {
      return number.c2st;
    }
  }
  return std::nullopt;
}

bool in_the_paper(const std::string& task) {
  return std::ranges::any_of(paper_numbers(), [&](const PaperNumber& number) { return number.task == task; });
}

std::vector<Cell> summarise(const std::vector<Row>& rows, const std::string& metric) {
  using Key = std::tuple<std::string, std::uint64_t, std::string, std::size_t>;
  std::map<Key, std::map<std::uint64_t, std::vector<double>>> by_observation;
  std::map<Key, std::set<std::uint64_t>> seeds;
  std::map<Key, std::size_t> failed;
  for (const Row& row : rows) {
    const Key key{row.task, row.budget, row.method, row.transitions};
    if (row.failed()) {
      ++failed[key];
      static_cast<void>(by_observation[key]);  // a cell of failures alone is one, too
      continue;
    }
    const auto found = row.values.find(metric);
    if (found == row.values.end()) continue;
    by_observation[key][row.observation].push_back(found->second);
    seeds[key].insert(row.seed);
  }
  std::vector<Cell> cells;
  for (const auto& [key, observations] : by_observation) {
    Cell cell;
    std::tie(cell.task, cell.budget, cell.method, cell.transitions) = key;
    cell.metric = metric;
    cell.seeds = seeds[key].size();
    cell.failed = failed[key];
    double sum = 0, squares = 0;
    for (const auto& [observation, values] : observations) {
      double mean = 0;
      for (const double value : values) mean += value / static_cast<double>(values.size());
      sum += mean;
      squares += mean * mean;
      cell.rows += values.size();
    }
    const auto n = static_cast<double>(observations.size());
    cell.mean = n > 0 ? sum / n : std::numeric_limits<double>::quiet_NaN();
    cell.standard_error = n > 1 ? std::sqrt(std::max(0.0, squares / n - cell.mean * cell.mean) / (n - 1))
                                : 0 * cell.mean;  // NaN stays NaN
    if (metric == "c2st") {
      cell.paper = paper_c2st(cell.method, cell.budget, cell.task, cell.transitions);
      for (const PaperNumber& number : paper_numbers()) {
        if (number.budget != cell.budget || number.task != cell.task || number.transitions != cell.transitions) {
          continue;
        }
        cell.paper_best = std::min(cell.paper_best.value_or(1), number.c2st);
      }
    }
    cells.push_back(std::move(cell));
  }
  return cells;
}

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, ",");
  return text;
}

}  // namespace catena::experiment
