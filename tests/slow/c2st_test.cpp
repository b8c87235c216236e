// The stored pairs that are too slow for the unit tests (tests/evaluate/c2st_test.cpp has the others).

#include <gtest/gtest.h>

#include "evaluate/scikit_learn_scores.h"

namespace catena::evaluate::c2st_test {
namespace {

TEST(C2st, OfTheForestAgreesWithScikitLearnInFourAndEightDimensions) {
  testing::compare_with_scikit_learn("forest", {4, 8});
}

TEST(C2st, OfThePerceptronAgreesWithScikitLearnInFourAndEightDimensions) {
  testing::compare_with_scikit_learn("mlp", {4, 8});
}

}  // namespace
}  // namespace catena::evaluate::c2st_test
