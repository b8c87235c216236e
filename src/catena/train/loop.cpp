#include "catena/train/loop.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "catena/core/check.h"
#include "catena/core/ranks/ranks.h"
#include "catena/core/stopwatch.h"
#include "catena/nn/batch_gradient.h"
#include "catena/train/checkpoint.h"

namespace catena::train {
namespace {

/// Which examples a step takes: the windows in random order, the rows of each in random order, batch after batch. What
/// is left of a window after its last whole batch waits for the next epoch's order.
class Batches {
 public:
  Batches(const TrainingData& data, std::size_t fold, std::size_t batch, bool by_length, const Streams& streams)
      : data_(data), fold_(fold), batch_(batch), by_length_(by_length && data.whole_series()), streams_(streams) {
    for (std::size_t w = 0; w < data.windows(); ++w) batches_per_epoch_ += batches_in(w);
  }

  struct Batch {
    const Examples& examples;
    std::span<const std::size_t> order;
  };

  Batch at(std::int64_t step) {
    const auto number = static_cast<std::size_t>(step);
    const std::size_t epoch = number / batches_per_epoch_;
    std::size_t place = number % batches_per_epoch_;
    if (epoch != epoch_) {
      windows_ = streams_.stream("windows", epoch).permutation(data_.windows());
      epoch_ = epoch;
      window_ = none;
    }
    std::size_t turn = 0;
    for (; place >= batches_in(windows_[turn]); ++turn) place -= batches_in(windows_[turn]);
    if (windows_[turn] != window_) {
      window_ = windows_[turn];
      const RowRange rows = data_.training_rows(window_, fold_);
      order_ = streams_.stream("order", epoch, window_).permutation(rows.count);
      for (std::size_t& row : order_) row = rows(row);
      for (std::size_t first = 0; by_length_ && first < order_.size(); first += batch_) {
        sort_by_length(data_.window(window_),
                       std::span(order_).subspan(first, std::min(batch_, order_.size() - first)));
      }
    }
    const std::size_t begin = place * batch_;
    return {data_.window(window_), std::span(order_).subspan(begin, std::min(batch_, order_.size() - begin))};
  }

 private:
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  std::size_t batches_in(std::size_t window) const {
    return std::max<std::size_t>(1, data_.training_rows(window, fold_).count / batch_);
  }

  const TrainingData& data_;
  std::size_t fold_;
  std::size_t batch_;
  bool by_length_;
  Streams streams_;
  std::size_t batches_per_epoch_ = 0;
  std::size_t epoch_ = none, window_ = none;
  std::vector<std::size_t> windows_, order_;
};

/// Feeds one batch to the objective, block by block.
nn::BatchGradient::Fill filler(const Objective& objective, const Batches::Batch& batch, const Streams& noise,
                               std::int64_t step) {
  return [&objective, batch, noise, step](nn::Workspace& workspace, std::size_t begin, std::size_t end,
                                          std::size_t block) {
    const std::size_t lanes = objective.lanes_per_example();
    objective.fill(workspace, {batch.examples, batch.order, begin / lanes, end / lanes},
                   noise.stream("noise", step, block));
  };
}

/// The mean loss over the held-out rows, with the same noise every time.
double held_out_loss(nn::BatchGradient& gradient, const Objective& objective, const Examples& examples,
                     std::span<const std::size_t> rows, std::size_t batch, std::span<const float> weights,
                     const Streams& noise) {
  double sum = 0;
  const std::size_t draws = objective.held_out_draws();
  std::vector<std::size_t> order(rows.begin(), rows.end());
  for (std::size_t draw = 0; draw < draws; ++draw) {
    // An example's place in its batch may say at which level of noise it is seen: each time at another one.
    if (draw > 0) {
      std::ranges::rotate(order,
                          order.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, rows.size() / draws)));
    }
    for (std::size_t begin = 0; begin < rows.size(); begin += batch) {
      const std::size_t count = std::min(batch, rows.size() - begin);
      const Batches::Batch part{examples, std::span<const std::size_t>(order).subspan(begin, count)};
      const auto place = static_cast<std::int64_t>(draw * rows.size() + begin);  // 0, …: as ever for a single draw
      sum += static_cast<double>(count) *
             gradient.loss(weights, count * objective.lanes_per_example(), filler(objective, part, noise, place));
    }
  }
  return sum / static_cast<double>(rows.size() * draws);
}

LoopState first_state(const Objective& objective, const nn::Optimizer& optimizer, const Streams& streams) {
  LoopState state;
  state.optimizer = optimizer.init(objective.graph().initial_weights(streams.child("weights")));
  state.result.best_loss = std::numeric_limits<double>::infinity();
  return state;
}

}  // namespace

