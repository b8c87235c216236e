#include "catena/sample/correct/simulated.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "catena/core/check.h"
#include "catena/core/ranks/bytes.h"
#include "catena/core/ranks/ranks.h"
#include "catena/sample/correct/cloud.h"
#include "catena/sample/correct/statistic.h"
#include "catena/sample/finite_rows.h"

namespace catena::sample {
namespace {

/// Rows between two looks at the progress bar, of one buffer of states, and of an answer that is kept: what is lost if
/// the run is killed.
constexpr std::size_t chunk_rows = 8 * simulate::given_block_rows;

/// Both twins of a chunk are 16 blocks.
std::size_t chunks_at_once(const Ranks& ranks) { return (static_cast<std::size_t>(ranks.size()) + 3) / 4; }

void copy_rows(ConstMatrixView from, std::span<const std::size_t> rows, MatrixView to, std::size_t begin) {
  for (std::size_t r = 0; r < rows.size(); ++r) std::ranges::copy(from.row(rows[r]), to.row(begin + r).begin());
}

}  // namespace

PairRecords some_pairs(const PairRecords& pairs, std::span<const std::size_t> rows) {
  PairRecords some{pairs.part, rows_of(pairs.z, rows), rows_of(pairs.first, rows), rows_of(pairs.second, rows), {}};
  for (const std::size_t row : rows) some.record.push_back(pairs.record[row]);
  return some;
}

std::vector<RecordPart> parts_with_records(const PosteriorRequest& request, const compose::ObservedSeries& observed) {
  std::vector<RecordPart> parts{{&request.model, &observed}};
  for (std::size_t k = 0; k < observed.companions.size(); ++k) {
    if (observed.companions[k].transitions() > 0) parts.push_back({request.companions[k], &observed.companions[k]});
  }
  return parts;
}

void check_simulator(std::string_view function, const simulate::Model& checked, const model::TrainedModel& model,
                     std::span<const model::TrainedModel* const> companions) {
  const simulate::Simulator& simulator = checked.simulator;
  const std::vector<std::string>& names = model.prior.names();
  check::that(simulator.parameter_names == names, function, "the parameters of the simulator",
              fmt::format("{}", fmt::join(simulator.parameter_names, ", ")),
              fmt::format("those of the model, {}", fmt::join(names, ", ")));
  check::equal(function, "the number of states of the simulator", simulator.states(), model.states());
  const auto listed = [](const std::vector<std::string>& all) {
    return all.empty() ? std::string("none") : fmt::format("{}", fmt::join(all, ", "));
  };
  check::that(simulator.covariate_names == model.covariate_names, function, "the list of covariates of the simulator",
              listed(simulator.covariate_names), fmt::format("that of the model, {}", listed(model.covariate_names)));
  for (const model::TrainedModel* companion : companions) {
    check::that(!companion->features.shape().initial() || checked.initial_given_theta, function,
                "the initial state of the simulator", "independent of theta",
                fmt::format("a function of theta, as {} has it", companion->source));
  }
  const simulate::RecordShape& shape = model.features.shape();
  check::that(shape.initial() || shape.order == simulator.order, function, "the order of the simulator",
              simulator.order, fmt::format("{}, that of the model", shape.order));
}

RecordSource::RecordSource(const simulate::Model& simulator, std::vector<RecordPart> parts, const Streams& streams,
                           double max_invalid, AnswerPlan answers, const Parallel& parallel)
    : simulator_(simulator),
      parts_(std::move(parts)),
      streams_(streams),
      max_invalid_(max_invalid),
      answers_(std::move(answers), parallel.ranks().first()),
      parallel_(parallel) {
  parallel_.ranks().barrier();  // the first rank writes answers, but not before all have read those that there are
  double steps = 0;
  for (const RecordPart& part : parts_) {
    const simulate::RecordShape shape = part.model->record_shape();
    const std::size_t rows = part.observed->transitions();
    records_ += rows;
    for (std::size_t r = 0; r < rows; ++r) {
      const double step = shape.step ? part.observed->step(r, 0) : 1;
      steps += static_cast<double>(simulate::steps_of_record(simulator_, shape, step));
    }
  }
  steps_per_pair_ = 2 * steps / static_cast<double>(records_);
}

std::size_t RecordSource::pairs_for(std::uint64_t steps) const {
  return static_cast<std::size_t>(static_cast<double>(steps) / steps_per_pair_);
}

void RecordSource::answer(const simulate::RecordShape& shape, const std::vector<Question>& questions) {
  Ranks& ranks = parallel_.ranks();
  std::vector<std::uint64_t> asked, number;
  std::vector<const Question*> open;
  for (const Question& each : questions) {
    asked.push_back(Answers::question(each.rows, each.streams, each.first_block));
  }
  // Every rank has come to these records by itself: draws and regressions included.
  if (ranks.shared()) ranks.check_same("what is to be simulated", std::as_bytes(std::span(asked)));
  for (std::size_t k = 0; k < questions.size(); ++k) {
    if (answers_.recall(asked[k], questions[k].rows.x_next)) continue;
    number.push_back(asked[k]);
    open.push_back(&questions[k]);
  }
  const auto keep = [&](std::size_t k, double seconds) { answers_.keep(number[k], open[k]->rows.x_next, seconds); };
  try {
    Stopwatch watch;
    if (ranks.shared() && !open.empty()) {
      simulate_on_ranks(shape, open);
      const double each = watch.seconds() / static_cast<double>(open.size());
      for (std::size_t k = 0; k < open.size(); ++k) keep(k, each);
    }
    for (std::size_t k = 0; k < open.size() && !ranks.shared(); ++k) {
      watch = Stopwatch();
      simulate::simulate_given(simulator_, shape, open[k]->rows, open[k]->streams, open[k]->first_block, parallel_);
      keep(k, watch.seconds());
    }
  } catch (...) {
    answers_.save();
    throw;
  }
}

void RecordSource::simulate_on_ranks(const simulate::RecordShape& shape, const std::vector<const Question*>& open) {
  Ranks& ranks = parallel_.ranks();
  struct Block {
    const Question* question;
    std::size_t number;
    simulate::TransitionRows rows;
  };
  std::vector<Block> blocks;
  std::vector<std::size_t> mine;
  for (const Question* each : open) {
    const std::size_t rows = each->rows.x_next.rows;
    for (std::size_t begin = 0; begin < rows; begin += simulate::given_block_rows) {
      blocks.push_back({each, each->first_block + begin / simulate::given_block_rows,
                        slice(each->rows, begin, std::min(rows, begin + simulate::given_block_rows))});
    }
  }
  // Each question ends in a block that is shorter: in turn by size, no rank has more of these than the others.
  std::ranges::stable_sort(blocks, std::ranges::greater(), [](const Block& block) { return block.rows.x_next.rows; });
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (ranks.has(i)) mine.push_back(i);
  }
  const Parallel one(1);
  parallel_.for_each(mine.size(), [&](std::size_t place) {
    const Block& block = blocks[mine[place]];
    simulate::simulate_given(simulator_, shape, block.rows, block.question->streams, block.number, one);
    ranks.tick();
  });
  share_items(
      ranks, blocks.size(),
      [&](std::size_t i) {
        BytesWriter bytes;
        const ConstMatrixView made = blocks[i].rows.x_next;
        for (std::size_t r = 0; r < made.rows; ++r) bytes.put_all(made.row(r));
        return bytes.take();
      },
      [&](std::size_t i, std::string_view text) {
        BytesReader bytes(text);
        const MatrixView made = blocks[i].rows.x_next;
        for (std::size_t r = 0; r < made.rows; ++r) bytes.get_all(made.row(r));
      });
}

