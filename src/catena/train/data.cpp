#include "catena/train/data.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "catena/core/check.h"
#include "catena/model/whitening.h"
#include "catena/simulate/whole_series/series_simulation.h"
#include "catena/train/frames/frame_source.h"

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
  check::all_finite("train", "u", set.u.values());
  for (std::size_t r = 0; r < set.step.values().size(); ++r) {
    check::positive("train", fmt::format("step[{}]", r), set.step.values()[r]);
  }
}

}  // namespace

void TrainingData::set_up(const simulate::TransitionSet& first, std::size_t rows, const Split& split) {
  set_rows(rows, split);
  check_set(first);
  prior_ = first.prior;
  state_names_ = first.state_names;
  covariate_names_ = first.covariate_names;
  provenance_ = first.provenance;
  features_ = model::Features(first);
}

void TrainingData::set_rows(std::size_t rows, const Split& split) {
  check::at_least("train", "the number of transitions", rows, std::size_t{20});
  check::between("train", "held_out", split.held_out, 0.001, 0.5);
  split_ = split;
  rows_ = rows;
  held_out_rows_ =
      std::clamp<std::size_t>(static_cast<std::size_t>(split.held_out * static_cast<double>(rows)), 2, split.most);
  window_rows_ = std::min(split.window_rows, training_size());
}

TrainingData::TrainingData(simulate::TransitionSet set, const Split& split) {
  if (split.frames) {
    set_rows(set.size(), split);
    prior_ = set.prior;
    state_names_ = set.state_names;
    covariate_names_ = set.covariate_names;
    provenance_ = set.provenance;
    set_ = std::make_shared<const simulate::TransitionSet>(std::move(set));
    return;
  }
  set_up(set, set.size(), split);
  window_rows_ = training_size();
  read_first_window(set);
  set_ = std::make_shared<const simulate::TransitionSet>(std::move(set));
}

TrainingData::TrainingData(const std::filesystem::path& path, const Split& split)
    : file_(std::make_unique<simulate::TransitionFile>(path)) {
  const std::size_t rows = file_->size();
  if (split.frames) {
    set_rows(rows, split);
    prior_ = file_->prior();
    state_names_ = file_->state_names();
    covariate_names_ = file_->covariate_names();
    provenance_ = file_->provenance();
    return;
  }
  simulate::TransitionSet first = file_->read(0, std::min(rows, split.window_rows));
  set_up(first, rows, split);
  if (windows() == 1 && first.size() < rows) first = file_->read(0, rows);  // a window, and what is held out beside it
  read_first_window(first);
}

TrainingData::TrainingData(std::size_t count, std::size_t at_once,
                           std::function<Examples(std::size_t, std::size_t)> make, const Split& split)
    : make_(std::move(make)) {
  Split of_examples = split;
  of_examples.window_rows = at_once;
  set_rows(count, of_examples);
  current_ = make_(0, windows() == 1 ? rows_ : window_rows_);
  if (windows() > 1) held_out_ = make_(training_size(), rows_);
}

FrameSource TrainingData::frames() const {
  CATENA_ASSERT(!whole_series() && !embedded_ && !whitening_);
  return file_ ? FrameSource(*file_) : FrameSource(*set_);
}

void TrainingData::embed(simulate::TransitionSet embedded) {
  CATENA_ASSERT(!embedded_ && embedded.size() <= rows_);
  embedded_ = true;
  file_.reset();
  set_up(embedded, embedded.size(), split_);
  window_rows_ = training_size();
  read_first_window(embedded);
  set_ = std::make_shared<const simulate::TransitionSet>(std::move(embedded));
}

