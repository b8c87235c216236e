/// The classifier two-sample test (Lopez-Paz and Oquab 2017, docs/refs.bib: lopezpaz2017): how often a classifier tells
/// which of two sets a held-out draw came from. 0.5: it cannot; 1: always. Computed as the `sbi` package computes it,
/// so that published figures compare: z-scored by the first set, five folds, scikit-learn's classifiers and defaults.
#pragma once

#include "catena/core/array.h"
#include "catena/core/parallel.h"
#include "catena/core/random.h"

namespace catena::evaluate {

enum class Classifier {
  forest,  ///< 100 trees (forest.h): sbi's default, the one in the paper's tables
  mlp      ///< two hidden layers of 10·d units (mlp_classifier.h): sees more
};

/// The mean over the folds of the accuracy on the fold that was held out. At least 20 draws in each set. With sets of
/// unequal size n > m the score of equal distributions is near n/(n + m), not 0.5, as in sbi.
double c2st(ConstMatrixView a, ConstMatrixView b, Classifier classifier, const Streams& streams,
            const Parallel& parallel);

}  // namespace catena::evaluate
