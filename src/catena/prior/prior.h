/// A prior is a map from z ~ N(0, I) to θ: the identity, an affine map, or the inverse CDF of each marginal. Every
/// method learns and samples z; users see θ, with names. A prior is a product of independent factors; files carry it as
/// JSON.
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
FactorPtr gamma(double shape, double scale);
FactorPtr beta(double a, double b, double low = 0, double high = 1);
FactorPtr exponential(double rate);
FactorPtr half_normal(double sd);
FactorPtr truncated_normal(double mean, double sd, double low, double high);  ///< a bound may be infinite

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
  void add(std::vector<std::string> names, FactorPtr factor);
  /// N(0, I) under the given names.
  static Prior standard(std::vector<std::string> names);

  std::size_t size() const { return names_.size(); }
  const std::vector<std::string>& names() const { return names_; }
  /// The factor that is all of it; null if there are several, or none.
  const Factor* only_factor() const { return parts_.size() == 1 ? parts_.front().factor.get() : nullptr; }

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
  };
  std::vector<std::string> names_;
  std::vector<Part> parts_;
};

}  // namespace catena::prior
