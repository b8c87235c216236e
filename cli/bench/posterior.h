/// 1,000 draws from the posterior of a series on one core: the same measurement for every method that samples by Markov
/// chains.
#pragma once

#include <string>

#include "bench/bench.h"
#include "catena/train/method.h"

namespace catena::cli {

/// Transitions of a task from its own proposal.
train::TrainingData bench_data(const std::string& task, std::uint64_t transitions = 10'000);

/// `method` trained for a short while, on one core.
model::TrainedModel bench_model(const std::string& method, train::TrainingData& data, int training_steps,
                                const nlohmann::json& settings);

/// A series of the task, for θ = 0 or for a θ drawn from the prior.
Matrix bench_series(const std::string& task, std::size_t transitions, bool draw_theta = false);

/// Records METHOD_sample_s.KEY with R-hat, effective sample size and the number of densities.
void bench_posterior(BenchContext& context, const model::TrainedModel& model, const std::string& task,
                     std::size_t transitions, const std::string& key);

}  // namespace catena::cli
