#include "catena/prior/around.h"

#include <algorithm>
#include <cmath>

#include "catena/core/check.h"

namespace catena::prior {

namespace {

Eigen::Map<const Eigen::VectorXd> map(std::span<const double> values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

class AroundFactor final : public Factor {
 public:
  explicit AroundFactor(Around parts) : parts_(std::move(parts)) {}

  std::size_t size() const override { return parts_.base.size(); }
  void to_theta(std::span<const double> w, std::span<double> theta) const override {
    const Eigen::VectorXd z = parts_.to_base(w);
    parts_.base.to_theta(std::span<const double>(z.data(), size()), theta);
  }
  void to_z(std::span<const double> theta, std::span<double> w, std::span<const std::string>) const override {
    Eigen::VectorXd z(static_cast<Eigen::Index>(size()));
    parts_.base.to_z(theta, std::span<double>(z.data(), size()));
    Eigen::Map<Eigen::VectorXd>(w.data(), z.size()) = parts_.from_base({z.data(), size()});
  }
  double log_density(std::span<const double> theta) const override {
    const double base = parts_.base.log_density(theta);
    if (!std::isfinite(base)) return base;
    std::vector<double> w(size());
    to_z(theta, w, {});
    return base - parts_.log_weight(w);
  }
  double log_jacobian(std::span<const double> w) const override {
    const Eigen::VectorXd z = parts_.to_base(w);
    return parts_.base.log_jacobian(std::span<const double>(z.data(), size())) +
           parts_.lower.diagonal().array().log().sum();
  }
  const Around& parts() const { return parts_; }
  nlohmann::json to_json() const override {
    nlohmann::json lower = nlohmann::json::array();
    for (Eigen::Index i = 0; i < parts_.lower.rows(); ++i) {
      const Eigen::VectorXd row = parts_.lower.row(i);
      lower.push_back(std::vector<double>(row.begin(), row.end()));
    }
    return {{"family", "around"},
            {"base", parts_.base.to_json()},
            {"mean", std::vector<double>(parts_.mean.begin(), parts_.mean.end())},
            {"lower", lower}};
  }

 private:
  Around parts_;
};

Around parts_from_json(const nlohmann::json& settings) {
  Around parts;
  std::vector<double> mean;
  std::vector<std::vector<double>> lower;
  try {
    parts.base = Prior::from_json("prior", settings.at("base"));
    settings.at("mean").get_to(mean);
    settings.at("lower").get_to(lower);
  } catch (const nlohmann::json::exception&) {
    check::fail("prior", "a factor of the family around", settings.dump(), "one with base, mean and lower");
  }
  const auto d = static_cast<Eigen::Index>(mean.size());
  check::that(parts.base.size() == mean.size() && lower.size() == mean.size(), "prior", "the size of around",
              mean.size(), "that of its base");
  parts.mean = map(mean);
  parts.lower = Eigen::MatrixXd::Zero(d, d);
  for (Eigen::Index i = 0; i < d; ++i) {
    const auto& row = lower[static_cast<std::size_t>(i)];
    check::equal("prior", "the length of a row of lower", row.size(), mean.size());
    for (Eigen::Index j = 0; j <= i; ++j) parts.lower(i, j) = row[static_cast<std::size_t>(j)];
    check::positive("prior", "the diagonal of lower", parts.lower(i, i));
  }
  check::that(parts.mean.allFinite() && parts.lower.allFinite(), "prior", "around", "not finite", "finite");
  return parts;
}

}  // namespace

Prior Around::prior() const {
  Prior prior;
  prior.add(base.names(), around_factor(*this));
  return prior;
}

Eigen::VectorXd Around::to_base(std::span<const double> w) const {
  return mean + lower.triangularView<Eigen::Lower>() * map(w);
}

Eigen::VectorXd Around::from_base(std::span<const double> z) const {
  return lower.triangularView<Eigen::Lower>().solve(map(z) - mean);
}

double Around::log_weight(std::span<const double> w) const {
  return -0.5 * to_base(w).squaredNorm() + 0.5 * map(w).squaredNorm() + lower.diagonal().array().log().sum();
}

Eigen::VectorXd Around::log_weight_gradient(std::span<const double> w) const {
  return map(w) - lower.transpose().triangularView<Eigen::Upper>() * to_base(w);
}

void TruePrior::to_z(std::span<const double> w, std::span<double> z) const {
  if (!around_) {
    std::ranges::copy(w, z.begin());
  } else {
    std::ranges::copy(around_->to_base(w), z.begin());
  }
}

void TruePrior::to_w(std::span<const double> z, std::span<double> w) const {
  if (!around_) {
    std::ranges::copy(z, w.begin());
  } else {
    std::ranges::copy(around_->from_base(z), w.begin());
  }
}

void TruePrior::add_log_weight_gradient(std::span<const double> w, std::span<double> gradient) const {
  if (!around_) return;
  Eigen::Map<Eigen::VectorXd>(gradient.data(), static_cast<Eigen::Index>(gradient.size())) +=
      around_->log_weight_gradient(w);
}

void TruePrior::gradient_to_z(std::span<double> gradient) const {
  if (!around_) return;
  Eigen::Map<Eigen::VectorXd> g(gradient.data(), static_cast<Eigen::Index>(gradient.size()));
  around_->lower.transpose().triangularView<Eigen::Upper>().solveInPlace(g);
}

Around fit_around(std::string_view function, const Prior& prior, ConstMatrixView theta, double widen) {
  check::positive(function, "widen", widen);
  const std::optional<Around> before = around_of(prior);
  Around parts{before ? before->base : prior, {}, {}};
  const auto d = static_cast<Eigen::Index>(parts.base.size()), n = static_cast<Eigen::Index>(theta.rows);
  check::equal(function, "the number of parameters of the draws", theta.cols, parts.base.size());
  check::at_least(function, "the number of draws", theta.rows, 10 * parts.base.size());
  Eigen::MatrixXd z(n, d);
  std::vector<double> one(parts.base.size());
  for (Eigen::Index r = 0; r < n; ++r) {
    parts.base.to_z(theta.row(static_cast<std::size_t>(r)), one);
    z.row(r) = map(one);
  }
  parts.mean = z.colwise().mean();
  z.rowwise() -= parts.mean.transpose();
  const Eigen::MatrixXd covariance = z.transpose() * z / static_cast<double>(n - 1);
  const Eigen::LLT<Eigen::MatrixXd> cholesky(covariance);
  check::that(cholesky.info() == Eigen::Success, function, "the covariance of the draws", "singular",
              "positive definite: are there equal draws only?");
  parts.lower = widen * Eigen::MatrixXd(cholesky.matrixL());
  return parts;
}

std::optional<Around> around_of(const Prior& prior) {
  const auto* factor = dynamic_cast<const AroundFactor*>(prior.only_factor());
  return factor == nullptr ? std::nullopt : std::optional(factor->parts());
}

FactorPtr around_factor(Around parts) { return std::make_shared<AroundFactor>(std::move(parts)); }

FactorPtr around_from_json(const nlohmann::json& settings) { return around_factor(parts_from_json(settings)); }

}  // namespace catena::prior
