/// What a slow simulator has answered so far, in a file beside the result, so that a correction that was killed need
/// not ask again. An answer is found by its question, that is by parameters, states, times and random numbers: one to
/// another series, model or seed is never taken for it. Everything else of a correction is quick and is done again, so
/// that the result has the same bits as one that was not killed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <vector>

#include "catena/core/random.h"
#include "catena/core/stopwatch.h"
#include "catena/simulate/transitions/columns.h"

namespace catena::sample {

struct AnswerPlan {
  std::filesystem::path path = {};  // empty: nothing is kept
  bool resume = false;              // use what is there
  double every = 60;                // seconds between two writings
  double worth = 0.2;               // answers that took less are not kept
};

class Answers {
 public:
  /// Throws FileError if what is there is no file of answers. Of several ranks one writes.
  explicit Answers(AnswerPlan plan, bool writes = true);

  /// Rows to be simulated with blocks of these streams from the given one on.
  static std::uint64_t question(const simulate::TransitionRows& rows, const Streams& streams, std::size_t first_block);

  /// Fills in the answer if it is known.
  bool recall(std::uint64_t question, MatrixView x_next);
  void keep(std::uint64_t question, ConstMatrixView x_next, double seconds);
  /// Writes the file if it lacks something.
  void save();
  std::uint64_t recalled() const { return recalled_; }  ///< rows that need not be simulated again

 private:
  AnswerPlan plan_;
  bool writes_;
  std::map<std::uint64_t, std::vector<double>> known_;
  std::uint64_t recalled_ = 0;
  bool changed_ = false;
  Stopwatch last_saved_;
};

}  // namespace catena::sample
