#include "catena/compose/observed_series.h"

#include <algorithm>
#include <cmath>

#include "catena/core/check.h"

namespace catena::compose {
namespace {

/// The records of one model, and their features.
class Records {
 public:
  explicit Records(const model::TrainedModel& model) : model_(model) {}
  const simulate::RecordShape& shape() const { return model_.features.shape(); }

  /// The record whose first target is row `first` of the path.
  void add(std::string_view function, const simulate::Path& path, std::size_t first) {
    const std::size_t n = shape().states, at = c_.size();
    if (model_.embedding && last_path_ != &path) embedded_ = model_.embedding->embed(path.states);
    const Matrix& states = model_.embedding ? embedded_ : path.states;
    std::vector<double> x, x_next;
    for (std::size_t j = 1; j <= shape().order; ++j) {
      x.insert(x.end(), states.row(first - j).begin(), states.row(first - j).end());
      x_.insert(x_.end(), path.states.row(first - j).begin(), path.states.row(first - j).end());
    }
    for (std::size_t j = 0; j < shape().block; ++j) {
      x_next.insert(x_next.end(), states.row(first + j).begin(), states.row(first + j).end());
    }
    CATENA_ASSERT(x.size() == shape().order * n && x_next.size() == shape().block * n);
    model_.features.check_positive(function, model_.state_names, x);
    model_.features.check_positive(function, model_.state_names, x_next);
    std::vector<double> u;
    for (std::size_t j = 0; shape().covariates > 0 && j < shape().block; ++j) {
      const auto row = path.covariates.row(first + j - 1);  // of the state from which the step starts
      u.insert(u.end(), row.begin(), row.end());
    }
    simulate::RecordView record{x, x_next};
    record.u = u;
    if (first > 0) {
      record.time = path.times[first - 1];
      record.step = path.steps[first - 1];
    }
    u_.insert(u_.end(), u.begin(), u.end());
    observed_.follows.push_back(last_path_ == &path && last_first_ + shape().block == first);
    last_path_ = &path;
    last_first_ = first;
    if (shape().time) time_.push_back(record.time);
    if (shape().step) step_.push_back(record.step);
    c_.resize(at + model_.features.size());
    model_.features.apply(record, std::span(c_).subspan(at));
    const double excess = model_.features.excess(record);
    observed_.is_outside.push_back(excess > 0);
    if (excess > 0) ++observed_.outside;
    if (excess > observed_.worst_excess) {
      observed_.worst_excess = excess;
      observed_.worst_transition = at / model_.features.size();
    }
  }

  ObservedSeries finish() && {
    model_.whiten(c_);
    const std::size_t rows = c_.size() / model_.features.size();
    const auto matrix = [rows](const auto& values, std::size_t columns) {
      Matrix made(rows, columns);
      std::ranges::copy(values, made.values().begin());
      return made;
    };
    observed_.c = matrix(c_, model_.features.size());
    observed_.x = matrix(x_, model_.record_shape().condition());
    observed_.time = matrix(time_, shape().time ? 1 : 0);
    observed_.step = matrix(step_, shape().step ? 1 : 0);
    observed_.u = matrix(u_, shape().inputs());
    return std::move(observed_);
  }

