#include "catena/train/objectives/blur_levels.h"

#include <cmath>

namespace catena::train {

double BlurLevels::at(const BatchPart& part, std::size_t i, float u) const {
  const double place = (static_cast<double>(part.begin + i) + u) / static_cast<double>(part.size());
  const double eta = smallest_eta * std::pow(largest_eta / smallest_eta, place);
  return eta / std::sqrt(1 + eta * eta);
}

}  // namespace catena::train
