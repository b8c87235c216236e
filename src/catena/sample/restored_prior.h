/// Draws that were made under a prior around some posterior (prior/around.h) become draws under the true one.
#pragma once

#include <cstddef>

#include "catena/core/array.h"
#include "catena/core/random.h"
#include "catena/prior/around.h"

namespace catena::sample {

inline constexpr std::size_t draws_for_one = 2;  // that are to be made for each one that is kept

/// Effective draws below this share of all are refused: forty of two thousand.
inline constexpr double least_restored = 0.02;

struct RestoredDraws {
  Matrix z;        // in the z-space of the true prior, one draw a row
  double ess = 0;  // (Σ w)²/Σ w² of the weights w = N(z; 0, I)/q(z); 0: no draw was finite, all of z is NaN
};

/// `count` of the rows of w, chosen by their weights with one random number for all (systematic resampling): a draw
/// with k times the mean weight appears k times, rounded up or down. A row that is not finite has the weight 0.
RestoredDraws restore_prior(const prior::Around& around, ConstMatrixView w, std::size_t count, Stream stream);

}  // namespace catena::sample
