/// A plain scalar simulator per task, written from the task's definition and from nothing else: the twin that the
/// likelihoods and the references are tested against. One row per task here is one row in every test of references.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "catena/core/random.h"
#include "catena/tasks/ar/ar.h"
#include "catena/tasks/double_well/double_well.h"
#include "catena/tasks/driven_ar/driven_ar.h"
#include "catena/tasks/gaussian_rw/gaussian_rw.h"
#include "catena/tasks/kolmogorov_flow/kolmogorov_flow.h"
#include "catena/tasks/likelihood.h"
#include "catena/tasks/linear_sde/linear_sde.h"
#include "catena/tasks/lotka_volterra/lotka_volterra.h"
#include "catena/tasks/mixture_rw/mixture_rw.h"
#include "catena/tasks/periodic_sde/periodic_sde.h"
#include "catena/tasks/seasonal_ar/seasonal_ar.h"
#include "catena/tasks/sir/sir.h"
#include "catena/tasks/stationary_ar1/stationary_ar1.h"
#include "catena/tasks/ti_gaussian_rw/ti_gaussian_rw.h"
#include "tasks/kolmogorov_flow_twin.h"

namespace catena::twins {

using State = std::vector<double>;

struct Twin {
  std::string name;
  std::size_t parameters;
  std::function<State(Stream&)> start;                                                    // x^0
  std::function<State(const State& theta, const State& x, std::size_t t, Stream&)> step;  // one transition
  std::function<std::unique_ptr<tasks::SeriesLikelihood>(ConstMatrixView)> likelihood;
  /// The whole series, where it is more than `start` and `step` say.
  std::function<Matrix(const State& theta, std::size_t transitions, Stream&)> series = nullptr;
  /// Rates are least + range · sigmoid(z); without a range, θ is z itself.
  double least = 0, range = 0;
  /// Where parameters have priors of their own each.
  std::function<prior::Prior()> own_prior = nullptr;

