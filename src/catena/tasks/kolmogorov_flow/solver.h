/// The solver behind kolmogorov_flow: forward Euler steps of an incompressible fluid on a staggered periodic grid, in
/// single precision. One step, in the letters of kolmogorov_flow.h, δ the difference between neighbours:
///
/// 1. flux of c ∈ {u, v} through the face right of c_j (likewise along x), a the velocity there, the mean of its two
///    neighbours, C = a dt/h:
///      F = a (b + ½ (s − C) φ),   (b, s, U) = (c_j, 1, c_j − c_{j−1}) where a > 0, else (c_{j+1}, −1, c_{j+2} −
///      c_{j+1}), φ = 2 U D/(U + D) where U D > 0, else 0,   D = c_{j+1} − c_j:
///    Lax–Wendroff with van Leer's limiter φ(r) = 2r/(1 + r), r = U/D, times D;
/// 2. c* = c + dt (−δF/h + (ν/ρ) Σ_neighbours (c_n − c)/h² + (f − friction c)/ρ);
/// 3. δδq = δu* + δv*, and (u, v) = (u*, v*) − δq: without divergence to rounding.
///
/// Step 3 is solved in the eigenvectors of the periodic second difference, the columns of W: cos(2πk(j+½)/n), k < n/2,
/// and sin(2πk(j+½)/n), 0 < k ≤ n/2, of length 1,
///   q = W (M ∘ (Wᵀ d W)) Wᵀ,   M_{kl} = −1/(λ_k + λ_l), λ_k = 2 − 2 cos(2πk/n), 0 for the mean.
/// Cosines are even and sines odd under j → n − 1 − j, so that Wᵀ = diag(C, S) B with B the sums and differences of
/// such pairs: four products with halves of n/2 × n/2, at the peak of the machine. Vectors lie along y, so that one
/// simulation fills them and its fields stay in the second cache: a series of its own costs no more than one of many.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "catena/core/array.h"
#include "catena/tasks/kolmogorov_flow/kolmogorov_flow.h"

namespace catena::tasks::kolmogorov_flow {

/// Room beside each row for copies of the two values beyond each end: the borders are periodic.
inline constexpr std::size_t row_margin = 16;

/// A component: row i from i·stride + row_margin on.
struct Field {
  explicit Field(std::size_t n) : stride(n + 2 * row_margin), values(n * stride, 0.0F) {}
  float* row(std::size_t i) { return values.data() + i * stride + row_margin; }
  const float* row(std::size_t i) const { return values.data() + i * stride + row_margin; }

  std::size_t stride;
  AlignedVector<float> values;
};

/// Memory of one thread: the velocity, the one before the projection, and what that needs.
struct Flow {
  explicit Flow(std::size_t side)
      : n(side), u(n), v(n), u_star(n), v_star(n), q(n), work(n), fluxes(4 * (n + 2 * row_margin)) {}

  std::size_t n;
  Field u, v, u_star, v_star, q, work;
  AlignedVector<float> fluxes;  // of two rows, through x and y faces
};

/// What a step depends on beside the velocity, in single precision.
struct StepCoefficients {
  float courant;    ///< dt/h
  float diffusion;  ///< (ν/ρ) dt/h²
  float decay;      ///< friction dt/ρ
  float push;       ///< dt/ρ, times the force
};

class Solver {
 public:
  explicit Solver(const Options& options, const Constants& constants = {});

  std::size_t side() const { return n_; }
  const Constants& constants() const { return constants_; }

  /// The inner steps of a transition.
  void run(double density, double reynolds, Flow& flow) const;
  /// One of them.
  void inner_step(const StepCoefficients& coefficients, Flow& flow) const;
  StepCoefficients coefficients(double density, double reynolds) const;

  /// (u, v) = (u*, v*) without their divergence. The margins of v* must be filled.
  void project(Flow& flow) const;
  /// W (M ∘ (Wᵀ field W)) Wᵀ in place, M: n × n. Margins are left as they are.
  void filter(std::span<const float> multipliers, Field& field, Field& work) const;
  /// n² values of u, then of v, to and from a flow.
  void read(std::span<const float> values, Flow& flow) const;
  void write(const Flow& flow, std::span<float> values) const;
  /// The wavenumber of each column of W.
  const std::vector<int>& wavenumbers() const { return wavenumbers_; }

 private:
  /// to = diag(C, S) from, or its transpose.
  void from_left(const AlignedVector<float>& halves, Field& from, Field& to) const;
  /// to = from diag(C, S)ᵀ for the transposed halves, and the other way round.
  void from_right(const AlignedVector<float>& halves, Field& from, Field& to) const;

  std::size_t n_;
  int inner_steps_;
  double friction_;
  Constants constants_;
  AlignedVector<float> force_;        // F sin(k y_j)
  AlignedVector<float> halves_;       // C, then S, row-major
  AlignedVector<float> halves_t_;     // Cᵀ, Sᵀ
  AlignedVector<float> multipliers_;  // M
  std::vector<int> wavenumbers_;
};

}  // namespace catena::tasks::kolmogorov_flow
