/// Known inputs u_t (temperature, effort, a stimulus) that a step takes: x^(t+1) ~ p(· | x^t, u_t, θ). Here is where
/// those of training come from, one mechanism beside every state proposal, and how the columns of a table are told
/// apart (docs/extensions/covariates.md).
///
/// Training draws them from tables of rows in time order: row u_j, each as likely, and a little noise,
///
///   u = u_j + 0.1 s ∘ ε,   ε ~ N(0, I),   s the standard deviations of the columns,
///
/// so that networks see what lies between the rows and a little beyond them. A tenth widens the spread by 0.5 % only. A
/// column of whole numbers (flags, counts) keeps its values, and where no value is negative, none becomes so.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/random.h"
#include "catena/core/state_lanes.h"
#include "catena/files/csv.h"

namespace catena::simulate {

/// The tables without rows in which a value is missing. Throws InputError, whose sentence begins with `function`, where
/// there are no names or columns are not as many, a value is infinite or no row is left.
std::vector<Matrix> covariate_tables(std::string_view function, const std::vector<std::string>& names,
                                     std::span<const ConstMatrixView> tables);

/// Rows of covariates to draw from, or to walk through in the order of time: from the last row of a table one comes
/// back to its first. A record of M steps has M rows in a row.
class CovariatePool {
 public:
  CovariatePool() = default;  ///< of simulators that have none
  explicit CovariatePool(std::span<const Matrix> tables);

  bool empty() const { return rows_.rows() == 0; }
  /// Where lanes begin: a row of all, each as likely.
  void begin(Stream& stream, std::span<std::size_t> at) const;
  /// So many rows on.
  void go_on(std::span<std::size_t> at, std::size_t rows) const;
  /// u [Mk × lanes] of the M rows from `at` on, with noise.
  void fill(Stream& stream, std::span<const std::size_t> at, StateBlock u) const;
  /// How many rows and a hash of them, for records of what was simulated.
  nlohmann::json to_json() const;

 private:
  std::size_t after(std::size_t row) const { return row == last_[table_[row]] ? first_[table_[row]] : row + 1; }

  Matrix rows_;                            // of all tables
  std::vector<std::size_t> table_;         // of each row
  std::vector<std::size_t> first_, last_;  // rows of each table
  std::vector<double> deviations_;         // of the noise, per column
  std::vector<bool> non_negative_;
};

/// Tells the columns of a table apart by their names: those of the states become its values, the others its covariates.
/// Throws InputError, whose sentence begins with `function`, for columns that are missing or that nobody knows; without
/// covariates the columns must be the states in their order, or have no names.
void tell_columns_apart(std::string_view function, const std::string& source,
                        const std::vector<std::string>& state_names, const std::vector<std::string>& covariate_names,
                        files::Series& table);

/// The covariates' columns of a table that may have others; without a header it has these alone.
Matrix covariate_columns(std::string_view function, const std::string& source,
                         const std::vector<std::string>& covariate_names, const files::Series& table);

}  // namespace catena::simulate
