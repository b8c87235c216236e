/// Compares our C2ST with the stored ones of scikit-learn (tests/data/metrics/c2st_scikit_learn.py).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "catena/evaluate/c2st/c2st.h"
#include "data_path.h"
#include "evaluate/sample_pairs.h"

namespace catena::evaluate::testing {

/// scikit-learn's mean over ten seeds against ours over ten, for the four kinds of pairs in each dimension. A score has
/// a deviation of about 0.007 over seeds, so that the difference of two such means has one of 0.0031, and 0.01 is 3.2
/// of them: a false alarm in some 700 pairs.
inline void compare_with_scikit_learn(std::string_view classifier, const std::vector<std::size_t>& dimensions) {
  std::ifstream file(CATENA_TEST_DATA "/metrics/c2st_scikit_learn.json");
  const nlohmann::json entries = nlohmann::json::parse(file).at("entries");
  std::size_t compared = 0;
  for (const nlohmann::json& entry : entries) {
    const auto dimension = entry.at("dimension").get<std::size_t>();
    const bool wanted = std::ranges::find(dimensions, dimension) != dimensions.end();
    if (entry.at("classifier") != classifier || !wanted) continue;
    const auto [a, b] = sample_pair(entry.at("kind").get<std::string>(), dimension);
    double sum = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const Classifier which = classifier == "forest" ? Classifier::forest : Classifier::mlp;
      sum += c2st(a, b, which, Streams(seed), Parallel(2));
    }
    EXPECT_NEAR(sum / 10, entry.at("mean").get<double>(), 0.01) << entry.dump();
    ++compared;
  }
  EXPECT_EQ(compared, 4 * dimensions.size());
}

}  // namespace catena::evaluate::testing
