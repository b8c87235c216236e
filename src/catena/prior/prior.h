/// A prior is a map from z ~ N(0, I) to θ: the identity, an affine map, or the inverse CDF of each marginal. Every
/// method learns and samples z; users see θ, with names. A prior is a product of independent factors; files carry it as
/// JSON.
///
/// A simulator may see more than θ: values that are known, and parts that follow from others. Nobody infers these; a
/// prior completes θ by them where a simulator is called (simulate/model.h, complete_parameters).
#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catena/core/random.h"
#include "catena/core/registry.h"
#include "catena/core/state_lanes.h"

namespace catena::prior {

/// One independent part of a prior: a marginal, or several correlated normals. θ = map(z) is increasing in each
/// marginal.
class Factor {
 public:
  virtual ~Factor() = default;
  virtual std::size_t size() const = 0;
  virtual void to_theta(std::span<const double> z, std::span<double> theta) const = 0;
  /// Throws InputError naming `names[i]` if θ_i is not inside the support.
  virtual void to_z(std::span<const double> theta, std::span<double> z, std::span<const std::string> names) const = 0;
  virtual double log_density(std::span<const double> theta) const = 0;  ///< −∞ outside the support
  virtual double log_jacobian(std::span<const double> z) const = 0;     ///< log |dθ/dz|
  virtual nlohmann::json to_json() const = 0;                           ///< {"family": …, its settings}

  /// For each value that a simulator sees, whether it is one of θ: all, unless said otherwise.
  virtual std::vector<bool> free() const { return std::vector<bool>(size(), true); }
  /// What a simulator sees of these θ.
  virtual void complete(std::span<const double> theta, std::span<double> seen) const;

  /// The map for every lane of a block. The default calls to_theta lane by lane.
  virtual void to_theta_lanes(ConstStateBlock z, StateBlock theta) const;
  /// Draws θ alone, where no one asks for its z. The default maps normals.
  virtual void sample_lanes(Stream& stream, StateBlock theta) const;
};

using FactorPtr = std::shared_ptr<const Factor>;

// The families. Each checks its settings and says "prior: NAME is VALUE, but must be …".
FactorPtr normal(double mean = 0, double sd = 1);
FactorPtr correlated_normal(std::vector<double> mean, std::vector<std::vector<double>> covariance);
FactorPtr standard_normal(std::size_t size);  ///< N(0, I) as one factor: the map is the identity
FactorPtr uniform(double low, double high);
FactorPtr log_normal(double log_mean, double log_sd);
FactorPtr logit_normal(double location = 0, double scale = 1, double low = 0, double high = 1);
FactorPtr gamma(double shape, double scale);
FactorPtr beta(double a, double b, double low = 0, double high = 1);
FactorPtr exponential(double rate);
FactorPtr half_normal(double sd);
FactorPtr truncated_normal(double mean, double sd, double low, double high);  ///< a bound may be infinite
FactorPtr student_t(double df, double location = 0, double scale = 1);
FactorPtr cauchy(double location = 0, double scale = 1);
FactorPtr half_cauchy(double scale);
FactorPtr laplace(double location = 0, double scale = 1);
FactorPtr logistic(double location = 0, double scale = 1);
FactorPtr inverse_gamma(double shape, double scale = 1);
FactorPtr log_uniform(double low, double high);
FactorPtr weibull(double shape, double scale = 1);
FactorPtr truncated(const FactorPtr& base, double low, double high);  ///< a marginal; a bound may be infinite
FactorPtr dirichlet(std::vector<double> concentration);  ///< K parts of 1: K − 1 parameters, K that are seen
FactorPtr fixed(double value);                           ///< known: no parameter, 1 that is seen

/// A family, for from_json, help texts and tests that walk them all.
struct FamilyEntry {
  std::string_view name;
  std::string_view settings;  // "low, high"
  FactorPtr (*from_json)(const nlohmann::json& settings);
  FactorPtr (*example)();  // one that is not standard, for tests and docs
};
const Registry<FamilyEntry>& prior_families();

/// A product of factors with a name for every parameter.
class Prior {
 public:
  Prior() = default;
  /// Names of all that a simulator sees of the factor.
  void add(std::vector<std::string> names, FactorPtr factor);
  /// N(0, I) under the given names.
  static Prior standard(std::vector<std::string> names);

  std::size_t size() const { return names_.size(); }
  const std::vector<std::string>& names() const { return names_; }
  /// The factor that is all of it; null if there are several, or none.
  const Factor* only_factor() const { return parts_.size() == 1 ? parts_.front().factor.get() : nullptr; }

  /// What a simulator sees: the parameters, and between them what is known or follows. The same if that is all of it.
  const std::vector<std::string>& seen_names() const { return seen_names_; }
  bool completes() const { return seen_names_.size() != names_.size(); }
  void complete(std::span<const double> theta, std::span<double> seen) const;

  void to_theta(std::span<const double> z, std::span<double> theta) const;
  void to_z(std::span<const double> theta, std::span<double> z) const;
  double log_density(std::span<const double> theta) const;
  double log_jacobian(std::span<const double> z) const;

  /// Blocks: z ~ N(0, I) for every lane and its θ.
  void sample(Stream& stream, StateBlock z, StateBlock theta) const;
  void to_theta(ConstStateBlock z, StateBlock theta) const;
  /// θ alone; not the same draws as sample().
  void sample_theta(Stream& stream, StateBlock theta) const;

  /// {"factors": [{"family": "uniform", "names": ["alpha"], "low": 1, "high": 3}, …]}
  nlohmann::json to_json() const;
  static Prior from_json(std::string_view function, const nlohmann::json& json);

 private:
  struct Part {
    std::size_t begin;
    FactorPtr factor;
    std::size_t seen_begin = 0, seen = 0;
  };
  std::vector<std::string> names_, seen_names_;
  std::vector<Part> parts_;
};

}  // namespace catena::prior
