#include "catena/model/ratio/inputs.h"

#include <algorithm>
#include <numbers>

namespace catena::model {
namespace {

constexpr std::size_t most_states_with_products = 6;

std::size_t products(std::size_t n) { return n <= most_states_with_products ? n * (n + 1) / 2 : 0; }

}  // namespace

RatioMap::RatioMap(const Features& features, const std::vector<std::string>& state_names, const std::string& logarithms)
    : states_(features.target()),
      begin_(features.condition()),
      state_(features, state_names, {.logarithms = logarithms, .point_masses = "none", .integers = "none"}, false) {}

RatioShape RatioMap::shape(std::size_t parameters) const {
  return {states_, parameters, state_.shape(parameters).state_inputs, states_ + products(states_)};
}

void RatioMap::statistics(std::span<const float> u, std::span<float> out) const {
  std::ranges::copy(u, out.begin());
  if (products(states_) == 0) return;
  std::size_t at = states_;
  for (std::size_t i = 0; i < states_; ++i) {
    for (std::size_t j = 0; j < i; ++j) out[at++] = u[i] * u[j];
    out[at++] = (u[i] * u[i] - 1) / std::numbers::sqrt2_v<float>;
  }
}

}  // namespace catena::model
