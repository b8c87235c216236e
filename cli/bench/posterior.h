/// 1,000 draws from the posterior of a series on one core: the same measurement for every method that samples by Markov
/// chains.
#pragma once

#include <string>

#include "bench/bench.h"
#include "catena/nn/batch_gradient.h"
#include "catena/nn/optimizer.h"
#include "catena/train/method.h"

namespace catena::cli {

/// Transitions of a task from its own proposal.
train::TrainingData bench_data(const std::string& task, std::uint64_t transitions = 10'000);

/// Whole series of ten of its transitions.
train::TrainingData bench_series_data(const std::string& task, std::uint64_t transitions = 10'000);

/// One training step of an objective at batch 1,000 on one core: forward, backward and AdamW.
class BenchStep {
 public:
  BenchStep(const train::Objective& objective, const train::TrainingData& data);
  void operator()();
  /// Of the products with weights in such a step: forward, and twice as many backward.
  double flops() const;

 private:
  static constexpr std::size_t batch_ = 1000;
  const train::Objective* objective_;
  const train::TrainingData* data_;
  nn::BatchGradient gradient_;
  nn::Optimizer optimizer_;
  nn::OptimizerState state_;
  std::vector<std::size_t> order_;
};

/// `method` trained for a short while, on one core.
model::TrainedModel bench_model(const std::string& method, train::TrainingData& data, int training_steps,
                                const nlohmann::json& settings);

/// A series of the task, for θ = 0 or for a θ drawn from the prior.
Matrix bench_series(const std::string& task, std::size_t transitions, bool draw_theta = false);

/// Records METHOD_sample_s.KEY with R-hat, effective sample size and the number of densities.
void bench_posterior(BenchContext& context, const model::TrainedModel& model, const std::string& task,
                     std::size_t transitions, const std::string& key);

}  // namespace catena::cli
