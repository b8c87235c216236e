#include "catena/train/frames/frame_source.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <unordered_map>

#include "catena/core/check.h"

namespace catena::train {
namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

// FNV-1a over whole numbers: equal states have equal keys; others hardly ever, and are compared.
std::uint64_t key_of(std::span<const double> state) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const double value : state) hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 0x100000001B3U;
  return hash;
}

simulate::RecordShape without_states(simulate::RecordShape shape) {
  check::that(shape.plain(), "train", "what the transitions are", shape.to_json().dump(),
              "single steps from one state to the next, for an embedding of states");
  shape.states = 0;
  return shape;
}

}  // namespace

FrameSource::FrameSource(const simulate::TransitionFile& file)
    : file_(&file),
      size_(file.frames()),
      records_(file.size()),
      states_(file.shape().states),
      parameters_(file.prior().size()) {
  if (size_ > 0) {
    auto places = file.read_places(0, records_);
    x_ = std::move(places.x);
    x_next_ = std::move(places.x_next);
    columns_ = std::move(places.columns);
    join();
    return;
  }
  // A file of before there were frames: two of each record, one after the other.
  size_ = 2 * records_;
  for (std::size_t r = 0; r < records_; ++r) {
    x_.push_back(2 * r);
    x_next_.push_back(2 * r + 1);
  }
  columns_ = simulate::make_columns(without_states(file.shape()), parameters_, records_);
  constexpr std::size_t at_a_time = 1024;
  for (std::size_t begin = 0; begin < records_; begin += at_a_time) {
    take_columns(file.read(begin, std::min(records_, begin + at_a_time)), begin);
  }
  join();
}

FrameSource::FrameSource(const simulate::TransitionSet& set)
    : set_(&set), records_(set.size()), states_(set.state_names.size()), parameters_(set.z.cols()) {
  columns_ = simulate::make_columns(without_states(set.shape()), parameters_, records_);
  take_columns(set, 0);
  link(set);
  join();
}

void FrameSource::take_columns(const simulate::TransitionSet& some, std::size_t begin) {
  simulate::for_columns(
      [&](const simulate::Column&, const Matrix& from, Matrix& to) {
        for (std::size_t r = 0; to.cols() > 0 && r < some.size(); ++r) {
          std::ranges::copy(from.row(r), to.row(begin + r).begin());
        }
      },
      some, columns_);
}

/// Records in the order of the series they are pieces of: each after the one whose x^(t+1) is its x^t, where there is
/// one.
void FrameSource::link(const simulate::TransitionSet& set) {
  std::unordered_map<std::uint64_t, std::size_t> ends;
  for (std::size_t r = records_; r-- > 0;) ends[key_of(set.x_next.row(r))] = r;
  std::vector<std::size_t> next(records_, none);
  std::vector<bool> follows(records_, false);
  for (std::size_t r = 0; r < records_; ++r) {
    const auto found = ends.find(key_of(set.x.row(r)));
    if (found == ends.end() || found->second == r || next[found->second] != none) continue;
    if (!std::ranges::equal(set.x_next.row(found->second), set.x.row(r))) continue;
    next[found->second] = r;
    follows[r] = true;
  }
  x_.assign(records_, none);
  x_next_.assign(records_, none);
  const auto walk = [&](std::size_t first) {
    row_of_.emplace_back(first, false);
    for (std::size_t r = first; r != none && x_[r] == none; r = next[r]) {
      x_[r] = row_of_.size() - 1;
      x_next_[r] = row_of_.size();
      row_of_.emplace_back(r, true);
    }
  };
  for (std::size_t r = 0; r < records_; ++r) {
    if (!follows[r]) walk(r);
  }
  for (std::size_t r = 0; r < records_; ++r) {  // states that come round again
    if (x_[r] == none) walk(r);
  }
  size_ = row_of_.size();
}

void FrameSource::join() {
  joined_.assign(size_, false);
  z_.assign(size_ * parameters_, 0.0);
  for (std::size_t r = 0; r < records_; ++r) {
    if (x_next_[r] != x_[r] + 1 || joined_[x_[r]]) continue;
    joined_[x_[r]] = true;
    ++joints_;
    std::ranges::copy(columns_.z.row(r), z_.begin() + static_cast<std::ptrdiff_t>(x_[r] * parameters_));
  }
}

Matrix FrameSource::read(std::size_t begin, std::size_t end) const {
  Matrix frames;
  if (set_ != nullptr) {
    frames = Matrix(end - begin, states_);
    for (std::size_t f = begin; f < end; ++f) {
      const auto [record, is_next] = row_of_[f];
      std::ranges::copy(is_next ? set_->x_next.row(record) : set_->x.row(record), frames.row(f - begin).begin());
    }
  } else if (file_->frames() > 0) {
    frames = file_->read_frames(begin, end);
  } else {
    frames = Matrix(end - begin, states_);
    const simulate::TransitionSet some = file_->read(begin / 2, (end + 1) / 2);
    for (std::size_t f = begin; f < end; ++f) {
      const std::size_t r = f / 2 - begin / 2;
      std::ranges::copy(f % 2 == 0 ? some.x.row(r) : some.x_next.row(r), frames.row(f - begin).begin());
    }
  }
  check::all_finite("train", "a state", frames.values());
  return frames;
}

}  // namespace catena::train
