/// One inner step of kolmogorov_flow in double precision, written from the task's definition and from nothing else: a
/// value at a time, limiters as ratios, the pressure by conjugate gradients. The twin of the solver and of the task.
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace catena::twins {

/// A component on an n × n periodic grid, x the slow index.
class Grid {
 public:
  explicit Grid(int side) : n(side), values(static_cast<std::size_t>(side) * static_cast<std::size_t>(side), 0.0) {}
  double& operator()(int i, int j) { return values[place(i, j)]; }
  double operator()(int i, int j) const { return values[place(i, j)]; }

  int n;
  std::vector<double> values;

 private:
  std::size_t place(int i, int j) const {
    return static_cast<std::size_t>((i + n) % n) * static_cast<std::size_t>(n) + static_cast<std::size_t>((j + n) % n);
  }
};

struct FluidTwin {
  double density = 0.5, reynolds = 1000, dt = 0.001, forcing = 1, friction = 0.1;
  int wavenumber = 4;

  static double limiter(double r) { return r > 0 ? 2 * r / (1 + r) : 0; }
  static double ratio(double a, double b) { return a / (b == 0 ? 1 : b); }

  /// The advected value at the face between `here` and `next` where the velocity is `a`.
  double at_face(double a, double h, double before, double here, double next, double after) const {
    const double courant = a * dt / h, step = next - here;
    const double low = a > 0 ? here : next;
    const double high = a > 0 ? here + 0.5 * (1 - courant) * step : next - 0.5 * (1 + courant) * step;
    const double phi = limiter(a > 0 ? ratio(here - before, step) : ratio(after - next, step));
    return low - (low - high) * phi;
  }

  /// Euler's step without the pressure.
  void explicit_step(Grid& u, Grid& v) const {
    const int n = u.n;
    const double h = 2 * std::numbers::pi / n, nu = 1 / reynolds;
    Grid next_u(n), next_v(n);
    const auto flux_x = [&](const Grid& c, double a, int i, int j) {
      return a * at_face(a, h, c(i - 1, j), c(i, j), c(i + 1, j), c(i + 2, j));
    };
    const auto flux_y = [&](const Grid& c, double a, int i, int j) {
      return a * at_face(a, h, c(i, j - 1), c(i, j), c(i, j + 1), c(i, j + 2));
    };
    const auto laplacian = [&](const Grid& c, int i, int j) {
      return (c(i - 1, j) + c(i + 1, j) + c(i, j - 1) + c(i, j + 1) - 4 * c(i, j)) / (h * h);
    };
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        // u lives at ((i+1)h, (j+½)h): its cell's faces are at (i+½)h, (i+3/2)h and jh, (j+1)h.
        const auto u_x = [&](int k) { return flux_x(u, (u(k, j) + u(k + 1, j)) / 2, k, j); };
        const auto u_y = [&](int k) { return flux_y(u, (v(i, k) + v(i + 1, k)) / 2, i, k); };
        const auto v_x = [&](int k) { return flux_x(v, (u(k, j) + u(k, j + 1)) / 2, k, j); };
        const auto v_y = [&](int k) { return flux_y(v, (v(i, k) + v(i, k + 1)) / 2, i, k); };
        const double force = forcing * std::sin(wavenumber * (j + 0.5) * h);
        next_u(i, j) = u(i, j) + dt * (-(u_x(i) - u_x(i - 1) + u_y(j) - u_y(j - 1)) / h +
                                       nu / density * laplacian(u, i, j) + (force - friction * u(i, j)) / density);
        next_v(i, j) = v(i, j) + dt * (-(v_x(i) - v_x(i - 1) + v_y(j) - v_y(j - 1)) / h +
                                       nu / density * laplacian(v, i, j) - friction * v(i, j) / density);
      }
    }
    u = next_u;
    v = next_v;
  }

  static Grid divergence(const Grid& u, const Grid& v) {
    Grid d(u.n);
    for (int i = 0; i < u.n; ++i) {
      for (int j = 0; j < u.n; ++j) {
        d(i, j) = (u(i, j) - u(i - 1, j) + v(i, j) - v(i, j - 1)) * u.n / (2 * std::numbers::pi);
      }
    }
    return d;
  }

  static double dot(const Grid& a, const Grid& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.values.size(); ++i) sum += a.values[i] * b.values[i];
    return sum;
  }

  /// −∇²q = −∇·(u, v) by conjugate gradients, from q = 0, which keeps its mean 0; then (u, v) − ∇q.
  static void project(Grid& u, Grid& v) {
    const int n = u.n;
    const double h = 2 * std::numbers::pi / n;
    Grid q(n), residual = divergence(u, v);
    for (double& value : residual.values) value = -value;
    Grid direction = residual;
    double size = dot(residual, residual);
    const double small = 1e-28 * size;
    for (int k = 0; k < 20 * n && size > small; ++k) {
      Grid image(n);
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
          image(i, j) = (4 * direction(i, j) - direction(i - 1, j) - direction(i + 1, j) - direction(i, j - 1) -
                         direction(i, j + 1)) /
                        (h * h);
        }
      }
      const double step = size / dot(direction, image);
      for (std::size_t i = 0; i < q.values.size(); ++i) {
        q.values[i] += step * direction.values[i];
        residual.values[i] -= step * image.values[i];
      }
      const double before = size;
      size = dot(residual, residual);
      for (std::size_t i = 0; i < q.values.size(); ++i) {
        direction.values[i] = residual.values[i] + size / before * direction.values[i];
      }
    }
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        u(i, j) -= (q(i + 1, j) - q(i, j)) / h;
        v(i, j) -= (q(i, j + 1) - q(i, j)) / h;
      }
    }
  }

  void inner_step(Grid& u, Grid& v) const {
    explicit_step(u, v);
    project(u, v);
  }

  /// n² values of u, then of v, after some inner steps.
  std::vector<double> run(int n, std::vector<double> state, int inner_steps) const {
    Grid u(n), v(n);
    const auto half = static_cast<std::ptrdiff_t>(u.values.size());
    u.values.assign(state.begin(), state.begin() + half);
    v.values.assign(state.begin() + half, state.end());
    for (int k = 0; k < inner_steps; ++k) inner_step(u, v);
    std::copy(u.values.begin(), u.values.end(), state.begin());
    std::copy(v.values.begin(), v.values.end(), state.begin() + half);
    return state;
  }
};

}  // namespace catena::twins