  prior::Prior prior() const {
    if (own_prior) return own_prior();
    prior::Prior result;
    for (std::size_t i = 0; i < parameters; ++i) {
      result.add({"theta_" + std::to_string(i + 1)},
                 range > 0 ? prior::logit_normal(0, 1, least, least + range) : prior::normal(0, 1));
    }
    return range > 0 ? result : prior::Prior::standard(result.names());
  }
};

inline double sigmoid(double z) { return 1 / (1 + std::exp(-z)); }
inline double rate(double z) { return 1 + 2 * sigmoid(z); }  // lotka_volterra's

/// x^0, …, x^T from the twin.
inline Matrix series(const Twin& twin, const State& theta, std::size_t transitions, Stream& stream) {
  if (twin.series) return twin.series(theta, transitions, stream);
  State x = twin.start(stream);
  Matrix result(transitions + 1, x.size());
  for (std::size_t t = 0; t <= transitions; ++t) {
    std::copy(x.begin(), x.end(), result.row(t).begin());
    if (t < transitions) x = twin.step(theta, x, t, stream);
  }
  return result;
}

inline State prior_draw(const Twin& twin, Stream& stream) {
  State theta(twin.parameters);
  if (twin.own_prior) {
    State z(twin.parameters);
    for (double& value : z) value = stream.normal();
    twin.own_prior().to_theta(z, theta);
    return theta;
  }
  for (double& value : theta) {
    const double z = stream.normal();
    value = twin.range > 0 ? twin.least + twin.range * sigmoid(z) : z;
  }
  return theta;
}

inline Twin gaussian_rw(std::size_t n) {
  return {"gaussian_rw_" + std::to_string(n), n, [n](Stream&) { return State(n, 0.0); },
          [](const State& theta, const State& x, std::size_t, Stream& stream) {
            State next(x.size());
            for (std::size_t i = 0; i < x.size(); ++i) next[i] = 0.9 * x[i] + theta[i] + stream.normal();
            return next;
          },
          [n](ConstMatrixView s) { return tasks::gaussian_rw::likelihood({.dim = static_cast<int>(n)}, s); }};
}

inline Twin ti_gaussian_rw(std::size_t n) {
  return {"ti_gaussian_rw_" + std::to_string(n), n, [n](Stream&) { return State(n, 0.0); },
          [](const State& theta, const State& x, std::size_t t, Stream& stream) {
            State next(x.size());
            const double c = 0.9 + 1.0 / (static_cast<double>(t) + 1.0);
            for (std::size_t i = 0; i < x.size(); ++i) next[i] = c * x[i] + theta[i] + stream.normal();
            return next;
          },
          [n](ConstMatrixView s) { return tasks::ti_gaussian_rw::likelihood({.dim = static_cast<int>(n)}, s); }};
}

inline Twin mixture_rw(std::size_t n) {
  return {"mixture_rw_" + std::to_string(n), n, [n](Stream&) { return State(n, 0.0); },
          [](const State& theta, const State& x, std::size_t, Stream& stream) {
            State next(x.size());
            const double sign = stream.uniform() < 0.5 ? -1 : 1;
            for (std::size_t i = 0; i < x.size(); ++i) next[i] = x[i] + sign * theta[i] + 0.5 * stream.normal();
            return next;
          },
          [n](ConstMatrixView s) { return tasks::mixture_rw::likelihood({.dim = static_cast<int>(n)}, s); }};
}

inline Twin periodic_sde() {
  return {"periodic_sde", 2, [](Stream&) { return State{-0.5, 0.5}; },
          [](const State& theta, const State& start, std::size_t, Stream& stream) {
            State x = start;
            for (int k = 0; k < 20; ++k) {
              const double dx = -theta[0] * theta[0] * x[1], dy = theta[1] * theta[1] * x[0];
              x[0] += dx * 0.005 + 0.1 * std::sqrt(0.005) * stream.normal();
              x[1] += dy * 0.005 + 0.1 * std::sqrt(0.005) * stream.normal();
            }
            return x;
          },
          [](ConstMatrixView s) { return tasks::periodic_sde::likelihood({}, s); }};
}

inline Twin linear_sde(std::size_t n) {
  return {"linear_sde_" + std::to_string(n), 2 * n * n, [n](Stream&) { return State(n, 0.0); },
          [n](const State& theta, const State& start, std::size_t, Stream& stream) {
            State x = start;
            for (int k = 0; k < 20; ++k) {
              State noise(n), next = x;
              for (double& value : noise) value = std::sqrt(0.001) * stream.normal();
              for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t j = 0; j < n; ++j) {
                  const double a = 0.5 * theta[i * n + j] - (i == j ? 2.0 : 0.0);
                  const double b = 0.5 * theta[n * n + i * n + j] + (i == j ? 0.5 : 0.0);
                  next[i] += a * x[j] * 0.001 + b * noise[j];
                }
              }
              x = next;
            }
            return x;
          },
          [n](ConstMatrixView s) { return tasks::linear_sde::likelihood({.dim = static_cast<int>(n)}, s); }};
}

inline Twin double_well() {
  return {"double_well", 2, [](Stream&) { return State{-0.5, 0.5, -0.5, 0.5}; },
          [](const State& theta, const State& start, std::size_t, Stream& stream) {
            State x = start;
            for (double& value : x) {
              for (int k = 0; k < 10; ++k) {
                const double drift = std::exp(theta[0] / 2) * value - std::exp(theta[1] / 2) * value * value * value;
                value += drift * 0.005 + std::sqrt(0.005) * stream.normal();
              }
            }
            return x;
          },
          [](ConstMatrixView s) { return tasks::double_well::likelihood(s); }};
}

