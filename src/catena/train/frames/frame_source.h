/// The states of a training set as frames in the order of their series, for embeddings: each state once, however many
/// records it belongs to, read by ranges. From a file that keeps frames, from one that does not, or from memory.
///
/// Frames f and f + 1 are *joined* if a record leads from one to the other; its z belongs to f.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "catena/core/array.h"
#include "catena/model/frames/frame_embedding.h"
#include "catena/simulate/transitions/transitions.h"

namespace catena::train {

class FrameSource {
 public:
  /// Both must outlive the source.
  explicit FrameSource(const simulate::TransitionFile& file);
  explicit FrameSource(const simulate::TransitionSet& set);

  std::size_t size() const { return size_; }
  std::size_t records() const { return records_; }
  std::size_t states() const { return states_; }
  std::size_t parameters() const { return parameters_; }
  /// The frames [begin, end), one a row. Throws InputError if a value is not finite.
  Matrix read(std::size_t begin, std::size_t end) const;
  bool joined(std::size_t frame) const { return joined_[frame]; }
  std::size_t joints() const { return joints_; }
  /// z of the record that leads from this frame to the next one; only if they are joined.
  const double* z(std::size_t frame) const { return z_.data() + frame * parameters_; }

  /// What records have beside their states.
  const simulate::Columns<Matrix>& columns() const { return columns_; }
  /// Where the states of a record are.
  std::pair<std::size_t, std::size_t> places(std::size_t record) const { return {x_[record], x_next_[record]}; }

 private:
  void take_columns(const simulate::TransitionSet& some, std::size_t begin);
  void join();
  void link(const simulate::TransitionSet& set);

  const simulate::TransitionFile* file_ = nullptr;
  const simulate::TransitionSet* set_ = nullptr;
  std::size_t size_ = 0, records_ = 0, states_ = 0, parameters_ = 0, joints_ = 0;
  simulate::Columns<Matrix> columns_;
  std::vector<std::size_t> x_, x_next_;               // frame of each record's states
  std::vector<std::pair<std::size_t, bool>> row_of_;  // of a set: the record that has the frame, and whether as x_next
  std::vector<bool> joined_;
  std::vector<double> z_;
};

}  // namespace catena::train
