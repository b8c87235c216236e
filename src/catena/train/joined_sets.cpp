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
  if (sets.size() > 1) {
    all.provenance["joined"] = nlohmann::json::array();
    std::uint64_t budget = 0;
    for (const auto& set : sets) {
      all.provenance["joined"].push_back(set.provenance);
      budget += set.provenance.value("budget", std::uint64_t{0});
    }
    all.provenance["budget"] = budget;
  }
  std::vector<std::size_t> order(rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Stream stream = Streams(0).stream("join");
  for (std::size_t i = rows; i > 1; --i) std::swap(order[i - 1], order[stream.integer(i)]);
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

}  // namespace catena::train
