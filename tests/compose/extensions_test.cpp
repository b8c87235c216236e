// Every extension of plain transitions, composed from exact local posteriors, gives the exact posterior of the series:
// gaps, panels, initial states, chains of higher order, blocks with a remainder; at T = 1, 10 and 100. Records come
// from observed_series with features that do nothing, local posteriors from these records alone, and the truth from the
// task's own likelihood of the whole series.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "catena/compose/observed_series.h"
#include "catena/compose/rule.h"
#include "catena/compose/scores/joined_scores.h"
#include "catena/tasks/likelihood.h"
#include "catena/tasks/observe.h"
#include "compose/analytic_scores.h"

namespace catena::compose::extensions_test {
namespace {

using simulate::RecordShape;

/// A model whose features are the record itself.
model::TrainedModel bare_model(const RecordShape& shape, const tasks::Task& task, double longest_step = 1) {
  const std::size_t extras = (shape.time ? 1 : 0) + (shape.step ? 1 : 0) + (shape.initial() ? 1 : 0);
  const std::size_t size = shape.condition() + shape.target() + extras + shape.inputs();
  nlohmann::json json = {{"states", shape.states}, {"records", shape.to_json()}};
  for (std::size_t i = 0; i < size; ++i) {
    const bool step = shape.step && i + 1 == size;
    json["mean"].push_back(0);
    json["scale"].push_back(1);
    json["low"].push_back(step ? 0 : -1e9);
    json["high"].push_back(step ? std::log(longest_step) : 1e9);
  }
  model::TrainedModel model;
  model.method = "fnse";
  model.features = model::Features::from_json("test", json);
  model.prior = task.prior;
  model.state_names = task.simulator.state_names;
  if (shape.covariates > 0) model.covariate_names = task.simulator.covariate_names;
  return model;
}

/// Collects r = Hθ + ε, ε ~ N(0, V), and makes local posteriors of them under N(0, I):
/// C = I + Hᵀ V⁻¹ H, C μ = Hᵀ V⁻¹ r.
struct LocalPosteriors {
  std::vector<Eigen::VectorXd> means;
  std::vector<Eigen::MatrixXd> precisions;

