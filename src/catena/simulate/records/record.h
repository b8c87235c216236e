/// What one training record holds. A record is a piece of a series,
///
///   p( x^(t+1), …, x^(t+M) | x^(t−m+1), …, x^t, θ ),   M states given the m before them,
///
/// with its time t if the simulator depends on it, and with its step Δ if records differ in it: over a step of Δ = k
/// the one next state is the k-th. A plain transition has m = M = Δ = 1; an initial state p(x⁰|θ) has m = 0. Where
/// steps take known inputs (covariates.h), a record holds those of its M steps, u_t, …, u_(t+M−1). Sets, files,
/// features, observed series and estimators all go by this shape.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

namespace catena::simulate {

struct RecordShape {
  std::size_t states = 1;      // n
  std::size_t order = 1;       // m
  std::size_t block = 1;       // M
  bool time = false;           // records have a time of their own
  bool step = false;           // records have a step of their own
  std::size_t covariates = 0;  // of each step

  std::size_t condition() const { return order * states; }   ///< numbers in x^t, x^(t−1), …, x^(t−m+1)
  std::size_t target() const { return block * states; }      ///< numbers in x^(t+1), …, x^(t+M)
  std::size_t inputs() const { return block * covariates; }  ///< numbers in u_t, …, u_(t+M−1)
  bool initial() const { return order == 0; }
  /// One step from one state to the next.
  bool plain() const { return order == 1 && block == 1 && !step; }
  /// As transitions were before there was anything else: files of these keep their first format.
  bool first_format() const { return plain() && covariates == 0; }
  bool operator==(const RecordShape&) const = default;

  nlohmann::json to_json() const;
  /// Throws FileError, whose sentence begins with `source`.
  static RecordShape from_json(const std::string& source, const nlohmann::json& json);
};

/// One record. States before it stand latest first, x^t, x^(t−1), …; those after it in their order, x^(t+1), x^(t+2),
/// ….
struct RecordView {
  std::span<const double> x, x_next;
  double time = 0;
  double step = 1;
  std::span<const double> u = {};  // covariates of its steps, one after the other
};

/// Which records a plan asks for; `steps` are those that records take in turn (whole numbers of the simulator's steps),
/// or between which a simulator with a step of its own draws evenly.
struct StepRange {
  double low = 1, high = 1;
  bool operator==(const StepRange&) const = default;
};
struct RecordPlan {
  std::size_t block = 1;       // M
  bool initial = false;        // p(x⁰, …, x^(m−1) | θ) and no transitions
  bool varying_steps = false;  // whether `steps` counts
  StepRange steps;
};

/// "2..5", or "3" for 3..3. Throws InputError in a sentence about `what` if it is no range of positive numbers.
StepRange parse_steps(std::string_view function, std::string_view what, const std::string& text);

}  // namespace catena::simulate