 private:
  const model::TrainedModel& model_;
  std::vector<float> c_;
  std::vector<double> x_, time_, step_, u_;
  Matrix embedded_;  // the states of last_path_
  ObservedSeries observed_;
  const simulate::Path* last_path_ = nullptr;  // of the record before
  std::size_t last_first_ = 0;
};

simulate::KnownSteps known_steps(const model::TrainedModel& model) {
  if (!model.features.uses_step()) return {};
  const model::Feature& log_step = model.features.step();
  const bool own = model.provenance.is_object() && model.provenance.value("own_steps", false);
  if (!own) return {std::round(std::exp(log_step.low)), std::round(std::exp(log_step.high)), true};
  // Steps drawn from a range do not reach its ends; what was asked for counts.
  const auto asked = model.provenance.value("steps", std::vector<double>());
  if (asked.size() == 2) return {asked[0], asked[1], false};
  return {std::exp(log_step.low), std::exp(log_step.high), false};
}

/// The companion that has records of this kind, or none.
template <class Fits>
Records* find(std::vector<Records>& companions, const Fits& fits) {
  for (Records& each : companions) {
    if (fits(each.shape())) return &each;
  }
  return nullptr;
}

void check_companion(std::string_view function, const model::TrainedModel& model, const model::TrainedModel& other) {
  const simulate::RecordShape &main = model.features.shape(), &shape = other.features.shape();
  check::equal(function, fmt::format("the method of {}", other.source), other.method, model.method);
  check::that(other.prior.to_json() == model.prior.to_json(), function, fmt::format("the prior of {}", other.source),
              "another one", fmt::format("that of {}", model.source));
  check::that(other.state_names == model.state_names, function, fmt::format("the states of {}", other.source),
              fmt::format("{}", fmt::join(other.state_names, ", ")),
              fmt::format("{}", fmt::join(model.state_names, ", ")));
  check::that(shape.initial() || other.covariate_names == model.covariate_names, function,
              fmt::format("the covariates of {}", other.source),
              fmt::format("{}", fmt::join(other.covariate_names, ", ")),
              fmt::format("{}", fmt::join(model.covariate_names, ", ")));
  const bool initial = shape.initial() && !main.initial() && shape.block == main.order;
  const bool single = !shape.initial() && shape.order == main.order && shape.block == 1 && main.block > 1;
  check::that(initial || single, function, fmt::format("what {} was trained on", other.source), "other records",
              "the initial states or, beside blocks, the single transitions of the same chain");
}

}  // namespace

std::size_t ObservedSeries::all_transitions() const {
  std::size_t sum = transitions();
  for (const ObservedSeries& each : companions) sum += each.transitions();
  return sum;
}

std::size_t ObservedSeries::all_outside() const {
  std::size_t sum = outside;
  for (const ObservedSeries& each : companions) sum += each.outside;
  return sum;
}

ObservedSeries thinned(const ObservedSeries& observed, std::size_t records) {
  const std::size_t all = observed.transitions();
  ObservedSeries some;
  const auto take = [&](const Matrix& from) {
    Matrix to(records, from.cols());
    for (std::size_t t = 0; t < records; ++t) std::ranges::copy(from.row(t * all / records), to.row(t).begin());
    return to;
  };
  some.c = take(observed.c);
  some.follows.assign(records, false);
  if (observed.x.rows() == all) some.x = take(observed.x);
  if (observed.time.rows() == all) some.time = take(observed.time);
  if (observed.step.rows() == all) some.step = take(observed.step);
  if (observed.u.rows() == all) some.u = take(observed.u);
  for (const ObservedSeries& each : observed.companions) {
    const std::size_t theirs = each.transitions();
    some.companions.push_back(thinned(each, theirs == 0 ? 0 : std::max<std::size_t>(1, theirs * records / all)));
  }
  return some;
}

ObservedSeries observed_series(std::string_view function, const model::TrainedModel& model,
                               std::span<const model::TrainedModel* const> companions,
                               std::span<const simulate::SeriesView> series, const simulate::PathSettings& settings) {
  const model::Features& features = model.features;
  const simulate::RecordShape& shape = features.shape();
  check::at_least(function, "the number of series", series.size(), std::size_t{1});
  for (const model::TrainedModel* companion : companions) check_companion(function, model, *companion);
  Records records(model);
  std::vector<Records> others;
  for (const model::TrainedModel* companion : companions) others.emplace_back(*companion);
  Records* initial = find(others, [](const auto& s) { return s.initial(); });
  Records* single = find(others, [](const auto& s) { return !s.initial(); });
  const std::size_t fewest = shape.order + (initial != nullptr ? 0 : single != nullptr ? 1 : shape.block);
  for (const simulate::SeriesView& each : series) {
    check::equal(function, "the number of states of the series", each.states.cols, model.states());
    check::at_least(function, "the number of rows of the series", each.states.rows, fewest);
    if (features.uses_time()) {
      check::equal(function, "the number of times of the series", each.times.size(), each.states.rows);
    }
    check::that(shape.covariates == 0 || each.covariates.cols > 0, function, "the table of covariates of the series",
                "missing", fmt::format("given for every row: {}", fmt::join(model.covariate_names, ", ")));
    check::that(shape.covariates > 0 || each.covariates.cols == 0, function, "the table of covariates of the series",
                "given", "left out: the model was trained without any");
  }
  std::vector<simulate::SeriesView> named(series.begin(), series.end());  // as sentences call their columns
  for (simulate::SeriesView& each : named) each.covariate_names = model.covariate_names;
  for (const simulate::Path& path :
       simulate::paths_of(function, named, model.states(), known_steps(model), settings, shape.covariates)) {
    const std::size_t rows = path.states.rows();
    if (shape.initial()) {
      check::that(path.from_start && rows == shape.block, function, "the number of rows of the series", rows,
                  fmt::format("{}: the model knows initial states alone", shape.block));
      records.add(function, path, 0);
      continue;
    }
    if (initial != nullptr && path.from_start && rows >= shape.order) initial->add(function, path, 0);
    std::size_t first = shape.order;
    for (; first + shape.block <= rows; first += shape.block) records.add(function, path, first);
    if (first >= rows) continue;
    check::that(single != nullptr, function, "the number of transitions of the series", rows - shape.order,
                fmt::format("a multiple of {}, the transitions of a block, unless a model of single transitions is "
                            "given beside that of blocks",
                            shape.block));
    for (; first < rows; ++first) single->add(function, path, first);
  }
  ObservedSeries observed = std::move(records).finish();
  check::at_least(function, "the number of transitions of the series", observed.transitions(), std::size_t{1});
  for (Records& each : others) observed.companions.push_back(std::move(each).finish());
  return observed;
}

ObservedSeries observed_series(std::string_view function, const model::TrainedModel& model, ConstMatrixView series,
                               std::span<const double> times) {
  const simulate::SeriesView one{series, times};
  return observed_series(function, model, {}, {&one, 1});
}

}  // namespace catena::compose