std::vector<PairRecords> RecordSource::simulate(ConstMatrixView z, std::size_t pairs, Progress& progress) {
  const std::size_t d = z.cols;
  Stream stream = streams_.stream("design", rounds_);
  // Which record and which z each pair has: both in random order, cycle after cycle.
  std::vector<std::vector<std::size_t>> records_of(parts_.size()), z_of(parts_.size());
  std::vector<std::size_t> records, points;
  for (std::size_t i = 0; i < pairs; ++i) {
    if (records.empty()) records = stream.permutation(records_);
    if (points.empty()) points = stream.permutation(z.rows);
    std::size_t record = records.back(), part = 0;
    while (record >= parts_[part].observed->transitions()) record -= parts_[part++].observed->transitions();
    records_of[part].push_back(record);
    z_of[part].push_back(points.back());
    records.pop_back();
    points.pop_back();
  }
  std::vector<PairRecords> result;
  std::size_t records_before = 0;  // of earlier parts
  progress.start("simulating", "pairs", pairs);
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const RecordPart& part = parts_[k];
    const simulate::RecordShape shape = part.model->record_shape();
    const std::size_t all = records_of[k].size(), features = part.model->features.size();
    PairRecords made{k, Matrix(all, d), Matrix(all, features), Matrix(all, features), {}};
    // Some chunks at a time, so that every rank has blocks to make.
    const std::size_t at_once = chunk_rows * chunks_at_once(parallel_.ranks());
    for (std::size_t begin = 0; begin < all; begin += at_once) {
      const std::size_t count = std::min(at_once, all - begin);
      const auto which = std::span(records_of[k]).subspan(begin, count), at = std::span(z_of[k]).subspan(begin, count);
      simulate::Columns<Matrix> columns = simulate::make_columns(shape, d, count);
      for (std::size_t r = 0; r < count; ++r) {
        part.model->prior.to_theta(z.row(at[r]), columns.theta.row(r));
        if (shape.step) spent_ += 2 * simulate::steps_of_record(simulator_, shape, part.observed->step(which[r], 0));
      }
      if (!shape.step) spent_ += 2 * count * simulate::steps_of_record(simulator_, shape, 1);
      copy_rows(part.observed->x, which, columns.x, 0);
      if (shape.time) copy_rows(part.observed->time, which, columns.time, 0);
      if (shape.step) copy_rows(part.observed->step, which, columns.step, 0);
      if (shape.covariates > 0) copy_rows(part.observed->u, which, columns.u, 0);
      Matrix next[2], seen[2];
      simulate::TransitionRows rows[2];
      std::vector<Question> questions;
      for (std::size_t twin = 0; twin < 2; ++twin) {
        next[twin] = Matrix(count, columns.x_next.cols());
        rows[twin] = view(columns);
        rows[twin].x_next = next[twin].view();
        const Streams streams = streams_.child("simulate", rounds_, k, twin);
        for (std::size_t row = 0; row < count; row += chunk_rows) {
          questions.push_back({slice(rows[twin], row, std::min(count, row + chunk_rows)), streams,
                               (begin + row) / simulate::given_block_rows});
        }
      }
      answer(shape, questions);
      std::vector<bool> good(count, true);
      for (std::size_t twin = 0; twin < 2; ++twin) {
        for (std::size_t r = 0; r < count; ++r) good[r] = good[r] && all_finite(next[twin].row(r));
        seen[twin] = features_of(*part.model, rows[twin], parallel_);
      }
      for (std::size_t r = 0; r < count; ++r) {
        if (!good[r] || !all_finite(seen[0].row(r)) || !all_finite(seen[1].row(r))) {
          ++invalid_;
          continue;
        }
        const std::size_t kept = made.record.size();
        std::ranges::copy(z.row(at[r]), made.z.row(kept).begin());
        std::ranges::copy(seen[0].row(r), made.first.row(kept).begin());
        std::ranges::copy(seen[1].row(r), made.second.row(kept).begin());
        made.record.push_back(records_before + which[r]);
      }
      if (progress.stop_requested()) answers_.save();  // then advance() ends the work
      progress.advance(count);
    }
    if (made.record.size() < all) made = some_pairs(made, first_numbers(made.record.size()));
    records_before += part.observed->transitions();
    result.push_back(std::move(made));
  }
  progress.finish();
  ++rounds_;
  asked_ += pairs;
  const double share = static_cast<double>(invalid_) / static_cast<double>(asked_);
  if (share > max_invalid_) {
    throw InputError(
        fmt::format("correct: the share of simulated records whose result is not finite is {:.3g}, but must be at most "
                    "{} (max_invalid): mend the simulator where it fails",
                    share, max_invalid_));
  }
  return result;
}

}  // namespace catena::sample
