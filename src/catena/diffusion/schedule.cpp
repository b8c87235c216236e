#include "catena/diffusion/schedule.h"

#include <algorithm>
#include <cmath>

#include "catena/core/check.h"

namespace catena::diffusion {
namespace {

double beta(const Schedule& s, double a) { return s.beta_min + a * (s.beta_max - s.beta_min); }

/// B(a) = a β_min + ½ a² (β_max − β_min)
double integrated_beta(const Schedule& s, double a) { return a * (s.beta_min + 0.5 * a * (s.beta_max - s.beta_min)); }

/// The a ≥ 0 with B(a) = b, written without a difference of nearly equal numbers.
double a_of_integrated_beta(const Schedule& s, double b) {
  return 2 * b / (s.beta_min + std::sqrt(s.beta_min * s.beta_min + 2 * (s.beta_max - s.beta_min) * b));
}

double log_ratio(const Schedule& s) { return std::log(s.sigma_max / s.sigma_min); }

}  // namespace

double Schedule::m(double a) const {
  return kind == ScheduleKind::variance_exploding ? 1 : std::exp(-0.5 * integrated_beta(*this, a));
}

double Schedule::sigma(double a) const {
  if (kind == ScheduleKind::sub_vp) return -std::expm1(-integrated_beta(*this, a));
  return std::sqrt(sigma_squared(a));
}

double Schedule::sigma_squared(double a) const {
  switch (kind) {
    case ScheduleKind::variance_preserving:
      return -std::expm1(-integrated_beta(*this, a));
    case ScheduleKind::sub_vp:
      return sigma(a) * sigma(a);
    case ScheduleKind::variance_exploding:
      return sigma_min * sigma_min * std::expm1(2 * a * log_ratio(*this));
  }
  return 0;
}

double Schedule::f(double a) const { return kind == ScheduleKind::variance_exploding ? 0 : -0.5 * beta(*this, a); }

double Schedule::g_squared(double a) const {
  switch (kind) {
    case ScheduleKind::variance_preserving:
      return beta(*this, a);
    case ScheduleKind::sub_vp:
      return -beta(*this, a) * std::expm1(-2 * integrated_beta(*this, a));
    case ScheduleKind::variance_exploding:
      return 2 * log_ratio(*this) * sigma_min * sigma_min * std::exp(2 * a * log_ratio(*this));
  }
  return 0;
}

double Schedule::eta(double a) const { return sigma(a) / m(a); }

// η² = e^B − 1 (variance preserving), η = 2 sinh(B/2) (sub-VP), η = σ (variance exploding), each solved for a.
double Schedule::a_at(double eta) const {
  switch (kind) {
    case ScheduleKind::variance_preserving:
      return a_of_integrated_beta(*this, std::log1p(eta * eta));
    case ScheduleKind::sub_vp:
      return a_of_integrated_beta(*this, 2 * std::asinh(0.5 * eta));
    case ScheduleKind::variance_exploding:
      return std::log1p(eta * eta / (sigma_min * sigma_min)) / (2 * log_ratio(*this));
  }
  return 0;
}

double Schedule::weight(double a) const { return std::max(sigma_squared(a), 0.01); }

double Schedule::likelihood_weight(double a) const { return g_squared(a); }

void check_schedule(std::string_view function, const Schedule& s) {
  check::positive(function, "beta_min", s.beta_min);
  check::that(s.beta_max > s.beta_min && std::isfinite(s.beta_max), function, "beta_max", s.beta_max,
              "finite and above beta_min");
  check::positive(function, "sigma_min", s.sigma_min);
  check::that(s.sigma_max > s.sigma_min && std::isfinite(s.sigma_max), function, "sigma_max", s.sigma_max,
              "finite and above sigma_min");
  check::that(s.a_min >= 0 && s.a_min < 1, function, "a_min", s.a_min, "at least 0 and below 1");
}

const Registry<NamedSchedule>& schedules() {
  static const Registry<NamedSchedule> registry(
      "schedule", {
                      {"variance_preserving", "signal fades as noise grows; the paper's", {}},
                      {"sub_vp", "the same signal with less noise", {.kind = ScheduleKind::sub_vp}},
                      {"variance_exploding", "noise grows, signal stays", {.kind = ScheduleKind::variance_exploding}},
                  });
  return registry;
}

}  // namespace catena::diffusion
