// Every task against a slow twin: one simulation at a time, by the book, from the same random numbers. And what
// tasks.md pins down: dimensions, initial states, clipping, default proposals.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "catena/core/errors.h"
#include "catena/simulate/proposal.h"
#include "catena/tasks/task.h"
#include "kolmogorov_flow_twin.h"

namespace catena::tasks::steps_test {

namespace {

using Vector = std::vector<double>;

/// The normals of one transition of one lane, in the order in which the task uses them: step by step, state by state.
/// For a task with a covariate it stands in the place of t.
using Twin =
    std::function<Vector(const Vector& theta, Vector x, double t, const std::function<double()>& noise, double coin)>;

struct Case {
  std::string name;
  nlohmann::json options;
  std::size_t noises;  // normals per transition
  Twin step;
  double tolerance = 0;   // 0: some operations in double precision, see below
  bool by_lanes = false;  // normals of one lane are drawn together, not those of one state
};

std::vector<Case> cases() {
  const auto walk = [](bool timed) -> Twin {
    return [timed](const Vector& theta, Vector x, double t, const auto& noise, double) {
      const double factor = timed ? 0.9 + 1 / (t + 1) : 0.9;
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = factor * x[i] + theta[i] + noise();
      return x;
    };
  };
  const auto mixture = [](double sigma) -> Twin {
    return [sigma](const Vector& theta, Vector x, double, const auto& noise, double coin) {
      const double u = coin < 0.5 ? 1 : -1;
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = x[i] + u * theta[i] + sigma * noise();
      return x;
    };
  };
  const auto periodic = [](double sign) -> Twin {
    return [sign](const Vector& theta, Vector x, double, const auto& noise, double) {
      for (int k = 0; k < 20; ++k) {
        const Vector drift{sign * theta[0] * theta[0] * x[1], theta[1] * theta[1] * x[0]};
        for (std::size_t i = 0; i < 2; ++i) x[i] += drift[i] * 0.005 + 0.1 * std::sqrt(0.005) * noise();
      }
      return x;
    };
  };
  const auto linear = [](std::size_t n, double scale) -> Twin {
    return [n, scale](const Vector& theta, Vector x, double, const auto& noise, double) {
      for (int k = 0; k < 20; ++k) {
        Vector change(n, 0.0), e(n);
        for (double& value : e) value = noise();
        for (std::size_t r = 0; r < n; ++r) {
          for (std::size_t c = 0; c < n; ++c) {
            const double one = r == c ? 1 : 0;
            change[r] += (scale * theta[r * n + c] - 2 * one) * x[c] * 0.001;
            change[r] += (0.5 * theta[n * n + r * n + c] + 0.5 * one) * std::sqrt(0.001) * e[c];
          }
        }
        for (std::size_t r = 0; r < n; ++r) x[r] += change[r];
      }
      return x;
    };
  };
  const Twin well = [](const Vector& theta, Vector x, double, const auto& noise, double) {
    for (int k = 0; k < 10; ++k) {
      for (double& value : x) {
        const double drift = std::exp(theta[0] / 2) * value - std::exp(theta[1] / 2) * value * value * value;
        value += drift * 0.005 + std::sqrt(0.005) * noise();
      }
    }
    return x;
  };
  const auto lotka = [](double sigma) -> Twin {
    return [sigma](const Vector& theta, Vector x, double, const auto& noise, double) {
      for (int k = 0; k < 5; ++k) {
        const double prey = x[0], predators = x[1], both = prey * predators, root = std::sqrt(0.02);
        x[0] += (theta[0] * prey - theta[1] * both) * 0.02 + sigma * both * root * noise();
        x[1] += (-theta[2] * predators + theta[3] * both) * 0.02 + sigma * both * root * noise();
      }
      for (double& value : x) value = std::max(value, 0.0);
      return x;
    };
  };
  const Twin sir = [](const Vector& theta, Vector x, double, const auto& noise, double) {
    const double gamma = theta[0], beta = theta[1];
    for (int k = 0; k < 5; ++k) {
      const double s = x[0], i = x[1];
      const double e1 = noise(), e2 = noise(), e3 = noise();
      x[0] += -beta * s * i * 0.01 + 0.01 * 0.1 * e1;
      x[1] += (beta * s * i - gamma * i) * 0.01 + 0.1 * i * 0.1 * e2;
      x[2] += gamma * i * 0.01 + 0.01 * 0.1 * e3;
    }
    for (double& value : x) value = std::max(value, 0.0);
    return x;
  };
  const Twin autoregression = [](const Vector& theta, Vector x, double, const auto& noise, double) {
    double next = noise();
    for (std::size_t j = 0; j < theta.size(); ++j) next += 0.3 * theta[j] * x[j];
    return Vector{next};
  };
  const Twin seasonal = [](const Vector& theta, Vector x, double t, const auto& noise, double) {
    return Vector{0.8 * x[0] + theta[0] + theta[1] * std::cos(2 * 3.14159265358979323846 * t / 12) + 0.5 * noise()};
  };
  const Twin driven = [](const Vector& theta, Vector x, double u, const auto& noise, double) {
    return Vector{0.8 * x[0] + theta[0] + theta[1] * u + 0.5 * noise()};
  };
  // Its small setting, on 32 × 32 cells. In single precision each inner step rounds velocities of at most 4 twice
  // (kolmogorov_flow_test.cpp), and twice as much may come of what was rounded before.
  const nlohmann::json& small_flow = registry().at("test", "kolmogorov_flow").small;
  const int inner_steps = small_flow["inner_steps"];
  const Twin flow = [inner_steps](const Vector& theta, const Vector& x, double, const auto& noise, double) {
    Vector next = twins::FluidTwin{.density = theta[0], .reynolds = theta[1]}.run(32, x, inner_steps);
    for (double& value : next) value += 0.005 * noise();
    return next;
  };
  const double flow_tolerance = 4.0 * inner_steps * (std::numeric_limits<float>::epsilon() / 2) * 4;
  return {{"gaussian_rw", {}, 1, walk(false)},
          {"gaussian_rw", {{"dim", 10}}, 10, walk(false)},
          {"ti_gaussian_rw", {{"dim", 2}}, 2, walk(true)},
          {"mixture_rw", {}, 5, mixture(0.5)},
          {"mixture_rw", {{"dim", 2}, {"sigma", 1.0}}, 2, mixture(1)},
          {"periodic_sde", {}, 40, periodic(-1)},
          {"periodic_sde", {{"minus_sign", false}}, 40, periodic(1)},
          {"linear_sde", {}, 40, linear(2, 0.5)},
          {"linear_sde", {{"dim", 3}, {"drift_scale", 1.0}}, 60, linear(3, 1)},
          {"double_well", {}, 40, well},
          {"lotka_volterra", {}, 10, lotka(0.1)},
          {"lotka_volterra", {{"sigma", 0.05}}, 10, lotka(0.05)},
          {"sir", {}, 15, sir},
          {"kolmogorov_flow", small_flow, 2048, flow, flow_tolerance, /*by_lanes=*/true},
          {"ar", {}, 1, autoregression},
          {"ar", {{"order", 3}}, 1, autoregression},
          {"stationary_ar1", {{"dim", 2}}, 2, walk(false)},
          {"seasonal_ar", {}, 1, seasonal},
          {"driven_ar", {}, 1, driven}};
}

Task make(const Case& c) { return make_task(c.name, c.options.is_null() ? nlohmann::json::object() : c.options); }

}  // namespace

TEST(EveryTask, HasATwinHere) {
  for (const TaskEntry& entry : registry()) {
    EXPECT_TRUE(std::ranges::any_of(cases(), [&](const Case& c) { return c.name == entry.name; })) << entry.name;
  }
}

TEST(EveryTask, EqualsItsScalarTwinOnTheSameNoise) {
  for (const Case& c : cases()) {
    const Task task = make(c);
    const std::size_t n = task.simulator.states(), d = task.simulator.parameters();
    for (const std::size_t lanes : {1, 13, 64}) {  // one group of noise: its layout is [normals × padded lanes]
      const std::size_t window = task.simulator.window();
      StateLanes z(d, lanes), theta(d, lanes), x(window, lanes), next(n, lanes);
      AlignedVector<double> time(padded_lanes(lanes));
      Stream setup = Streams(4).stream(c.name, lanes);
      task.prior.sample(setup, z, theta);
      const nlohmann::json& proposal = task.fixed_proposal.is_null() ? task.proposal : task.fixed_proposal;
      simulate::make_proposal("test", proposal, {task, Streams(1)})->draw(setup, x, time.data());
      StateLanes u(task.simulator.covariates(), lanes);
      fill_normal(setup, u);
      Stream stream = Streams(5).stream(c.name, lanes);
      Stream again = stream;
      task.simulator.step({theta, x, task.simulator.uses_time ? time.data() : nullptr, nullptr, u}, stream, next);

      // The walks draw one row of exactly `lanes` normals per state, the others whole padded rows.
      const bool by_rows = c.name != "mixture_rw" && c.noises == n && !c.by_lanes;
      const std::size_t width = by_rows ? lanes : padded_lanes(lanes);
      Vector coins(padded_lanes(lanes), 0.0), noise(c.noises * width);
      if (c.name == "mixture_rw") again.fill_uniform(coins);
      if (c.by_lanes) {
        for (std::size_t l = 0; l < lanes; ++l) again.fill_normal(std::span(noise).subspan(l * c.noises, c.noises));
      } else if (by_rows || c.name == "mixture_rw") {
        for (std::size_t i = 0; i < n; ++i) again.fill_normal(std::span(noise).subspan(i * width, width));
      } else {
        again.fill_normal(noise);
      }
      for (std::size_t l = 0; l < lanes; ++l) {
        Vector parameters(d), state(window);
        for (std::size_t i = 0; i < d; ++i) parameters[i] = theta(i, l);
        for (std::size_t i = 0; i < window; ++i) state[i] = x(i, l);
        std::size_t used = 0;
        const double known = u.coordinates() > 0 ? u(0, l) : time[l];
        const auto next_noise = [&] {
          const std::size_t now = used++;
          return noise[c.by_lanes ? l * c.noises + now : width * now + l];
        };
        const Vector expected = c.step(parameters, state, known, next_noise, coins[l]);
        EXPECT_EQ(used, c.noises);
        double size = 1;  // of the numbers that are added up on the way
        for (const double value : state) size += std::abs(value) * (1 + std::abs(value) + std::abs(value * value));
        for (std::size_t i = 0; i < n; ++i) {
          // Some 20 steps of some 5 operations, each half a unit in the last place of the largest term.
          const double tolerance = c.tolerance > 0 ? c.tolerance : 100 * std::numeric_limits<double>::epsilon() * size;
          EXPECT_NEAR(next(i, l), expected[i], tolerance)
              << c.name << " " << c.options << " lane " << l << " state " << i;
        }
      }
    }
  }
}

TEST(EveryTask, MakesTheSameTransitionsInAnyPartOfABlock) {
  // A lane's result may depend on its own inputs and the stream, not on what stands in other lanes.
  for (const Case& c : cases()) {
    const Task task = make(c);
    const std::size_t n = task.simulator.states(), d = task.simulator.parameters(), lanes = 200;
    StateLanes theta(d, lanes), x(task.simulator.window(), lanes), first(n, lanes), second(n, lanes);
    AlignedVector<double> time(padded_lanes(lanes), 3.0);
    Stream setup = Streams(8).stream(c.name);
    fill_normal(setup, theta);
    fill_normal(setup, x);
    const StateLanes u(task.simulator.covariates(), lanes);
    Stream stream = Streams(9).stream(c.name), again = stream;
    task.simulator.step({theta, x, time.data(), nullptr, u}, stream, first);
    for (std::size_t i = 0; i < n; ++i) x(i, 77) += 1;
    task.simulator.step({theta, x, time.data(), nullptr, u}, again, second);
    for (std::size_t l = 0; l < lanes; ++l) {
      if (l == 77) continue;
      for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(first(i, l), second(i, l)) << c.name;
    }
  }
}

TEST(EveryTask, HasTheDimensionsAndTheStartOfTheSpecification) {
  const auto shape = [](const std::string& name, const nlohmann::json& options = nlohmann::json::object()) {
    const Task task = make_task(name, options);
    return std::pair(task.simulator.parameters(), task.simulator.states());
  };
  using Shape = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(shape("gaussian_rw"), Shape(1, 1));
  EXPECT_EQ(shape("gaussian_rw", {{"dim", 10}}), Shape(10, 10));
  EXPECT_EQ(shape("ti_gaussian_rw", {{"dim", 2}}), Shape(2, 2));
  EXPECT_EQ(shape("mixture_rw"), Shape(5, 5));
  EXPECT_EQ(shape("periodic_sde"), Shape(2, 2));
  EXPECT_EQ(shape("linear_sde"), Shape(8, 2));
  EXPECT_EQ(shape("linear_sde", {{"dim", 3}}), Shape(18, 3));
  EXPECT_EQ(shape("double_well"), Shape(2, 4));
  EXPECT_EQ(shape("lotka_volterra"), Shape(4, 2));
  EXPECT_EQ(shape("sir"), Shape(2, 3));
  EXPECT_EQ(shape("kolmogorov_flow"), Shape(2, 2 * 64 * 64));
  EXPECT_EQ(shape("kolmogorov_flow", {{"grid", 128}}), Shape(2, 2 * 128 * 128));
  EXPECT_EQ(shape("ar", {{"order", 3}}), Shape(3, 1));
  EXPECT_EQ(shape("stationary_ar1"), Shape(1, 1));
  EXPECT_EQ(shape("seasonal_ar"), Shape(2, 1));
  EXPECT_EQ(shape("driven_ar"), Shape(2, 1));

  const auto start = [](const std::string& name, const nlohmann::json& options = nlohmann::json::object()) {
    const Task task = make_task(name, options);
    Vector state(task.simulator.states());
    Stream stream = Streams(1).stream("start");
    task.initial_state(stream, state);
    return state;
  };
  EXPECT_EQ(start("gaussian_rw", {{"dim", 2}}), Vector({0, 0}));
  EXPECT_EQ(start("ti_gaussian_rw"), Vector({0}));
  EXPECT_EQ(start("mixture_rw"), Vector({0, 0, 0, 0, 0}));
  EXPECT_EQ(start("periodic_sde"), Vector({-0.5, 0.5}));
  EXPECT_EQ(start("linear_sde"), Vector({0, 0}));
  EXPECT_EQ(start("double_well"), Vector({-0.5, 0.5, -0.5, 0.5}));
  EXPECT_EQ(start("double_well", {{"start", 1.0}}), Vector({1, -1, 1, -1}));
  EXPECT_EQ(start("lotka_volterra"), Vector({1, 0.5}));
  const Task sir = make_task("sir");
  Stream stream = Streams(2).stream("start");
  double low_s = 10, high_s = 0, low_i = 10, high_i = 0;
  for (int k = 0; k < 1000; ++k) {
    Vector state(3);
    sir.initial_state(stream, state);
    low_s = std::min(low_s, state[0]), high_s = std::max(high_s, state[0]);
    low_i = std::min(low_i, state[1]), high_i = std::max(high_i, state[1]);
    EXPECT_EQ(state[2], 0);
  }
  // 1,000 draws miss the outer hundredth on one side with probability 4e-5 each.
  EXPECT_GE(low_s, 2.5);
  EXPECT_LT(low_s, 2.525);
  EXPECT_LE(high_s, 5);
  EXPECT_GT(high_s, 4.975);
  EXPECT_GE(low_i, 0);
  EXPECT_LT(low_i, 0.025);
  EXPECT_LE(high_i, 2.5);
  EXPECT_GT(high_i, 2.475);
}

TEST(StationaryAr1, StartsInTheDistributionThatItKeeps) {
  // x⁰ and x¹ given θ have the same mean θ/(1−c) and variance 1/(1−c²): 4 checks of 4.5 standard errors, 3e-5 in all.
  const Task task = make_task("stationary_ar1");
  const std::size_t draws = 20000;
  Matrix theta(draws, 1);
  std::ranges::fill(theta.values(), 0.4);
  Stream stream = Streams(3).stream("stationary");
  const auto series = simulate::simulate_series(task, theta, 1, stream);
  const double variance = 1 / (1 - 0.81);
  for (std::size_t t = 0; t < 2; ++t) {
    double mean = 0, square = 0;
    for (const Matrix& one : series) {
      mean += one(t, 0) / static_cast<double>(draws);
      square += (one(t, 0) - 4) * (one(t, 0) - 4) / static_cast<double>(draws);
    }
    EXPECT_NEAR(mean, 4, 4.5 * std::sqrt(variance / static_cast<double>(draws)));
    EXPECT_NEAR(square, variance, 4.5 * variance * std::sqrt(2.0 / static_cast<double>(draws)));
  }
}

TEST(EveryTask, HasThePriorAndTheFixedProposalOfTheSpecification) {
  struct Expected {
    const char* name;
    bool uniform;
    double low, high;  // bounds, or mean and standard deviation
  };
  for (const Expected& e : {Expected{"gaussian_rw", false, 0, 10}, Expected{"ti_gaussian_rw", false, 0, 10},
                            Expected{"mixture_rw", false, 0, 10}, Expected{"periodic_sde", false, 0, 1},
                            Expected{"linear_sde", false, 0, 0.5}, Expected{"double_well", true, -2.5, 2.5},
                            Expected{"lotka_volterra", true, 0, 10}, Expected{"sir", true, 0, 5}}) {
    const Task task = make_task(e.name);
    const Vector z(task.prior.size(), 0.7);
    Vector theta(z.size()), expected = z;  // rates are sigmoids of z, between 1 and 3 or 0 and 2
    const double sigmoid = 1 / (1 + std::exp(-0.7));
    if (std::string(e.name) == "lotka_volterra") std::ranges::fill(expected, 1 + 2 * sigmoid);
    if (std::string(e.name) == "sir") std::ranges::fill(expected, 2 * sigmoid);
    task.prior.to_theta(z, theta);
    for (std::size_t i = 0; i < z.size(); ++i) EXPECT_NEAR(theta[i], expected[i], 1e-15) << e.name;
    EXPECT_EQ(task.fixed_proposal["proposal"], "fixed");
    ASSERT_EQ(task.fixed_proposal["states"]["factors"].size(), task.simulator.states());
    for (const auto& factor : task.fixed_proposal["states"]["factors"]) {
      EXPECT_EQ(factor["family"], e.uniform ? "uniform" : "normal") << e.name;
      EXPECT_EQ(factor[e.uniform ? "low" : "mean"], e.low) << e.name;
      EXPECT_EQ(factor[e.uniform ? "high" : "sd"], e.high) << e.name;
    }
  }
  EXPECT_EQ(make_task("ti_gaussian_rw").fixed_proposal["times"], 100);
  EXPECT_EQ(make_task("lotka_volterra").predictive,
            nlohmann::json({{"series", 50}, {"length", 100}, {"noise", 0.2}, {"non_negative", true}}));
  EXPECT_EQ(make_task("sir").predictive,
            nlohmann::json({{"series", 100}, {"length", 50}, {"noise", 0.3}, {"non_negative", true}}));
}

TEST(EveryTask, ClipsAtZeroOnlyWhatIsReturned) {
  // From a state near 0 with strong noise some results must be exactly 0, and none below; NaN is not hidden by it.
  for (const char* name : {"lotka_volterra", "sir"}) {
    const Task task = make_task(name);
    const std::size_t n = task.simulator.states(), lanes = 4096;
    StateLanes theta(task.simulator.parameters(), lanes), x(n, lanes), next(n, lanes);
    const double rate = std::string(name) == "sir" ? 1 : 2, start = std::string(name) == "sir" ? 1e-4 : 9.0;
    for (std::size_t l = 0; l < lanes; ++l) {
      for (std::size_t i = 0; i < task.simulator.parameters(); ++i) theta(i, l) = rate;
      for (std::size_t i = 0; i < n; ++i) x(i, l) = start;
    }
    x(0, 5) = std::numeric_limits<double>::quiet_NaN();
    Stream stream = Streams(6).stream(name);
    task.simulator.step({theta, x, nullptr}, stream, next);
    std::size_t zeros = 0;
    for (std::size_t l = 0; l < lanes; ++l) {
      if (l == 5) continue;
      for (std::size_t i = 0; i < n; ++i) {
        EXPECT_GE(next(i, l), 0);
        zeros += next(i, l) == 0 ? 1U : 0U;
      }
    }
    EXPECT_GT(zeros, 100U) << name;
    EXPECT_TRUE(std::isnan(next(0, 5))) << name;
  }
}

TEST(EveryTask, ListsItsOptionsAndRefusesOthers) {
  for (const TaskEntry& entry : registry()) {
    const Task task = entry.make(nlohmann::json::object());
    EXPECT_EQ(task.name, entry.name);
    EXPECT_EQ(task.options.size(), entry.options.size());
    EXPECT_GE(task.version, 1);
    EXPECT_THROW(entry.make({{"no_such_option", 1}}), InputError);
    EXPECT_NO_THROW(entry.make(entry.small)) << entry.name;
  }
  EXPECT_THROW(make_task("no_such_task"), InputError);
  EXPECT_THROW(make_task("gaussian_rw", {{"dim", 0}}), InputError);
  EXPECT_THROW(make_task("linear_sde", {{"dim", 5}}), InputError);
}

}  // namespace catena::tasks::steps_test
