#include "catena/sample/mcmc/chain_health.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "catena/core/errors.h"
#include "catena/core/random.h"
#include "data_path.h"

namespace catena::sample::chain_health_test {

/// One line of tests/data/chain_health.csv (written by chain_health.py beside it).
struct GoldenChains {
  std::string name;
  Matrix draws;
  ChainHealth arviz;
};

std::vector<GoldenChains> golden_chains() {
  std::ifstream file(CATENA_TEST_DATA "/chain_health.csv");
  std::vector<GoldenChains> result;
  for (std::string line; std::getline(file, line);) {
    std::istringstream cells(line);
    std::string cell;
    const auto next = [&] { return std::getline(cells, cell, ',') ? cell : std::string(); };
    GoldenChains golden;
    golden.name = next();
    const std::size_t chains = std::stoul(next()), draws = std::stoul(next());
    golden.arviz.r_hat = std::stod(next());
    golden.arviz.bulk_ess = std::stod(next());
    golden.arviz.tail_ess = std::stod(next());
    golden.draws = Matrix(chains, draws);
    for (double& value : golden.draws.values()) value = std::stod(next());
    result.push_back(golden);
  }
  return result;
}

TEST(ChainHealth, EqualsArviZOnStoredChains) {
  const auto all = golden_chains();
  ASSERT_EQ(all.size(), 9U);
  for (const GoldenChains& golden : all) {
    const ChainHealth health = chain_health(golden.draws);
    // Both compute the same sums in another order: rounding, times the number of terms.
    EXPECT_NEAR(health.r_hat, golden.arviz.r_hat, 1e-9) << golden.name;
    EXPECT_NEAR(health.bulk_ess, golden.arviz.bulk_ess, 1e-7 * golden.arviz.bulk_ess) << golden.name;
    EXPECT_NEAR(health.tail_ess, golden.arviz.tail_ess, 1e-7 * golden.arviz.tail_ess) << golden.name;
  }
}

TEST(ChainHealth, DoesNotChangeUnderAMonotoneMap) {
  Stream stream = Streams(1).stream("chains");
  Matrix draws(4, 200);
  stream.fill_normal(draws.values());
  Matrix mapped = draws;
  for (double& value : mapped.values()) value = std::exp(value);
  EXPECT_DOUBLE_EQ(bulk_ess(draws), bulk_ess(mapped));
  EXPECT_DOUBLE_EQ(tail_ess(draws), tail_ess(mapped));
}

TEST(ChainHealth, TakesAQuantityThatNeverChangesAsKnown) {
  Matrix draws(4, 50);
  for (double& value : draws.values()) value = 1.5;
  const ChainHealth health = chain_health(draws);
  EXPECT_EQ(health.r_hat, 1);
  EXPECT_EQ(health.bulk_ess, 200);
  EXPECT_EQ(health.tail_ess, 200);
}

TEST(ChainHealth, RefusesChainsThatAreTooShortOrNotFinite) {
  EXPECT_THROW(chain_health(Matrix(4, 3)), InputError);
  Matrix draws(2, 10);
  draws(1, 3) = std::nan("");
  EXPECT_THROW(chain_health(draws), InputError);
}

}  // namespace catena::sample::chain_health_test
