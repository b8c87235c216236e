#include "catena/train/data.h"

#include <algorithm>

#include "catena/core/check.h"

namespace catena::train {

Examples::Examples(const simulate::TransitionSet& set, const Features& f, std::size_t begin, std::size_t end)
    : parameters(set.z.cols()),
      features(f.size()),
      z((end - begin) * set.z.cols()),
      c((end - begin) * f.size()) {
  for (std::size_t r = begin; r < end; ++r) {
    std::ranges::transform(set.z.row(r), z.begin() + static_cast<std::ptrdiff_t>((r - begin) * parameters),
                           [](double value) { return static_cast<float>(value); });
    f.apply(set.x.row(r), set.x_next.row(r), set.time.cols() > 0 ? set.time(r, 0) : 0,
            {c.data() + (r - begin) * features, features});
  }
}

namespace {

void check_set(const simulate::TransitionSet& set) {
  check::all_finite("train", "z", set.z.values());
  check::all_finite("train", "x", set.x.values());
  check::all_finite("train", "x_next", set.x_next.values());
  check::all_finite("train", "time", set.time.values());
}

}  // namespace

/// The last rows are held out: rows are exchangeable, and a file's last rows are as quickly read as any.
void TrainingData::set_up(const simulate::TransitionSet& first, std::size_t rows, const Split& split) {
  check::at_least("train", "the number of transitions", rows, std::size_t{20});
  check::between("train", "held_out", split.held_out, 0.0, 0.9);
  check_set(first);
  prior_ = first.prior;
  state_names_ = first.state_names;
  provenance_ = first.provenance;
  features_ = Features(first);
  const auto share = static_cast<std::size_t>(split.held_out * static_cast<double>(rows));
  training_rows_ = rows - std::clamp<std::size_t>(share, 2, split.most);
  window_rows_ = std::min(split.window_rows, training_rows_);
}

TrainingData::TrainingData(const simulate::TransitionSet& set, const Split& split) {
  set_up(set, set.size(), split);
  window_rows_ = training_rows_;
  current_ = Examples(set, features_, 0, training_rows_);
  held_out_ = Examples(set, features_, training_rows_, set.size());
}

TrainingData::TrainingData(const std::filesystem::path& path, const Split& split)
    : file_(std::make_unique<simulate::TransitionFile>(path)) {
  const std::size_t rows = file_->size();
  const simulate::TransitionSet first = file_->read(0, std::min(rows, split.window_rows));
  set_up(first, rows, split);
  current_ = Examples(first, features_, 0, window_size(0));
  const simulate::TransitionSet last = file_->read(training_rows_, rows);
  check_set(last);
  held_out_ = Examples(last, features_, 0, last.size());
}

std::size_t TrainingData::window_size(std::size_t window) const {
  return std::min(window_rows_, training_rows_ - window * window_rows_);
}

const Examples& TrainingData::window(std::size_t window) const {
  if (window != current_window_) {
    const std::size_t begin = window * window_rows_;
    const simulate::TransitionSet rows = file_->read(begin, begin + window_size(window));
    check_set(rows);
    current_ = Examples(rows, features_, 0, rows.size());
    current_window_ = window;
  }
  return current_;
}

}  // namespace catena::train
