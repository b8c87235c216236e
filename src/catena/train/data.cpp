#include "catena/train/data.h"

#include <algorithm>

#include "catena/core/check.h"
#include "catena/model/whitening.h"

namespace catena::train {

Examples::Examples(const simulate::TransitionSet& set, const model::Features& f, std::size_t begin, std::size_t end)
    : parameters(set.z.cols()), features(f.size()), z((end - begin) * set.z.cols()), c((end - begin) * f.size()) {
  for (std::size_t r = begin; r < end; ++r) {
    std::ranges::transform(set.z.row(r), z.begin() + static_cast<std::ptrdiff_t>((r - begin) * parameters),
                           [](double value) { return static_cast<float>(value); });
    f.apply(set.record(r), {c.data() + (r - begin) * features, features});
  }
}

namespace {

void check_set(const simulate::TransitionSet& set) {
  check::all_finite("train", "z", set.z.values());
  check::all_finite("train", "x", set.x.values());
  check::all_finite("train", "x_next", set.x_next.values());
  check::all_finite("train", "time", set.time.values());
  for (std::size_t r = 0; r < set.step.values().size(); ++r) {
    check::positive("train", fmt::format("step[{}]", r), set.step.values()[r]);
  }
}

}  // namespace

void TrainingData::set_up(const simulate::TransitionSet& first, std::size_t rows, const Split& split) {
  check::at_least("train", "the number of transitions", rows, std::size_t{20});
  check::between("train", "held_out", split.held_out, 0.001, 0.5);
  check_set(first);
  prior_ = first.prior;
  state_names_ = first.state_names;
  provenance_ = first.provenance;
  features_ = model::Features(first);
  rows_ = rows;
  held_out_rows_ =
      std::clamp<std::size_t>(static_cast<std::size_t>(split.held_out * static_cast<double>(rows)), 2, split.most);
  window_rows_ = std::min(split.window_rows, training_size());
}

TrainingData::TrainingData(const simulate::TransitionSet& set, const Split& split) {
  set_up(set, set.size(), split);
  window_rows_ = training_size();
  current_ = Examples(set, features_, 0, set.size());
}

TrainingData::TrainingData(const std::filesystem::path& path, const Split& split)
    : file_(std::make_unique<simulate::TransitionFile>(path)) {
  const std::size_t rows = file_->size();
  const simulate::TransitionSet first = file_->read(0, std::min(rows, split.window_rows));
  set_up(first, rows, split);
  if (rows <= split.window_rows) {
    window_rows_ = training_size();
    current_ = Examples(first, features_, 0, rows);
    return;
  }
  current_ = Examples(first, features_, 0, training_rows(0, 0).count);
  const simulate::TransitionSet last = file_->read(training_size(), rows);
  check_set(last);
  held_out_ = Examples(last, features_, 0, last.size());
}

RowRange TrainingData::training_rows(std::size_t window, std::size_t fold) const {
  if (windows() == 1) return {training_size(), first_held_out(fold), held_out_rows_};
  CATENA_ASSERT(fold == 0);
  return {std::min(window_rows_, training_size() - window * window_rows_), 0, 0};
}

std::size_t TrainingData::first_held_out(std::size_t fold) const {
  CATENA_ASSERT(fold < folds());
  return windows() == 1 ? rows_ - (fold + 1) * held_out_rows_ : 0;
}

const Examples& TrainingData::window(std::size_t window) const {
  if (window != current_window_) {
    const std::size_t begin = window * window_rows_;
    const simulate::TransitionSet rows = file_->read(begin, begin + training_rows(window, 0).count);
    check_set(rows);
    current_ = Examples(rows, features_, 0, rows.size());
    if (whitening_) whitening_->apply(current_.c);
    current_window_ = window;
  }
  return current_;
}

void TrainingData::whiten(std::shared_ptr<const model::Whitening> whitening) {
  CATENA_ASSERT(!whitening_ && whitening);
  whitening_ = std::move(whitening);
  whitening_->apply(current_.c);
  whitening_->apply(held_out_.c);
}

}  // namespace catena::train
