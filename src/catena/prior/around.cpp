#include "catena/prior/around.h"

#include <algorithm>
#include <cmath>

#include "catena/core/check.h"
#include "catena/prior/special.h"

namespace catena::prior {

namespace {

Eigen::Map<const Eigen::VectorXd> map(std::span<const double> values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

std::vector<double> list_of(const Eigen::VectorXd& vector) { return {vector.begin(), vector.end()}; }

std::vector<std::vector<double>> rows_of(const Eigen::MatrixXd& matrix) {
  std::vector<std::vector<double>> rows;
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    rows.push_back(list_of(matrix.row(i)));
  }
  return rows;
}

/// log N(z; 0, I) − log q(z)
double log_ratio(const NormalMixture& normals, std::span<const double> z) {
  double log_prior = 0;
  for (const double value : z) log_prior += normal_log_density(value);
  return log_prior - normals.log_density(z);
}

class AroundFactor final : public Factor {
 public:
  explicit AroundFactor(Around parts) : parts_(std::move(parts)) {}

  std::size_t size() const override { return parts_.base.size(); }
  std::vector<bool> free() const override {
    std::vector<bool> free;
    const auto& names = parts_.base.names();
    for (const auto& name : parts_.base.seen_names()) free.push_back(std::ranges::find(names, name) != names.end());
    return free;
  }
  void complete(std::span<const double> theta, std::span<double> seen) const override {
    parts_.base.complete(theta, seen);
  }
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
    std::vector<double> z(size());
    parts_.base.to_z(theta, z);
    return base - log_ratio(parts_.normals, z);
  }
  double log_jacobian(std::span<const double> w) const override {
    const Eigen::VectorXd z = parts_.to_base(w);
    const std::span<const double> point(z.data(), size());
    double log_normal = 0;
    for (const double value : w) log_normal += normal_log_density(value);
    return parts_.base.log_jacobian(point) + log_normal - parts_.normals.log_density(point);
  }
  const Around& parts() const { return parts_; }
  nlohmann::json to_json() const override {
    nlohmann::json json = {{"family", "around"}, {"base", parts_.base.to_json()}};
    const auto& components = parts_.normals.components;
    if (components.size() == 1) {  // as all files had it before there were mixtures
      json["mean"] = list_of(components[0].mean);
      json["lower"] = rows_of(components[0].lower);
      return json;
    }
    for (const auto& component : components) {
      json["weights"].push_back(component.weight);
      json["means"].push_back(list_of(component.mean));
      json["lowers"].push_back(rows_of(component.lower));
    }
    return json;
  }

 private:
  Around parts_;
};

NormalMixture::Component component_of(double weight, const std::vector<double>& mean,
                                      const std::vector<std::vector<double>>& lower) {
  check::positive("prior", "a weight of around", weight);
  check::equal("prior", "the number of rows of lower", lower.size(), mean.size());
  const auto d = static_cast<Eigen::Index>(mean.size());
  NormalMixture::Component component{weight, map(mean), Eigen::MatrixXd::Zero(d, d)};
  for (Eigen::Index i = 0; i < d; ++i) {
    const auto& row = lower[static_cast<std::size_t>(i)];
    check::equal("prior", "the length of a row of lower", row.size(), mean.size());
    for (Eigen::Index j = 0; j <= i; ++j) component.lower(i, j) = row[static_cast<std::size_t>(j)];
    check::positive("prior", "the diagonal of lower", component.lower(i, i));
  }
  check::that(component.mean.allFinite() && component.lower.allFinite(), "prior", "around", "not finite", "finite");
  return component;
}

Around parts_from_json(const nlohmann::json& settings) {
  Around parts;
  std::vector<double> weights{1};
  std::vector<std::vector<double>> means(1);
  std::vector<std::vector<std::vector<double>>> lowers(1);
  try {
    parts.base = Prior::from_json("prior", settings.at("base"));
    if (settings.contains("weights")) {
      settings.at("weights").get_to(weights);
      settings.at("means").get_to(means);
      settings.at("lowers").get_to(lowers);
    } else {
      settings.at("mean").get_to(means[0]);
      settings.at("lower").get_to(lowers[0]);
    }
  } catch (const nlohmann::json::exception&) {
    check::fail("prior", "a factor of the family around", settings.dump(),
                "one with base, and mean and lower or weights, means and lowers");
  }
  check::that(!weights.empty() && means.size() == weights.size() && lowers.size() == weights.size(), "prior",
              "the number of weights of around", weights.size(), "that of its means and lowers, and at least 1");
  double sum = 0;
  for (std::size_t j = 0; j < weights.size(); ++j) {
    check::that(parts.base.size() == means[j].size(), "prior", "the size of around", means[j].size(),
                "that of its base");
    parts.normals.components.push_back(component_of(weights[j], means[j], lowers[j]));
    sum += weights[j];
  }
  check::that(std::abs(sum - 1) < 1e-9, "prior", "the sum of the weights of around", sum, "1");
  return parts;
}

}  // namespace

Prior Around::prior() const {
  Prior prior;
  prior.add(base.seen_names(), around_factor(*this));
  return prior;
}

Eigen::VectorXd Around::to_base(std::span<const double> w) const { return normals.to_z(w); }

Eigen::VectorXd Around::from_base(std::span<const double> z) const { return normals.to_w(z); }

double Around::log_weight(std::span<const double> w) const {
  const Eigen::VectorXd z = to_base(w);
  return log_ratio(normals, {z.data(), w.size()});
}

Eigen::VectorXd Around::log_weight_gradient(std::span<const double> w) const {
  const Eigen::VectorXd z = to_base(w);
  const std::span<const double> point(z.data(), w.size());
  const Eigen::MatrixXd inverse = normals.inverse_jacobian(point);
  return inverse.transpose().triangularView<Eigen::Upper>().solve(-z - normals.gradient(point));
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

void TruePrior::gradient_to_z(std::span<const double> w, std::span<double> gradient) const {
  if (!around_) return;
  const Eigen::VectorXd z = around_->to_base(w);
  Eigen::Map<Eigen::VectorXd> g(gradient.data(), static_cast<Eigen::Index>(gradient.size()));
  g = around_->normals.inverse_jacobian({z.data(), w.size()}).transpose() * Eigen::VectorXd(g);
}

std::optional<Around> around_of(const Prior& prior) {
  const auto* factor = dynamic_cast<const AroundFactor*>(prior.only_factor());
  return factor == nullptr ? std::nullopt : std::optional(factor->parts());
}

FactorPtr around_factor(Around parts) { return std::make_shared<AroundFactor>(std::move(parts)); }

FactorPtr around_from_json(const nlohmann::json& settings) { return around_factor(parts_from_json(settings)); }

}  // namespace catena::prior