inline State lotka_volterra_step(const State& theta, const State& start, double sigma, Stream& stream) {
  State x = start;
  const double alpha = theta[0], beta = theta[1], gamma = theta[2], delta = theta[3];
  for (int k = 0; k < 5; ++k) {
    const double prey = x[0], hunters = x[1], sd = sigma * prey * hunters * std::sqrt(0.02);
    x[0] = prey + (alpha * prey - beta * prey * hunters) * 0.02 + sd * stream.normal();
    x[1] = hunters + (-gamma * hunters + delta * prey * hunters) * 0.02 + sd * stream.normal();
  }
  for (double& value : x) value = std::max(value, 0.0);
  return x;
}

inline Twin lotka_volterra(double sigma = 0.1) {
  return {.name = "lotka_volterra",
          .parameters = 4,
          .start = [](Stream&) { return State{1, 0.5}; },
          .step = [sigma](const State& theta, const State& x, std::size_t,
                          Stream& stream) { return lotka_volterra_step(theta, x, sigma, stream); },
          .likelihood = [sigma](ConstMatrixView s) { return tasks::lotka_volterra::likelihood({.sigma = sigma}, s); },
          .least = 1,
          .range = 2};
}

inline Twin sir() {
  Twin twin{"sir", 2, [](Stream& stream) { return State{2.5 + 2.5 * stream.uniform(), 2.5 * stream.uniform(), 0.0}; },
            [](const State& theta, const State& start, std::size_t, Stream& stream) {
              double s = start[0], i = start[1], r = start[2];
              const double gamma = theta[0], beta = theta[1], root = std::sqrt(0.01);
              for (int k = 0; k < 5; ++k) {
                const double infections = beta * s * i, recoveries = gamma * i;
                s += -infections * 0.01 + 0.01 * root * stream.normal();
                r += recoveries * 0.01 + 0.01 * root * stream.normal();
                i += (infections - recoveries) * 0.01 + 0.1 * i * root * stream.normal();
              }
              return State{std::max(s, 0.0), std::max(i, 0.0), std::max(r, 0.0)};
            },
            [](ConstMatrixView s) { return tasks::sir::likelihood(s); }};
  twin.range = 2;
  return twin;
}

inline Twin ar(std::size_t order) {
  return {"ar_" + std::to_string(order),
          order,
          nullptr,
          nullptr,
          [order](ConstMatrixView s) { return tasks::ar::likelihood({.order = static_cast<int>(order)}, s); },
          [order](const State& theta, std::size_t transitions, Stream& stream) {
            Matrix x(transitions + order, 1);
            x(order - 1, 0) = 1;
            for (std::size_t t = order; t < x.rows(); ++t) {
              x(t, 0) = stream.normal();
              for (std::size_t j = 0; j < order; ++j) x(t, 0) += 0.3 * theta[j] * x(t - 1 - j, 0);
            }
            return x;
          }};
}

inline Twin stationary_ar1(std::size_t n) {
  return {"stationary_ar1_" + std::to_string(n),
          n,
          nullptr,
          nullptr,
          [n](ConstMatrixView s) { return tasks::stationary_ar1::likelihood({.dim = static_cast<int>(n)}, s); },
          [n](const State& theta, std::size_t transitions, Stream& stream) {
            Matrix x(transitions + 1, n);
            for (std::size_t i = 0; i < n; ++i) {
              x(0, i) = theta[i] / 0.1 + stream.normal() / std::sqrt(0.19);
              for (std::size_t t = 0; t < transitions; ++t) x(t + 1, i) = 0.9 * x(t, i) + theta[i] + stream.normal();
            }
            return x;
          }};
}

inline Twin seasonal_ar() {
  return {"seasonal_ar", 2, [](Stream&) { return State{0}; },
          [](const State& theta, const State& x, std::size_t t, Stream& stream) {
            const double angle = 2 * 3.14159265358979323846 * static_cast<double>(t) / 12;
            return State{0.8 * x[0] + theta[0] + theta[1] * std::cos(angle) + 0.5 * stream.normal()};
          },
          [](ConstMatrixView s) { return tasks::seasonal_ar::likelihood({}, s); }};
}

