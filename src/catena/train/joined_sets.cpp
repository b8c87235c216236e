#include "catena/train/joined_sets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "catena/core/check.h"
#include "catena/prior/around.h"

namespace catena::train {
namespace {

/// z and prior of the base in place of those around a posterior.
void go_back_to_base(simulate::TransitionSet& set) {
  const auto around = prior::around_of(set.prior);
  if (!around) return;
  for (std::size_t r = 0; r < set.size(); ++r) {
    const Eigen::VectorXd z = around->to_base(set.z.row(r));
    std::ranges::copy(z, set.z.row(r).begin());
  }
  set.prior = around->base;
}

void check_same(const simulate::TransitionSet& first, const simulate::TransitionSet& other, const std::string& path) {
  check::that(other.shape() == first.shape(), "train", fmt::format("what the records of {} hold", path),
              other.shape().to_json().dump(), fmt::format("{}, as those before", first.shape().to_json().dump()));
  check::that(other.state_names == first.state_names, "train", fmt::format("the states of {}", path),
              fmt::format("{}", fmt::join(other.state_names, ", ")),
              fmt::format("{}", fmt::join(first.state_names, ", ")));
  check::that(other.covariate_names == first.covariate_names, "train", fmt::format("the covariates of {}", path),
              fmt::format("{}", fmt::join(other.covariate_names, ", ")),
              fmt::format("{}", fmt::join(first.covariate_names, ", ")));
  check::that(other.prior.to_json() == first.prior.to_json(), "train", fmt::format("the prior of {}", path),
              "another one", "that of those before: a score depends on it (a likelihood does not)");
}

std::vector<std::size_t> joined_order(std::size_t rows) {
  std::vector<std::size_t> order(rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Stream stream = Streams(0).stream("join");
  for (std::size_t i = rows; i > 1; --i) std::swap(order[i - 1], order[stream.integer(i)]);
  return order;
}

/// The records of all sets, and their budgets together.
template <class Set>
void add_joined(nlohmann::json& provenance, const std::vector<Set>& sets) {
  provenance["joined"] = nlohmann::json::array();
  std::uint64_t budget = 0;
  for (const Set& set : sets) {
    provenance["joined"].push_back(set.provenance);
    budget += set.provenance.value("budget", std::uint64_t{0});
  }
  provenance["budget"] = budget;
}

}  // namespace

bool needs_joining(const std::vector<std::filesystem::path>& paths, bool any_prior) {
  if (paths.size() > 1) return true;
  return any_prior && prior::around_of(simulate::TransitionFile(paths.front()).prior()).has_value();
}

simulate::TransitionSet joined_transitions(const std::vector<std::filesystem::path>& paths, bool any_prior) {
  std::vector<simulate::TransitionSet> sets;
  std::vector<std::string> names;
  for (const std::filesystem::path& path : paths) {
    sets.push_back(simulate::read_transitions(path));
    names.push_back(path.string());
  }
  return joined_transitions(std::move(sets), names, any_prior);
}

simulate::TransitionSet joined_transitions(std::vector<simulate::TransitionSet> sets,
                                           const std::vector<std::string>& names, bool any_prior) {
  CATENA_ASSERT(!sets.empty() && names.size() == sets.size());
  std::size_t rows = 0;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (any_prior) go_back_to_base(sets[i]);
    check_same(sets.front(), sets[i], names[i]);
    rows += sets[i].size();
  }
  simulate::TransitionSet all;
  all.prior = sets.front().prior;
  all.state_names = sets.front().state_names;
  all.covariate_names = sets.front().covariate_names;
  all.provenance = sets.front().provenance;
  if (sets.size() > 1) add_joined(all.provenance, sets);
  const std::vector<std::size_t> order = joined_order(rows);
  for (std::size_t k = 0; k < all.arrays().size(); ++k) {
    Matrix& to = *all.arrays()[k];
    to = Matrix(rows, sets.front().arrays()[k]->cols());
    std::size_t next = 0;
    for (const auto& set : sets) {
      for (std::size_t r = 0; r < set.size(); ++r) {
        if (to.cols() > 0) std::ranges::copy(set.arrays()[k]->row(r), to.row(order[next]).begin());
        ++next;
      }
    }
  }
  return all;
}

simulate::SeriesSet joined_series(const std::vector<simulate::SeriesSet>& sets, const std::vector<std::string>& names) {
  CATENA_ASSERT(!sets.empty() && names.size() == sets.size());
  if (sets.size() == 1) return sets.front();
  const simulate::SeriesSet& first = sets.front();
  std::vector<std::pair<std::size_t, std::size_t>> all;  // set, and series in it
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const auto same = [&](bool right, std::string_view what) {
      check::that(right, "train", fmt::format("{} of {}", what, names[i]), "another", "that of those before");
    };
    same(sets[i].state_names == first.state_names, "the states");
    same(sets[i].uses_time == first.uses_time, "the use of time");
    same(sets[i].prior.to_json() == first.prior.to_json(), "the prior");
    for (std::size_t r = 0; r < sets[i].size(); ++r) all.emplace_back(i, r);
  }
  simulate::SeriesSet joined;
  joined.prior = first.prior;
  joined.state_names = first.state_names;
  joined.uses_time = first.uses_time;
  joined.provenance = first.provenance;
  add_joined(joined.provenance, sets);
  for (const std::size_t k : joined_order(all.size())) {
    const auto [set, r] = all[k];
    joined.add(sets[set].theta_of(r), sets[set].series(r));
  }
  return joined;
}

TrainingData training_data(const Method& method, const std::vector<std::filesystem::path>& paths, const Split& split) {
  if (method.whole_series) {
    std::vector<simulate::SeriesSet> sets;
    std::vector<std::string> names;
    for (const std::filesystem::path& path : paths) {
      sets.push_back(simulate::read_series_set(path));
      names.push_back(path.string());
    }
    return TrainingData(joined_series(sets, names), split);
  }
  if (needs_joining(paths, method.any_prior)) return {joined_transitions(paths, method.any_prior), split};
  return {paths.front(), split};
}

}  // namespace catena::train
