#include "catena/simulate/covariates.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "catena/core/check.h"

namespace catena::simulate {

namespace {

constexpr double covariate_noise = 0.1;  // in standard deviations of a column

/// The place of each wanted name among the columns.
std::vector<std::size_t> places_of(std::string_view function, const std::string& source, std::string_view what,
                                   const std::vector<std::string>& wanted, const std::vector<std::string>& columns) {
  std::vector<std::size_t> places;
  for (const std::string& name : wanted) {
    const auto found = std::ranges::find(columns, name);
    if (found == columns.end()) {
      throw InputError(fmt::format("{}: {} has no column {}, but must have the {}: {}", function, source, name, what,
                                   fmt::join(wanted, ", ")));
    }
    places.push_back(static_cast<std::size_t>(found - columns.begin()));
  }
  return places;
}

Matrix columns_of(const Matrix& from, const std::vector<std::size_t>& places) {
  Matrix to(from.rows(), places.size());
  for (std::size_t r = 0; r < to.rows(); ++r) {
    for (std::size_t i = 0; i < places.size(); ++i) to(r, i) = from(r, places[i]);
  }
  return to;
}

}  // namespace

std::vector<Matrix> covariate_tables(std::string_view function, const std::vector<std::string>& names,
                                     std::span<const ConstMatrixView> tables) {
  check::that(!names.empty(), function, "a table of covariates", "given", "left out: the simulator takes none");
  std::vector<Matrix> cleaned;
  std::size_t all = 0;
  for (const ConstMatrixView table : tables) {
    check::equal(function, "the number of columns of a table of covariates", table.cols, names.size());
    std::vector<std::size_t> whole;
    for (std::size_t r = 0; r < table.rows; ++r) {
      const auto row = table.row(r);
      for (std::size_t i = 0; i < row.size(); ++i) {
        check::that(!std::isinf(row[i]), function, fmt::format("the covariate {} in row {}", names[i], r + 1), row[i],
                    "finite, or NaN where it is missing");
      }
      if (std::ranges::none_of(row, [](double value) { return std::isnan(value); })) whole.push_back(r);
    }
    if (whole.empty()) continue;
    Matrix& kept = cleaned.emplace_back(whole.size(), table.cols);
    for (std::size_t r = 0; r < whole.size(); ++r) std::ranges::copy(table.row(whole[r]), kept.row(r).begin());
    all += whole.size();
  }
  check::at_least(function, fmt::format("the number of rows with all covariates ({})", fmt::join(names, ", ")), all,
                  std::size_t{1});
  return cleaned;
}

CovariatePool::CovariatePool(std::span<const Matrix> tables) {
  std::size_t rows = 0;
  for (const Matrix& table : tables) {
    first_.push_back(rows);
    table_.insert(table_.end(), table.rows(), last_.size());
    rows += table.rows();
    last_.push_back(rows - 1);
  }
  CATENA_ASSERT(rows > 0);
  rows_ = Matrix(rows, tables.front().cols());
  for (std::size_t k = 0; k < tables.size(); ++k) {
    std::ranges::copy(tables[k].values(), rows_.row(first_[k]).begin());
  }
  for (std::size_t i = 0; i < rows_.cols(); ++i) {
    double mean = 0, squares = 0, lowest = rows_(0, i);
    bool whole = true;
    for (std::size_t r = 0; r < rows; ++r) {
      mean += rows_(r, i) / static_cast<double>(rows);
      lowest = std::min(lowest, rows_(r, i));
      whole = whole && rows_(r, i) == std::floor(rows_(r, i));
    }
    for (std::size_t r = 0; r < rows; ++r) squares += (rows_(r, i) - mean) * (rows_(r, i) - mean);
    deviations_.push_back(whole ? 0 : covariate_noise * std::sqrt(squares / static_cast<double>(rows)));
    non_negative_.push_back(lowest >= 0);
  }
}

void CovariatePool::begin(Stream& stream, std::span<std::size_t> at) const {
  for (std::size_t& row : at) row = stream.integer(rows_.rows());
}

void CovariatePool::go_on(std::span<std::size_t> at, std::size_t rows) const {
  for (std::size_t& row : at) {
    for (std::size_t j = 0; j < rows; ++j) row = after(row);
  }
}

void CovariatePool::fill(Stream& stream, std::span<const std::size_t> at, StateBlock u) const {
  const std::size_t k = rows_.cols();
  CATENA_ASSERT(u.features % k == 0 && at.size() >= u.lanes);
  fill_normal(stream, u);
  for (std::size_t l = 0; l < u.lanes; ++l) {
    std::size_t row = at[l];
    for (std::size_t j = 0; j < u.features; j += k) {
      for (std::size_t i = 0; i < k; ++i) {
        const double moved = rows_(row, i) + deviations_[i] * u(j + i, l);
        u(j + i, l) = non_negative_[i] && moved < 0 ? rows_(row, i) : moved;
      }
      row = after(row);
    }
  }
}

nlohmann::json CovariatePool::to_json() const {
  std::uint64_t hash = 0xCBF29CE484222325U;  // FNV-1a, as that of pooled states (proposal.cpp)
  for (const double value : rows_.values()) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int shift = 0; shift < 64; shift += 8) hash = (hash ^ ((bits >> shift) & 0xFFU)) * 0x100000001B3U;
  }
  return {{"rows", rows_.rows()}, {"table", fmt::format("{:016x}", hash)}};
}

void tell_columns_apart(std::string_view function, const std::string& source,
                        const std::vector<std::string>& state_names, const std::vector<std::string>& covariate_names,
                        files::Series& table) {
  if (covariate_names.empty()) {
    if (table.names.empty() || table.names == state_names) return;
    throw InputError(fmt::format("{}: the columns of {} are {}, but must be those of the model, {}", function, source,
                                 fmt::join(table.names, ", "), fmt::join(state_names, ", ")));
  }
  if (table.names.empty()) {
    throw InputError(
        fmt::format("{}: {} has no names for its columns, but must have them: the states {} and the "
                    "covariates {}",
                    function, source, fmt::join(state_names, ", "), fmt::join(covariate_names, ", ")));
  }
  for (const std::string& name : table.names) {
    const auto among = [&](const std::vector<std::string>& names) {
      return std::ranges::find(names, name) != names.end();
    };
    if (among(state_names) || among(covariate_names)) continue;
    throw InputError(
        fmt::format("{}: the column {} of {} is unknown, but must be a state ({}) or a covariate ({}): "
                    "leave it out",
                    function, name, source, fmt::join(state_names, ", "), fmt::join(covariate_names, ", ")));
  }
  const auto states = places_of(function, source, "states", state_names, table.names);
  const auto covariates = places_of(function, source, "covariates", covariate_names, table.names);
  table.covariates = columns_of(table.values, covariates);
  table.covariate_names = covariate_names;
  table.values = columns_of(table.values, states);
  table.names = state_names;
}

Matrix covariate_columns(std::string_view function, const std::string& source,
                         const std::vector<std::string>& covariate_names, const files::Series& table) {
  if (table.names.empty()) {
    check::equal(function, fmt::format("the number of columns of {}", source), table.values.cols(),
                 covariate_names.size());
    return table.values;
  }
  return columns_of(table.values, places_of(function, source, "covariates", covariate_names, table.names));
}

}  // namespace catena::simulate
