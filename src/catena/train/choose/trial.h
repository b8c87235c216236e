/// Choices of what networks see, tried out: a small Gaussian density of the transition, trained for a moment, whose
/// held-out loss says what a choice is worth. Coordinates (choose_coordinates.h) and seasons (choose_season.h) are
/// decided by it.
#pragma once

#include <string>
#include <string_view>

#include "catena/model/density/inputs.h"
#include "catena/train/method.h"

namespace catena::train {

/// Trials of one choice: where transitions have hardly any noise (sir), two of them differ by a tenth of a nat.
inline constexpr std::size_t trial_repeats = 3;
/// What is simpler is kept unless the other, in the worst of its trials, is better than it in the best of its own by
/// this much (nats per transition).
inline constexpr double worth_a_change = 0.01;

/// Held-out loss of one trial with what the data see now: nats per transition, as a density of x^(t+1), without
/// ½ log 2π for each coordinate. `network` names the trial; another name has other random numbers.
double trial_loss(const model::DensityInputSettings& inputs, const MethodContext& context, std::string_view method,
                  const std::string& network);

}  // namespace catena::train