/// Driven by the task's own table.
inline Twin driven_ar() {
  const Matrix u = tasks::driven_ar::make().covariates;
  return {"driven_ar", 2, [](Stream&) { return State{0}; },
          [u](const State& theta, const State& x, std::size_t t, Stream& stream) {
            return State{0.8 * x[0] + theta[0] + theta[1] * u(t % u.rows(), 0) + 0.5 * stream.normal()};
          },
          [u](ConstMatrixView s) {
            Matrix rows(s.rows, 1);
            for (std::size_t t = 0; t < s.rows; ++t) rows(t, 0) = u(t % u.rows(), 0);
            return tasks::driven_ar::likelihood({}, s, rows);
          }};
}

/// A task of which three states in ten are missing, by the likelihood over longer steps.
inline Twin with_gaps(const Twin& whole, const std::string& task, const nlohmann::json& options) {
  Twin twin = whole;
  twin.name += "_gaps";
  twin.series = [whole](const State& theta, std::size_t transitions, Stream& stream) {
    Matrix x = series(whole, theta, transitions, stream);
    for (std::size_t t = 1; t + 1 < x.rows(); ++t) {
      if (stream.uniform() < 0.3) std::ranges::fill(x.row(t), std::nan(""));
    }
    return x;
  };
  twin.likelihood = [task, options](ConstMatrixView s) {
    const tasks::Task made = tasks::make_task(task, options);
    const simulate::SeriesView view{s};
    return tasks::series_likelihood(made,
                                    simulate::paths_of("test", {&view, 1}, s.cols, tasks::likelihood_steps(task), {}));
  };
  return twin;
}

/// Every task of the tables, in the sizes of the tables.
/// Its small setting: 32 × 32 cells, 2 inner steps. Series start from a smooth velocity, which need not be the task's.
inline Twin kolmogorov_flow() {
  constexpr int side = 32, inner_steps = 2;
  const tasks::kolmogorov_flow::Options options{.grid = side, .inner_steps = inner_steps};
  Twin twin{"kolmogorov_flow", 2,
            [](Stream& stream) {
              Grid u(side), v(side);
              const double phase = stream.uniform(), h = 2 * std::numbers::pi / side;
              for (int i = 0; i < side; ++i) {
                for (int j = 0; j < side; ++j) {
                  u(i, j) = std::sin(2 * j * h + phase) + 2 * std::cos(i * h) * std::sin(3 * j * h);
                  v(i, j) = std::cos(3 * i * h) + std::sin(2 * i * h - j * h);
                }
              }
              FluidTwin::project(u, v);
              State state = u.values;
              state.insert(state.end(), v.values.begin(), v.values.end());
              return state;
            },
            [](const State& theta, const State& x, std::size_t, Stream& stream) {
              State next = FluidTwin{.density = theta[0], .reynolds = theta[1]}.run(side, x, inner_steps);
              for (double& value : next) value += 0.005 * stream.normal();
              return next;
            },
            [options](ConstMatrixView s) { return tasks::kolmogorov_flow::likelihood(options, s); }};
  twin.own_prior = [] {
    prior::Prior prior;
    prior.add({"density"}, prior::logit_normal(0, 1, 0, 1));
    prior.add({"reynolds"}, prior::logit_normal(0, 1, 1, 2000));
    return prior;
  };
  return twin;
}

inline std::vector<Twin> all() {
  return {gaussian_rw(2),
          ti_gaussian_rw(2),
          mixture_rw(5),
          periodic_sde(),
          linear_sde(2),
          double_well(),
          lotka_volterra(),
          sir(),
          kolmogorov_flow(),
          ar(3),
          stationary_ar1(2),
          seasonal_ar(),
          driven_ar(),
          with_gaps(gaussian_rw(2), "gaussian_rw", {{"dim", 2}}),
          with_gaps(periodic_sde(), "periodic_sde", nlohmann::json::object())};
}

}  // namespace catena::twins