LoopResult train_loop(const std::string& label, const Objective& objective, const TrainingData& data, std::size_t fold,
                      const LoopSettings& settings, const Streams& root, const Parallel& parallel, Progress& progress,
                      const CheckpointPlan& checkpoint, const nlohmann::json& identity) {
  check_config("train", settings);
  CATENA_ASSERT(settings.steps > 0);
  const Streams streams = root.child(label);
  const std::size_t batch = std::min(static_cast<std::size_t>(settings.batch_size), data.training_size());
  nn::BatchGradient gradient(objective.graph(), objective.loss(), batch * objective.lanes_per_example(), parallel,
                             objective.block_lanes());
  const nn::Optimizer optimizer(objective.graph(), settings.optimizer);
  Batches batches(data, fold, batch, objective.by_length(), streams.child("batches"));
  // Networks that are compared by their held-out losses (choose/decay_search.h) are judged with the same noise.
  const Streams noise = streams.child("training noise"), held_out_noise = root.child("held-out noise");
  std::vector<std::size_t> held_out_rows(data.held_out_size());
  std::iota(held_out_rows.begin(), held_out_rows.end(), data.first_held_out(fold));

  Ranks& ranks = parallel.ranks();
  const bool resumed = ranks.first_says(checkpoint.resume && std::filesystem::exists(checkpoint.path));
  LoopState state = resumed ? read_checkpoint(checkpoint.path, identity, objective.graph().parameter_count())
                            : first_state(objective, optimizer, streams);
  LoopResult& result = state.result;
  if (resumed) ranks.barrier();  // the first rank may write the file again, but not before all have read it
  if (resumed && result.weights.empty()) result.best_loss = std::numeric_limits<double>::infinity();

  const Stopwatch watch;
  const double seconds_before = result.curve.seconds.empty() ? 0 : result.curve.seconds.back();
  Stopwatch last_checkpoint;
  const std::int64_t steps = settings.steps, every = std::max<std::int64_t>(1, steps / settings.evaluations);
  const auto patience = static_cast<std::int64_t>(std::ceil(settings.patience * static_cast<double>(steps)));
  const auto save = [&] {
    if (!checkpoint.path.empty() && ranks.first()) write_checkpoint(checkpoint.path, state, identity);
    last_checkpoint = Stopwatch();
  };

  progress.start(label, "steps", static_cast<std::uint64_t>(steps));
  progress.advance(static_cast<std::uint64_t>(result.steps));
  while (!state.finished) {
    const std::int64_t step = result.steps;
    const Batches::Batch now = batches.at(step);
    const double loss = [&] {
      try {
        return gradient.compute(state.optimizer.weights, now.order.size() * objective.lanes_per_example(),
                                filler(objective, now, noise, step));
      } catch (...) {  // a stop, or a rank that is lost: the step is not done, but those before it are
        save();
        throw;
      }
    }();
    const nn::OptimizerInfo info = optimizer.step(state.optimizer, gradient.gradient(),
                                                  nn::one_cycle(step, steps, settings.optimizer.learning_rate));
    result.skipped_steps += info.finite ? 0 : 1;
    state.running_loss += loss;
    ++state.running_steps;
    ++result.steps;

    const bool out_of_time = settings.time_limit > 0 && ranks.first_says(watch.seconds() > settings.time_limit);
    const bool last = result.steps == steps || out_of_time;
    if (result.steps % every == 0 || last) {
      const double held_out = held_out_loss(gradient, objective, data.held_out(), held_out_rows, batch,
                                            state.optimizer.averaged, held_out_noise);
      result.curve.step.push_back(static_cast<double>(result.steps));
      result.curve.train_loss.push_back(state.running_loss / static_cast<double>(state.running_steps));
      result.curve.held_out_loss.push_back(held_out);
      result.curve.seconds.push_back(seconds_before + watch.seconds());
      ranks.check_same("the weights", std::as_bytes(std::span<const float>(state.optimizer.weights)));
      state.running_loss = 0;
      state.running_steps = 0;
      if (held_out < result.best_loss) {
        result.best_loss = held_out;
        result.best_step = result.steps;
        result.weights = state.optimizer.averaged;
      }
      progress.note(fmt::format("held-out loss {:.4f}", held_out));
      state.finished = last || result.steps - result.best_step >= patience;
      if (out_of_time && result.steps < steps) result.outcome = Outcome::time_limit;
    }
    if (state.finished) break;
    if (progress.stop_requested()) save();  // then advance() ends the work
    progress.advance(1);
    if (!checkpoint.path.empty() && last_checkpoint.seconds() >= checkpoint.seconds) save();
  }
  progress.finish();
  if (result.weights.empty()) {
    result.outcome = Outcome::diverged;
    result.weights = state.optimizer.averaged;
  }
  if (checkpoint.keep) {
    save();
  } else if (!checkpoint.path.empty() && ranks.first()) {
    std::filesystem::remove(checkpoint.path);
  }
  return std::move(result);
}

}  // namespace catena::train
