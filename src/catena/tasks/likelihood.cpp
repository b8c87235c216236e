#include "catena/tasks/likelihood.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "catena/core/check.h"
#include "catena/tasks/exact/joined.h"

namespace catena::tasks {

namespace {

const TaskEntry& entry_with_likelihood(std::string_view task) {
  if (has_likelihood(task)) return *registry().find(task);
  std::vector<std::string_view> known;
  for (const TaskEntry& entry : registry()) {
    if (entry.likelihood) known.push_back(entry.name);
  }
  throw InputError(fmt::format("reference: task with an exact reference is \"{}\", but must be one of {}", task,
                               fmt::join(known, ", ")));
}

/// The covariates of some rows of a path, if it has any.
ConstMatrixView run_of(const Matrix& covariates, std::size_t begin, std::size_t end) {
  return covariates.cols() == 0 ? ConstMatrixView() : covariates.view().slice_rows(begin, end);
}

}  // namespace

bool has_likelihood(std::string_view task) {
  const TaskEntry* entry = registry().find(task);
  return entry != nullptr && entry->likelihood;
}

simulate::KnownSteps likelihood_steps(std::string_view task) {
  constexpr double longest = 10000;  // whose inner steps are still counted by an int
  return entry_with_likelihood(task).any_step ? simulate::KnownSteps{1, longest, true} : simulate::KnownSteps{};
}

std::unique_ptr<SeriesLikelihood> series_likelihood(const Task& task, ConstMatrixView series,
                                                    ConstMatrixView covariates) {
  return entry_with_likelihood(task.name).likelihood(task.options, {.states = series, .covariates = covariates});
}

std::unique_ptr<SeriesLikelihood> series_likelihood(const Task& task, std::span<const simulate::Path> paths) {
  const TaskEntry& entry = entry_with_likelihood(task.name);
  std::vector<std::unique_ptr<SeriesLikelihood>> parts;
  for (const simulate::Path& path : paths) {
    const std::size_t rows = path.states.rows(), order = task.simulator.order;
    if (rows <= order && !(path.from_start && task.initial_given_theta)) continue;  // no factor at all
    for (std::size_t begin = 0; begin < rows;) {
      std::size_t end = begin + 1;  // the run's last row
      while (end + 1 < rows && path.steps[end] == path.steps[begin]) ++end;
      end = std::min(end, rows - 1);
      const double step = rows > 1 ? path.steps[begin] : 1;
      check::that(step == 1 || entry.any_step, "reference", "a step of the series", step,
                  fmt::format("1: over longer ones the density of {} is not known", task.name));
      parts.push_back(entry.likelihood(task.options, {.states = path.states.view().slice_rows(begin, end + 1),
                                                      .step = step,
                                                      .first_time = path.times[begin],
                                                      .from_start = path.from_start && begin == 0,
                                                      .covariates = run_of(path.covariates, begin, end + 1)}));
      if (end + 1 >= rows) break;
      begin = end;
    }
  }
  check::at_least("reference", "the number of transitions of the series", parts.size(), std::size_t{1});
  return exact::joined_likelihood(std::move(parts));
}

}  // namespace catena::tasks
