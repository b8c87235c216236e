#include "catena/sample/correct/certificate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "catena/core/check.h"

namespace catena::sample {
namespace {

constexpr double tolerated_width = 1.15;
constexpr double good_shift = 0.2;  // of a standard deviation: what a correction should leave at most
constexpr int slope_draws = 200;

/// Rounded up to one digit and a half: 1, 1.5, 2, 3, …
std::uint64_t round_up(double value) {
  const double unit = std::pow(10.0, std::floor(std::log10(std::max(value, 1.0))));
  for (const double factor : {1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0}) {
    if (factor * unit >= value) return static_cast<std::uint64_t>(factor * unit);
  }
  return static_cast<std::uint64_t>(10 * unit);
}

/// ∂θ/∂z at the anchor, by differences.
Eigen::MatrixXd theta_slope(const prior::Prior& prior, std::vector<double> z) {
  constexpr double width = 1e-5;
  const std::size_t d = z.size();
  Eigen::MatrixXd slope(d, d);
  std::vector<double> above(d), below(d);
  for (std::size_t j = 0; j < d; ++j) {
    const double middle = z[j];
    z[j] = middle + width;
    prior.to_theta(z, above);
    z[j] = middle - width;
    prior.to_theta(z, below);
    z[j] = middle;
    for (std::size_t i = 0; i < d; ++i) {
      slope(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = (above[i] - below[i]) / (2 * width);
    }
  }
  return slope;
}

}  // namespace

Certificate certify(const CertificateInput& input, double false_alarms, Stream stream) {
  const NormalLaw& law = input.law;
  const Eigen::Index n = input.at_anchor.rows(), m = input.at_anchor.cols();
  CATENA_ASSERT(n > m + 1 && input.learned.rows > 1);
  const auto records = static_cast<double>(law.records());
  const Eigen::VectorXd b = input.at_anchor.colwise().mean();
  const Eigen::MatrixXd centred = input.at_anchor.rowwise() - b.transpose();
  const Eigen::MatrixXd noise = centred.transpose() * centred / static_cast<double>((n - 1) * n);

  Certificate result;
  result.false_alarms = false_alarms;
  result.rough = !input.normal;
  result.transitions = law.records();
  const double chi = b.dot(noise.ldlt().solve(b));
  result.p_value = boost::math::cdf(
      boost::math::complement(boost::math::chi_squared(static_cast<double>(m)), std::isfinite(chi) ? chi : 1e300));
  result.shifted = result.p_value < false_alarms;

  const Eigen::Index d = static_cast<Eigen::Index>(input.anchor.size());
  const Eigen::MatrixXd weight = law.variance(input.anchor).ldlt().solve(Eigen::MatrixXd::Identity(m, m));
  const auto covariance_of = [&](const Eigen::MatrixXd& slope) {
    const Eigen::MatrixXd precision = Eigen::MatrixXd::Identity(d, d) + records * slope.transpose() * weight * slope;
    return Eigen::MatrixXd(precision.ldlt().solve(Eigen::MatrixXd::Identity(d, d)));
  };
  const Eigen::MatrixXd slope = law.slope(input.anchor), covariance = covariance_of(slope);
  const Eigen::MatrixXd gain = records * covariance * slope.transpose() * weight;
  const Eigen::MatrixXd to_theta = theta_slope(input.prior.trained(), input.anchor);
  const CloudShape learned(input.learned);
  const Eigen::MatrixXd learned_theta = to_theta * learned.lower * learned.lower.transpose() * to_theta.transpose();
  const Eigen::VectorXd shift = -to_theta * gain * b;
  const Eigen::MatrixXd shift_noise = to_theta * gain * noise * gain.transpose() * to_theta.transpose();
  const Eigen::VectorXd widths = (to_theta * covariance * to_theta.transpose()).diagonal().cwiseSqrt();
  Eigen::MatrixXd drawn(slope_draws, d);
  for (int k = 0; k < slope_draws; ++k) {
    const Eigen::MatrixXd other = covariance_of(law.slope(input.anchor, &stream));
    drawn.row(k) = (to_theta * other * to_theta.transpose()).diagonal().cwiseSqrt().array().log().matrix();
  }
  const double z = boost::math::quantile(boost::math::normal(), 1 - false_alarms / (2 * static_cast<double>(d)));
  for (Eigen::Index i = 0; i < d; ++i) {
    const double deviation = std::sqrt(learned_theta(i, i));
    ParameterCertificate each{input.prior.prior().names()[static_cast<std::size_t>(i)]};
    each.shift = shift[i] / deviation;
    each.shift_error = std::sqrt(shift_noise(i, i)) / deviation;
    each.width = widths[i] / deviation;
    const Eigen::VectorXd column = drawn.col(i);
    const double log_error =
        std::sqrt((column.array() - column.mean()).square().mean() + 0.5 / static_cast<double>(input.learned.rows));
    each.width_error = each.width * log_error;
    const bool off = std::abs(std::log(each.width)) > std::log(tolerated_width) + z * log_error;
    result.mis_sized = result.mis_sized || (off && input.normal);
    result.parameters.push_back(std::move(each));
  }
  const double p = 1 + static_cast<double>(d) / 4;
  result.budget_needed = round_up(p * records / (good_shift * good_shift) * input.steps_per_record);
  return result;
}

std::vector<std::string> Certificate::sentences() const {
  std::vector<std::string> all;
  for (const ParameterCertificate& each : parameters) {
    std::vector<std::string> faults;
    if (shifted && std::abs(each.shift) > 2 * each.shift_error) {
      faults.push_back(fmt::format("shifted by {:.2g} ± {:.1g} standard deviations", -each.shift, each.shift_error));
    }
    if (mis_sized && std::abs(std::log(each.width)) > std::log(tolerated_width)) {
      // How wide it is with these scores as the statistic: scores of a wrong network know less than the series does.
      faults.push_back(each.width > 1 ? fmt::format("narrower than its scores can tell, by a factor of {:.2f} ± {:.2f}",
                                                    each.width, each.width_error)
                                      : fmt::format("too wide by a factor of {:.2f} ± {:.2f}", 1 / each.width,
                                                    each.width_error / (each.width * each.width)));
    }
    if (!faults.empty()) all.push_back(fmt::format("{}: {}", each.name, fmt::join(faults, " and ")));
  }
  if (!alarm()) {
    double worst = 0;
    for (const ParameterCertificate& each : parameters) worst = std::max(worst, 2 * each.shift_error);
    all.push_back(
        fmt::format("no fault found: no parameter is shifted by more than {:.1g} of its standard deviations", worst));
  } else {
    all.push_back(fmt::format("correct it with at least {} transitions", budget_needed));
  }
  if (rough) {
    all.push_back(fmt::format(
        "{} transitions are too few for sizes: the sum of their scores is not normal, so that shifts are rough and "
        "widths are not judged",
        transitions));
  }
  return all;
}

nlohmann::json Certificate::to_json() const {
  nlohmann::json each = nlohmann::json::object();
  for (const ParameterCertificate& p : parameters) {
    each[p.name] = {
        {"shift", p.shift}, {"shift_error", p.shift_error}, {"width", p.width}, {"width_error", p.width_error}};
  }
  return {{"parameters", std::move(each)},
          {"p_value", p_value},
          {"false_alarms", false_alarms},
          {"shifted", shifted},
          {"mis_sized", mis_sized},
          {"rough", rough},
          {"alarm", alarm()},
          {"transitions", transitions},
          {"budget_needed", budget_needed},
          {"sentences", sentences()}};
}

}  // namespace catena::sample