  void add(const Eigen::MatrixXd& h, const Eigen::VectorXd& r, double v) {
    const auto d = h.cols();
    precisions.emplace_back(Eigen::MatrixXd::Identity(d, d) + h.transpose() * h / v);
    means.emplace_back(precisions.back().llt().solve(h.transpose() * r / v));
  }
};

Eigen::VectorXd row(const Matrix& c, std::size_t t, std::size_t begin, std::size_t count) {
  return Eigen::Map<const Eigen::VectorXd>(c.row(t).data() + begin, static_cast<Eigen::Index>(count));
}

constexpr double c9 = 0.9;  // of the walks

/// gaussian_rw over a step of any length, from (x^t, Δx, log Δ).
void add_walk(const ObservedSeries& observed, std::size_t n, std::size_t step_at, LocalPosteriors& local) {
  const auto d = static_cast<Eigen::Index>(n);
  for (std::size_t t = 0; t < observed.transitions(); ++t) {
    const double k = step_at > 0 ? std::round(std::exp(observed.c(t, step_at))) : 1;
    const Eigen::VectorXd x = row(observed.c, t, 0, n), next = x + row(observed.c, t, n, n);
    const double gain = (1 - std::pow(c9, k)) / (1 - c9), variance = (1 - std::pow(c9, 2 * k)) / (1 - c9 * c9);
    local.add(gain * Eigen::MatrixXd::Identity(d, d), next - std::pow(c9, k) * x, variance);
  }
}

/// The composed score against that of the diffused exact posterior, −(m² S + σ²)⁻¹ (θ_a − m μ). Records are floats:
/// what is computed from two of them is off by up to 4 · 2⁻²⁴ of the largest, and so is the mean; relative errors of
/// the precision are of the same size.
void expect_exact(std::vector<LocalPosteriors> locals, const tasks::SeriesLikelihood& likelihood,
                  const ObservedSeries& observed) {
  double largest = 1;
  for (const double value : observed.c.values()) largest = std::max(largest, std::abs(value));
  for (const ObservedSeries& each : observed.companions) {
    for (const double value : each.c.values()) largest = std::max(largest, std::abs(value));
  }
  const double rounding = 4 * std::ldexp(1.0, -24) * largest;
  const auto exact = likelihood.closed_form_posterior();
  ASSERT_TRUE(exact.has_value());
  const auto d = exact->mean.size();
  const diffusion::Schedule schedule = diffusion::schedules().at("test", "variance_preserving").schedule;
  std::vector<std::unique_ptr<LocalScores>> parts;
  std::vector<LocalPrecisions> precisions;
  for (LocalPosteriors& local : locals) {
    LocalPrecisions rows(local.means.size(), static_cast<std::size_t>(d * d));
    for (std::size_t t = 0; t < rows.rows(); ++t) std::copy_n(local.precisions[t].data(), d * d, rows.row(t).begin());
    precisions.push_back(std::move(rows));
    parts.push_back(std::make_unique<GaussianScores>(local.means, local.precisions, schedule));
  }
  const auto source = joined_scores(std::move(parts));
  const auto score =
      compose("gauss", {.source = source.get(), .schedule = schedule, .precisions = joined_precisions(precisions)});
  EXPECT_LT(score->adjustment(), 1e-6);
  Stream stream = Streams(1).stream("points");
  Matrix theta(8, static_cast<std::size_t>(d)), out(8, static_cast<std::size_t>(d));
  for (const double a : {0.01, 0.3, 1.0}) {
    stream.fill_normal(theta.values());
    ASSERT_EQ((*score)(theta, a, out), Outcome::ok);
    const double m = schedule.m(a);
    const Eigen::MatrixXd variance =
        m * m * exact->covariance + schedule.sigma_squared(a) * Eigen::MatrixXd::Identity(d, d);
    for (std::size_t p = 0; p < theta.rows(); ++p) {
      const Eigen::VectorXd expected = -variance.llt().solve(row(theta, p, 0, theta.cols()) - m * exact->mean);
      for (Eigen::Index i = 0; i < d; ++i) {
        const double tolerance = rounding * (expected.norm() + m * variance.inverse().norm());
        EXPECT_NEAR(out(p, static_cast<std::size_t>(i)), expected[i], tolerance);
      }
    }
  }
}

class Extension : public ::testing::TestWithParam<std::size_t> {
 protected:
  std::size_t T() const { return GetParam(); }
};

TEST_P(Extension, GapsAndPanelsComposeExactly) {
  const tasks::Task task = tasks::make_task("gaussian_rw", {{"dim", 2}});
  Matrix first = tasks::observe("test", task, T(), 5).series, second = tasks::observe("test", task, 2 * T(), 6).series;
  Stream stream = Streams(2).stream("missing");
  for (std::size_t t = 1; t + 1 < second.rows(); ++t) {
    if (stream.uniform() < 0.4) std::ranges::fill(second.row(t), std::nan(""));
  }
  const std::vector<simulate::SeriesView> views{{first.view()}, {second.view()}};
  const model::TrainedModel model = bare_model({.states = 2, .step = true}, task, 20);
  LocalPosteriors local;
  const ObservedSeries observed = observed_series("test", model, {}, views);
  add_walk(observed, 2, 4, local);
  const auto paths = simulate::paths_of("test", views, 2, tasks::likelihood_steps("gaussian_rw"), {});
  ASSERT_EQ(local.means.size(), paths[0].steps.size() + paths[1].steps.size());
  expect_exact({local}, *tasks::series_likelihood(task, paths), observed);
}

TEST_P(Extension, InitialStatesComposeExactly) {
  const tasks::Task task = tasks::make_task("stationary_ar1", {{"dim", 2}});
  const Matrix series = tasks::observe("test", task, T(), 5).series;
  const std::vector<simulate::SeriesView> views{{series.view()}};
  const model::TrainedModel model = bare_model({.states = 2}, task),
                            initial = bare_model({.states = 2, .order = 0}, task);
  const model::TrainedModel* companions[] = {&initial};
  const ObservedSeries observed = observed_series("test", model, companions, views);
  ASSERT_EQ(observed.transitions(), T());
  ASSERT_EQ(observed.companions.at(0).transitions(), 1U);
  LocalPosteriors local, start;
  add_walk(observed, 2, 0, local);
  start.add(Eigen::MatrixXd::Identity(2, 2) / (1 - c9), row(observed.companions[0].c, 0, 0, 2), 1 / (1 - c9 * c9));
  const auto likelihood = tasks::series_likelihood(task, series);
  EXPECT_EQ(likelihood->transitions(), T() + 1);
  expect_exact({local, start}, *likelihood, observed);
}

TEST_P(Extension, HigherOrdersComposeExactly) {
  for (std::size_t order = 1; order <= 3; ++order) {
    const tasks::Task task = tasks::make_task("ar", {{"order", order}});
    const Matrix series = tasks::observe("test", task, T(), 7).series;
    ASSERT_EQ(series.rows(), T() + order);
    const model::TrainedModel model = bare_model({.states = 1, .order = order}, task);
    const ObservedSeries observed = observed_series("test", model, series, {});
    ASSERT_EQ(observed.transitions(), T());
    LocalPosteriors local;
    for (std::size_t t = 0; t < T(); ++t) {
      Eigen::RowVectorXd window(static_cast<Eigen::Index>(order));
      double x = observed.c(t, 0);
      window[0] = x;
      for (std::size_t j = 1; j < order; ++j) window[static_cast<Eigen::Index>(j)] = x -= observed.c(t, j);
      local.add(0.3 * window, Eigen::VectorXd::Constant(1, observed.c(t, 0) + observed.c(t, order)), 1);
    }
    expect_exact({local}, *tasks::series_likelihood(task, series), observed);
  }
}

TEST_P(Extension, BlocksAndWhatTheyLeaveComposeExactly) {
  const std::size_t block = 4;  // leaves 1, 2 and 0 transitions of T = 1, 10, 100, and a last one of 101
  const tasks::Task task = tasks::make_task("gaussian_rw", {{"dim", 1}});
  for (const std::size_t transitions : {T() + 3, T() + 4, T() + 5}) {
    const Matrix series = tasks::observe("test", task, transitions, 8).series;
    const std::vector<simulate::SeriesView> views{{series.view()}};
    const model::TrainedModel model = bare_model({.states = 1, .block = block}, task), single = bare_model({}, task);
    const model::TrainedModel* companions[] = {&single};
    const ObservedSeries observed = observed_series("test", model, companions, views);
    ASSERT_EQ(observed.transitions(), transitions / block);
    ASSERT_EQ(observed.companions.at(0).transitions(), transitions % block);
    LocalPosteriors blocks, rest;
    for (std::size_t b = 0; b < observed.transitions(); ++b) {
      double x = observed.c(b, 0), sum = 0;
      for (std::size_t j = 1; j <= block; ++j) {
        sum += x + observed.c(b, j) - c9 * x;
        x += observed.c(b, j);
      }
      // Four times N(r; θ, 1) is one of √4 θ.
      blocks.add(Eigen::MatrixXd::Constant(1, 1, 2), Eigen::VectorXd::Constant(1, sum / 2), 1);
    }
    add_walk(observed.companions[0], 1, 0, rest);
    std::vector<LocalPosteriors> locals{blocks};
    if (!rest.means.empty()) locals.push_back(rest);
    expect_exact(std::move(locals), *tasks::series_likelihood(task, series), observed);
  }
}

TEST_P(Extension, TimesComposeExactly) {
  const tasks::Task task = tasks::make_task("ti_gaussian_rw", {{"dim", 2}});
  const tasks::Observation observation = tasks::observe("test", task, T(), 9);
  const ObservedSeries observed =
      observed_series("test", bare_model({.states = 2, .time = true}, task), observation.series, observation.times);
  LocalPosteriors local;
  for (std::size_t t = 0; t < T(); ++t) {
    const double c = 0.9 + 1 / (observed.c(t, 4) + 1);
    const Eigen::VectorXd x = row(observed.c, t, 0, 2), next = x + row(observed.c, t, 2, 2);
    local.add(Eigen::MatrixXd::Identity(2, 2), next - c * x, 1);
  }
  expect_exact({local}, *tasks::series_likelihood(task, observation.series), observed);
}

TEST_P(Extension, CovariatesComposeExactly) {
  const tasks::Task task = tasks::make_task("driven_ar");
  constexpr std::size_t block = 4;
  const std::size_t transitions = T() + block;  // a block, and a remainder beside them
  const std::vector<tasks::Observation> observation{tasks::observe("test", task, transitions, 9)};
  const std::vector<simulate::SeriesView> views = views_of(observation);
  const auto likelihood = tasks::series_likelihood(task, observation[0].series, observation[0].covariates);
  const model::TrainedModel single = bare_model({.states = 1, .covariates = 1}, task),
                            blocks = bare_model({.states = 1, .block = block, .covariates = 1}, task);
  const auto locals_of = [](const ObservedSeries& observed, std::size_t size) {
    LocalPosteriors local;
    for (std::size_t t = 0; t < observed.transitions(); ++t) {
      Eigen::MatrixXd h(size, 2);
      Eigen::VectorXd r(size);
      double x = observed.c(t, 0);
      for (std::size_t j = 0; j < size; ++j) {
        const auto at = static_cast<Eigen::Index>(j);
        const double next = x + observed.c(t, 1 + j);
        h.row(at) << 1, observed.c(t, 1 + size + j);
        r[at] = next - 0.8 * x;
        x = next;
      }
      local.add(h, r, 0.25);
    }
    return local;
  };
  const ObservedSeries alone = observed_series("test", single, {}, views);
  ASSERT_EQ(alone.transitions(), transitions);
  EXPECT_EQ(alone.u(1, 0), observation[0].covariates(1, 0));  // of the state before
  expect_exact({locals_of(alone, 1)}, *likelihood, alone);
  const model::TrainedModel* companions[] = {&single};
  const ObservedSeries joined = observed_series("test", blocks, companions, views);
  std::vector<LocalPosteriors> locals{locals_of(joined, block)};
  if (joined.companions[0].transitions() > 0) locals.push_back(locals_of(joined.companions[0], 1));
  expect_exact(std::move(locals), *likelihood, joined);
}

INSTANTIATE_TEST_SUITE_P(Lengths, Extension, ::testing::Values(1U, 10U, 100U),
                         [](const auto& length) { return fmt::format("T{}", length.param); });

TEST(ObservedSeries, RefusesBlocksThatLeaveTransitionsOver) {
  const tasks::Task task = tasks::make_task("gaussian_rw", {{"dim", 1}});
  const model::TrainedModel model = bare_model({.states = 1, .block = 5}, task);
  try {
    static_cast<void>(observed_series("sample", model, tasks::observe("test", task, 12, 1).series, {}));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(
        error.what(),
        "sample: the number of transitions of the series is 12, but must be a multiple of 5, the transitions of "
        "a block, unless a model of single transitions is given beside that of blocks");
  }
}

}  // namespace
}  // namespace catena::compose::extensions_test
