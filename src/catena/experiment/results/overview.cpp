#include "catena/experiment/results/overview.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "catena/experiment/summary.h"
#include "catena/train/method.h"

namespace catena::experiment {
namespace {

constexpr double printed = 0.005;  // the paper prints two digits

/// Cells beside which the paper prints a number.
std::vector<Cell> compared_cells(const std::vector<Row>& rows) {
  std::vector<Cell> cells = summarise(rows, "c2st");
  std::erase_if(cells, [](const Cell& cell) { return !cell.paper || cell.rows == 0; });
  return cells;
}

std::string what_is_compared(const std::vector<Cell>& cells) {
  std::set<std::string> tasks, methods;
  std::set<std::uint64_t> budgets;
  std::size_t least = cells.front().seeds, most = least;
  for (const Cell& cell : cells) {
    tasks.insert(cell.task), methods.insert(cell.method), budgets.insert(cell.budget);
    least = std::min(least, cell.seeds), most = std::max(most, cell.seeds);
  }
  std::vector<std::string> names;
  for (const std::string& method : methods) names.push_back(fmt::format("`{}`", method));
  return fmt::format(
      "**What is compared.** A simulator moves a state one transition at a time; methods see {} such transitions with "
      "known parameters, and then say what the parameters of a series of T transitions are. Here are {} of ours ({}) "
      "on "
      "the {} tasks of Gloeckler et al. (2025), whose exact posterior is known. A classifier is asked to tell 1,000 "
      "draws "
      "of a method from 1,000 of the exact posterior: its accuracy, C2ST, is 0.5 if it cannot, and 1 if the posteriors "
      "have nothing in common. Means are over series and over {} seed{} of the training (the paper: five).\n",
      fmt::join(budgets, " or "), methods.size(), fmt::join(names, ", "), tasks.size(),
      least == most ? fmt::to_string(most) : fmt::format("{} to {}", least, most), most == 1 ? "" : "s");
}

/// Means over the tasks, a line for each method, beside the paper's means over the same tasks.
std::string means(const std::vector<Cell>& cells, std::uint64_t budget) {
  struct Sum {
    double ours = 0, papers = 0;
    std::size_t n = 0;
  };
  std::map<std::string, std::map<std::size_t, Sum>> by_method;
  std::set<std::size_t> lengths;
  for (const Cell& cell : cells) {
    if (cell.budget != budget) continue;
    lengths.insert(cell.transitions);
    Sum& sum = by_method[cell.method][cell.transitions];
    sum.ours += cell.mean, sum.papers += *cell.paper, ++sum.n;
  }
  std::string head = fmt::format("| {} transitions |", budget), rule = "|---|";
  for (const std::size_t T : lengths) head += fmt::format(" T = {} |", T), rule += "---|";
  std::string text = head + "\n" + rule + "\n";
  for (const auto& [method, sums] : by_method) {
    text += fmt::format("| {} |", method);
    for (const std::size_t T : lengths) {
      const auto found = sums.find(T);
      if (found == sums.end()) {
        text += " |";
        continue;
      }
      const auto n = static_cast<double>(found->second.n);
      text += fmt::format(" {:.2f} ({:.2f}) |", found->second.ours / n, found->second.papers / n);
    }
    text += "\n";
  }
  return text;
}

struct Best {
  const Cell* cell = nullptr;
  double paper = 1;  // of the best of the paper's methods
};
using BestCells = std::map<std::tuple<std::uint64_t, std::string, std::size_t>, Best>;

BestCells best_of(const std::vector<Cell>& cells) {
  BestCells best;
  for (const Cell& cell : cells) {
    Best& found = best[{cell.budget, cell.task, cell.transitions}];
    if (found.cell == nullptr || cell.mean < found.cell->mean) found = {&cell, *cell.paper_best};
  }
  return best;
}

std::string who_wins(const std::vector<Cell>& cells, const BestCells& best) {
  const auto below = std::ranges::count_if(cells, [](const Cell& cell) { return cell.mean <= *cell.paper + printed; });
  std::size_t ahead = 0;
  std::map<std::string, std::size_t> wins;
  for (const auto& [key, entry] : best) {
    ++wins[entry.cell->method];
    ahead += entry.cell->mean < entry.paper ? 1 : 0;
  }
  std::vector<std::pair<std::size_t, std::string>> order;
  for (const auto& [method, n] : wins) order.emplace_back(n, method);
  std::ranges::sort(order, std::greater<>());
  std::vector<std::string> list;
  for (const auto& [n, method] : order) list.push_back(fmt::format("`{}` in {}", method, n));
  return fmt::format(
      "**Who wins where.** Of {} cells (method, task, T and budget), ours is not above what the paper prints for the "
      "same "
      "method in {}. The best of ours is below the best of all methods in the paper in {} of {} cells (task, T and "
      "budget). The best of ours is {}. Means over the tasks, in brackets the paper's:\n",
      cells.size(), below, ahead, best.size(), fmt::join(list, ", "));
}

std::string what_is_bad(const std::vector<Row>& rows, const std::vector<Cell>& cells, const BestCells& best) {
  std::string text = "**What is still bad.** ";
  std::map<std::string, std::vector<std::string>> above;
  for (const Cell& cell : cells) {
    if (cell.mean <= *cell.paper + printed) continue;
    above[cell.method].push_back(fmt::format("{} at T = {} ({}: {:.2f}, the paper {:.2f})", cell.task, cell.transitions,
                                             cell.budget, cell.mean, *cell.paper));
  }
  for (const auto& [method, list] : above) {
    text += fmt::format("`{}` is above the paper's number in {} cell{}: {}. ", method, list.size(),
                        list.size() == 1 ? "" : "s", fmt::join(list, ", "));
  }
  // The worst of the best: what no method of ours does well, with the largest budget and the longest series.
  const std::uint64_t budget = std::get<0>(best.rbegin()->first);
  std::size_t longest = 0;
  for (const auto& [key, entry] : best) longest = std::max(longest, std::get<2>(key));
  std::vector<const Cell*> worst;
  for (const auto& [key, entry] : best) {
    if (std::get<0>(key) == budget && std::get<2>(key) == longest) worst.push_back(entry.cell);
  }
  std::ranges::sort(worst, std::greater<>(), &Cell::mean);
  worst.resize(std::min<std::size_t>(3, worst.size()));
  std::vector<std::string> list;
  for (const Cell* cell : worst) list.push_back(fmt::format("{} {:.2f} (`{}`)", cell->task, cell->mean, cell->method));
  if (!list.empty()) {
    text += fmt::format("Even with {} transitions and the best method, T = {} is not exact: {}. ", budget, longest,
                        fmt::join(list, ", "));
  }
  // Errors of single transitions add up.
  std::map<std::size_t, std::pair<double, std::string>> beyond;
  for (const Cell& cell : summarise(rows, "c2st")) {
    if (!in_the_paper(cell.task) || cell.transitions <= longest || cell.rows == 0) continue;
    const auto [place, is_new] = beyond.try_emplace(cell.transitions, 2, "");
    if (cell.mean < place->second.first) place->second = {cell.mean, fmt::format("{}, `{}`", cell.task, cell.method)};
  }
  for (const auto& [T, cell] : beyond) {
    text += fmt::format("At T = {} the best of all is {:.2f} ({}). ", T, cell.first, cell.second);
  }
  const auto failed = std::ranges::count_if(rows, [](const Row& row) { return row.failed(); });
  text += failed == 0 ? "No row failed." : fmt::format("{} of {} rows failed.", failed, rows.size());
  return text + "\n";
}

}  // namespace

std::string overview(const std::vector<Row>& rows) {
  std::vector<Row> ours;  // without variants of a method
  for (const Row& row : rows) {
    if (train::methods().find(row.method) != nullptr) ours.push_back(row);
  }
  const std::vector<Cell> cells = compared_cells(ours);
  if (cells.empty()) return "";
  const BestCells best = best_of(cells);
  std::set<std::uint64_t> budgets;
  for (const Cell& cell : cells) budgets.insert(cell.budget);
  std::string text = fmt::format("\n## In a minute\n\n{}\n{}", what_is_compared(cells), who_wins(cells, best));
  for (const std::uint64_t budget : budgets) text += "\n" + means(cells, budget);
  return text + "\n" + what_is_bad(rows, cells, best);
}

}  // namespace catena::experiment
