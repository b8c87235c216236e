/// What a ratio sees of a transition: the state's inputs as densities see them (density_inputs.h), and the increment u
/// (whitened given the state, if the model whitens) with its products,
///
///   s = (x^t, t, logarithms, polynomials),   T(u) = (u_i, (u_i u_j − δ_ij)/√(1 + δ_ij) for i ≥ j).
///
/// T is what the logarithm of a Gaussian density of u is linear in, scaled to variance one for u ~ N(0, I). The
/// products are left out beyond six states, for their number grows as a square.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "catena/model/density/inputs.h"

namespace catena::model {

struct RatioShape {
  std::size_t states = 0;      // n
  std::size_t parameters = 0;  // d
  std::size_t state = 0;       // of s
  std::size_t increment = 0;   // of T(u)
};

class RatioMap {
 public:
  /// `logarithms` must not say auto any more.
  RatioMap(const Features& features, const std::vector<std::string>& state_names, const std::string& logarithms);

  RatioShape shape(std::size_t parameters) const;
  void state(const float* c, std::span<float> out) const { state_.state(c, out); }
  void increment(const float* c, std::span<float> out) const { statistics({c + begin_, states_}, out); }
  /// T(u)
  void statistics(std::span<const float> u, std::span<float> out) const;
  std::size_t states() const { return states_; }

 private:
  std::size_t states_, begin_;  // coordinates of the target, and where it begins in c
  DensityMap state_;
};

}  // namespace catena::model