TrainingData::TrainingData(const simulate::SeriesSet& set, const Split& split) {
  check::at_least("train", "the number of series", set.size(), std::size_t{20});
  check::between("train", "held_out", split.held_out, 0.001, 0.5);
  const simulate::SeriesTransitions rows = simulate::transitions_of("train", set);
  check_set(rows.set);
  prior_ = set.prior;
  state_names_ = set.state_names;
  provenance_ = set.provenance;
  features_ = model::Features(rows.set);
  current_ = Examples(rows.set, features_, 0, rows.set.size());
  for (std::size_t s = 0; s < set.size(); ++s) {
    const std::size_t first = rows.offsets[s], length = rows.offsets[s + 1] - first;
    series_.push_back({first, length});
    longest_ = std::max(longest_, length);
    series_z_.insert(series_z_.end(), current_.z_of(first), current_.z_of(first) + current_.parameters);
  }
  held_out_series_ = std::clamp<std::size_t>(static_cast<std::size_t>(split.held_out * static_cast<double>(set.size())),
                                             2, split.most);
  std::vector<std::size_t> all(series_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  set_series(series_, all, held_out_series_);
}

void TrainingData::set_series(const std::vector<Examples::Rows>& examples, const std::vector<std::size_t>& series_of,
                              std::size_t held_out) {
  const auto d = static_cast<std::ptrdiff_t>(current_.parameters);
  current_.series = examples;
  current_.z.clear();
  for (const std::size_t s : series_of) {
    const auto z = series_z_.begin() + static_cast<std::ptrdiff_t>(s) * d;
    current_.z.insert(current_.z.end(), z, z + d);
  }
  rows_ = examples.size();
  held_out_rows_ = held_out;
  window_rows_ = training_size();
}

void TrainingData::add_shortened(double share, const Streams& streams) {
  CATENA_ASSERT(whole_series() && rows_ == series_.size());
  std::vector<std::vector<std::size_t>> lengths(series_.size());
  for (std::size_t length = 1; length < longest_; ++length) {
    std::vector<std::size_t> longer;
    for (std::size_t s = 0; s < series_.size(); ++s) {
      if (series_[s].length > length) longer.push_back(s);
    }
    const auto copies = static_cast<std::size_t>(std::llround(share * static_cast<double>(longer.size())));
    const std::vector<std::size_t> order = streams.stream("shorten", length).permutation(longer.size());
    for (std::size_t k = 0; k < copies; ++k) lengths[longer[order[k]]].push_back(length);
  }
  std::vector<Examples::Rows> examples;
  std::vector<std::size_t> series_of;
  std::size_t held_out = 0;
  for (std::size_t s = 0; s < series_.size(); ++s) {
    lengths[s].push_back(series_[s].length);
    for (const std::size_t length : lengths[s]) {
      examples.push_back({series_[s].first, length});
      series_of.push_back(s);
    }
    if (s + held_out_series_ >= series_.size()) held_out += lengths[s].size();
  }
  set_series(examples, series_of, held_out);
}

void TrainingData::read_first_window(const simulate::TransitionSet& first) {
  current_window_ = 0;
  if (windows() == 1) {
    current_ = Examples(first, features_, 0, rows_);
    return;
  }
  current_ = Examples(first, features_, 0, training_rows(0, 0).count);
  const simulate::TransitionSet last = file_->read(training_size(), rows_);
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
    if (make_) {
      current_ = make_(begin, begin + training_rows(window, 0).count);
      current_window_ = window;
      return current_;
    }
    const simulate::TransitionSet rows = file_->read(begin, begin + training_rows(window, 0).count);
    check_set(rows);
    current_ = Examples(rows, features_, 0, rows.size());
    if (whitening_) whitening_->apply(current_.c);
    current_window_ = window;
  }
  return current_;
}

template <class Visit>
void TrainingData::for_all_rows(const Visit& visit) const {
  if (set_) return visit(*set_);
  for (std::size_t begin = 0; begin < rows_; begin += window_rows_) {
    visit(file_->read(begin, std::min(rows_, begin + window_rows_)));
  }
}

std::vector<std::size_t> TrainingData::positive_states() const {
  const std::size_t n = features_.states();
  std::vector<bool> positive(n, true);
  for_all_rows([&](const simulate::TransitionSet& set) {
    for (std::size_t r = 0; r < set.size(); ++r) {
      for (std::size_t i = 0; i < features_.condition(); ++i) positive[i % n] = positive[i % n] && set.x(r, i) > 0;
      for (std::size_t i = 0; i < features_.target(); ++i) positive[i % n] = positive[i % n] && set.x_next(r, i) > 0;
    }
  });
  std::vector<std::size_t> states;
  for (std::size_t i = 0; i < n; ++i) {
    if (positive[i]) states.push_back(i);
  }
  return states;
}

std::vector<double> TrainingData::next_values(std::size_t i) const {
  std::vector<double> values;
  for_all_rows([&](const simulate::TransitionSet& set) {
    for (std::size_t r = 0; r < set.size(); ++r) values.push_back(set.x_next(r, i));
  });
  return values;
}

void TrainingData::see(std::vector<std::size_t> logarithmic, std::vector<double> periods) {
  CATENA_ASSERT(!whitening_ && !whole_series());
  if (features_.logarithmic() == logarithmic && features_.periods() == periods) return;
  see_anew(std::move(logarithmic), std::move(periods));
}

void TrainingData::see_tails() {
  CATENA_ASSERT(!whitening_ && !whole_series());
  if (tails_) return;
  tails_ = true;
  see_anew(features_.logarithmic(), features_.periods());
}

void TrainingData::see_anew(std::vector<std::size_t> logarithmic, std::vector<double> periods) {
  const auto read = [&](const simulate::TransitionSet& first) {
    features_ = model::Features(first, std::move(logarithmic), std::move(periods), tails_);
    read_first_window(first);
  };
  set_ ? read(*set_) : read(file_->read(0, windows() == 1 ? rows_ : window_rows_));
}

void TrainingData::whiten(std::shared_ptr<const model::Whitening> whitening) {
  CATENA_ASSERT(!whitening_ && whitening);
  whitening_ = std::move(whitening);
  whitening_->apply(current_.c);
  whitening_->apply(held_out_.c);
}

}  // namespace catena::train
