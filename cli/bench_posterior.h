/// 1,000 draws from the posterior of 100 transitions of lotka_volterra on one core: the same measurement for every
/// method that samples by Markov chains.
#pragma once

#include <string>

#include "bench.h"
#include "catena/train/method.h"

namespace catena::cli {

/// 10,000 transitions of lotka_volterra.
train::TrainingData lotka_volterra_data();

/// Trains `method` for a short while and records METHOD_sample_s.T100 with its R-hat and effective sample size.
void bench_posterior(BenchContext& context, const std::string& method, train::TrainingData& data, int training_steps,
                     const nlohmann::json& settings);

}  // namespace catena::cli
