#include "catena/tasks/exact/joined.h"

#include <algorithm>

#include "catena/core/check.h"

namespace catena::tasks::exact {

namespace {

class JoinedLikelihood final : public SeriesLikelihood {
 public:
  explicit JoinedLikelihood(std::vector<std::unique_ptr<SeriesLikelihood>> parts) : parts_(std::move(parts)) {
    for (const auto& part : parts_) {
      CATENA_ASSERT(part->parameters() == parameters() && part->normals_per_transition() == normals_per_transition());
      transitions_ += part->transitions();
    }
  }

  std::size_t parameters() const override { return parts_.front()->parameters(); }
  std::size_t transitions() const override { return transitions_; }
  std::size_t normals_per_transition() const override { return parts_.front()->normals_per_transition(); }
  std::size_t residuals_per_transition() const override { return parts_.front()->residuals_per_transition(); }
  void residuals(std::span<const double> theta, std::size_t t, std::span<double> out) const override {
    std::size_t part = 0;
    for (; t >= parts_[part]->transitions(); ++part) t -= parts_[part]->transitions();
    parts_[part]->residuals(theta, t, out);
  }

  void log_transitions(std::span<const double> theta, std::span<const double> u, std::span<double> out) const override {
    std::size_t begin = 0;
    for (const auto& part : parts_) {
      const std::size_t count = part->transitions(), normals = normals_per_transition();
      part->log_transitions(theta, normals == 0 ? u : u.subspan(begin * normals, count * normals),
                            out.subspan(begin, count));
      begin += count;
    }
  }

  double log_likelihood(std::span<const double> theta) const override {
    double sum = 0;
    for (const auto& part : parts_) sum += part->log_likelihood(theta);
    return sum;
  }

  std::vector<PinnedParameter> pinned() const override {
    std::vector<PinnedParameter> all;
    for (const auto& part : parts_) {
      for (const PinnedParameter& one : part->pinned()) {
        if (std::ranges::find(all, one.index, &PinnedParameter::index) == all.end()) all.push_back(one);
      }
    }
    return all;
  }

  /// With the posteriors N(μ_i, C_i) of the parts, all under the prior N(0, I): precision I + Σ_i (C_i⁻¹ − I) and
  /// precision × mean = Σ_i C_i⁻¹ μ_i.
  std::optional<NormalPosterior> closed_form_posterior() const override {
    const auto d = static_cast<Eigen::Index>(parameters());
    const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(d, d);
    Eigen::MatrixXd precision = identity;
    Eigen::VectorXd shift = Eigen::VectorXd::Zero(d);
    for (const auto& part : parts_) {
      const auto posterior = part->closed_form_posterior();
      if (!posterior) return std::nullopt;
      const Eigen::MatrixXd its = posterior->covariance.llt().solve(identity);
      precision += its - identity;
      shift += its * posterior->mean;
    }
    const Eigen::MatrixXd covariance = precision.llt().solve(identity);
    return NormalPosterior{covariance * shift, covariance};
  }

  bool move_to_equivalent(std::span<double> theta, Stream& stream) const override {
    return parts_.front()->move_to_equivalent(theta, stream);  // a symmetry of the task, not of the series
  }

 private:
  std::vector<std::unique_ptr<SeriesLikelihood>> parts_;
  std::size_t transitions_ = 0;
};

}  // namespace

std::unique_ptr<SeriesLikelihood> joined_likelihood(std::vector<std::unique_ptr<SeriesLikelihood>> parts) {
  CATENA_ASSERT(!parts.empty());
  if (parts.size() == 1) return std::move(parts.front());
  return std::make_unique<JoinedLikelihood>(std::move(parts));
}

}  // namespace catena::tasks::exact
